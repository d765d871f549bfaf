package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/cmd/skerry/internal/config"
	"github.com/skerryhq/skerry/cmd/skerry/internal/node"
)

// newServeCommand runs a node until it is told to stop.
func newServeCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a node",
		Long: `Run a node on a data directory until SIGTERM or SIGINT. It then refuses new work
with 503, answers what waits, finishes what is committing, closes its files and
exits with 0. A second signal stops it at once; nothing acknowledged is lost.

Every setting is a flag, an environment variable and a key of the file that
--config names; a flag wins over a variable, and a variable over the file. See
skerry config. The operator's key is written to operator.key in the data
directory at the first start.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := config.Load(cmd.Flags(), os.Environ())
			if err != nil {
				return usage("%w", err)
			}
			return e.serve(cmd.Context(), loaded)
		},
	}
	config.Bind(cmd.Flags())
	return cmd
}

func (e *env) serve(ctx context.Context, loaded config.Loaded) error {
	n, err := node.Open(ctx, loaded, version(), e.errs)
	if err != nil {
		return fmt.Errorf("start node: %w", err)
	}
	hurry, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-e.force:
			cancel()
		case <-ended:
		}
	}()
	err = n.Run(ctx, hurry)
	close(ended)
	<-watched
	if hurry.Err() != nil {
		return errors.Join(errors.New("stopped at once by a second signal; what was in course was cut off"), err)
	}
	return err
}

// newConfigCommand shows the settings a node would have.
func newConfigCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show each setting's effective value and where it came from",
		Long: `Show what skerry serve would run with: the value of each setting, and whether it
came from a flag, the environment, the file, or is the default. Settings stored
in a namespace (skerry ns settings) win over these in that namespace.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := config.Load(cmd.Flags(), os.Environ())
			if err != nil {
				return usage("%w", err)
			}
			return e.printConfig(loaded)
		},
	}
	config.Bind(cmd.Flags())
	return cmd
}

func (e *env) printConfig(loaded config.Loaded) error {
	if e.json {
		for _, v := range loaded.Values {
			if err := e.line(v); err != nil {
				return err
			}
		}
		return nil
	}
	t := newTable(e.out)
	t.row("SETTING", "VALUE", "FROM")
	for _, v := range loaded.Values {
		t.row(v.Name, v.Value, v.Source)
	}
	return t.Flush()
}
