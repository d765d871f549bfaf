// Package scenarios holds the scenario files that ship with the simulator, each a
// situation in which ways of admission differ. Package scenario reads them.
package scenarios

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml
var files embed.FS

// Files returns the files, named NAME.yaml.
func Files() fs.FS { return files }
