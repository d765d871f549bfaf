package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is that of the module, as the build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

func newVersionCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			doc := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				System  string `json:"system"`
			}{version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return e.document(doc, [2]string{"skerry", doc.Version}, [2]string{"go", doc.Go}, [2]string{"system", doc.System})
		},
	}
}
