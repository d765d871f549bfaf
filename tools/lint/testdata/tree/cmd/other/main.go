/* Runs something. */ // want `package comment does not begin with "Command other"`
package main

func main() {}
