// Command skerry is the Skerry server and its command line; see skerry --help.
package main

import (
	"os"

	"github.com/skerryhq/skerry/cmd/skerry/internal/cli"
)

func main() { os.Exit(cli.Main()) }
