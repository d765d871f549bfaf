// Command skerry is documented as a command.
package main

func main() {}
