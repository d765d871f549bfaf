package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

func newInvokeCommand(e *env) *cobra.Command {
	var spec api.InvokeSpec
	cmd := &cobra.Command{
		Use: "invoke --kind KIND [INPUT]", Short: "Make one singular call and print its result", Args: cobra.MaximumNArgs(1),
		Long: `Make one singular call through the pool of its kind and scorer, and print its
result as JSON. INPUT is a JSON object, @FILE or - for standard input; none is {}.

Nothing of a call is stored. The exit code is 1 if the call failed, and 75 if no
worker was free for it or it ran out of time.`,
		Example: `  skerry invoke --kind embed '{"text":"hello"}'
  skerry invoke --kind embed --scorer deep @input.json --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if spec.Input, err = e.callInput(argument(args, 0)); err != nil {
				return err
			}
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			done, err := cl.Invoke(cmd.Context(), spec)
			if err != nil {
				return err
			}
			return e.printInvoked(done)
		},
	}
	cmd.Flags().StringVar(&spec.Kind, "kind", "", "kind of the call")
	cmd.Flags().StringVar(&spec.Scorer, "scorer", "", "scorer of the call; with the kind it chooses the pool")
	_ = cmd.MarkFlagRequired("kind")
	return cmd
}

// callInput is the input of a call, nil for none.
func (e *env) callInput(input string) (json.RawMessage, error) {
	switch input {
	case "":
		return nil, nil
	case "-":
		input = "@-"
	}
	return e.jsonArgument("the input", input)
}

func (e *env) printInvoked(done *api.Invoked) error {
	var err error
	switch {
	case e.json:
		err = e.line(done)
	case done.Error == nil:
		err = e.line(done.Result)
	}
	if err != nil || done.Error == nil {
		return err
	}
	return &client.JobError{Code: done.Error.Code, Message: done.Error.Message}
}
