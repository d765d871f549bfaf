package cli

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
)

func newNamespaceCommand(e *env) *cobra.Command {
	return group("ns", "Make, list and configure namespaces", []string{"namespace"},
		newNamespaceCreate(e), newNamespaceList(e), newNamespaceGet(e), newNamespaceDelete(e),
		group("settings", "Read and change a namespace's settings", nil, newSettingsGet(e), newSettingsSet(e)),
	)
}

func newNamespaceCreate(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "create NAME", Short: "Make a namespace; one that exists stays as it is", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := e.operator()
			if err != nil {
				return err
			}
			ns, err := o.CreateNamespace(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return e.printNamespace(ns)
		},
	}
}

func newNamespaceList(e *env) *cobra.Command {
	var p paging
	cmd := &cobra.Command{
		Use: "list", Short: "List namespaces", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := e.operator()
			if err != nil {
				return err
			}
			return printList(e, &p, o.Namespaces(cmd.Context(), p.options()), []string{"NAME", "STATE"}, func(r api.NamespaceRef) []string {
				if r.Active {
					return []string{r.Name, "active"}
				}
				return []string{r.Name, "passive"}
			})
		},
	}
	p.flags(cmd)
	return cmd
}

func newNamespaceGet(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "get [NAME]", Short: "Describe a namespace", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ns, err := e.describe(cmd, args)
			if err != nil {
				return err
			}
			return e.printNamespace(ns)
		},
	}
}

func newNamespaceDelete(e *env) *cobra.Command {
	var sure bool
	cmd := &cobra.Command{
		Use: "delete NAME --yes", Short: "Remove a namespace with everything in it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !sure {
				return usage("this removes every noun, verb, receipt and run of %s for ever: say --yes", args[0])
			}
			o, err := e.operator()
			if err != nil {
				return err
			}
			deleted, err := o.DeleteNamespace(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return e.document(deleted, [2]string{"deleted", deleted.Name})
		},
	}
	cmd.Flags().BoolVar(&sure, "yes", false, "really remove it")
	return cmd
}

func newSettingsGet(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "get", Short: "Show each setting of the namespace and where it comes from", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ns, err := e.describe(cmd, nil)
			if err != nil {
				return err
			}
			return e.printSettings(ns)
		},
	}
}

func newSettingsSet(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "set NAME=VALUE…", Short: "Change settings of the namespace", Args: cobra.MinimumNArgs(1),
		Long: `Change settings of the namespace. A value is JSON; a bare word is a string, and
null returns the setting to its default. One bad value changes nothing.`,
		Example: "  skerry ns settings set -n demo claim_max_concurrency=64 mode=paused lease_ms=null",
		RunE: func(cmd *cobra.Command, args []string) error {
			patch, err := parseSettings(args)
			if err != nil {
				return err
			}
			o, name, err := e.operatorOf()
			if err != nil {
				return err
			}
			ns, err := o.PatchSettings(cmd.Context(), name, patch)
			if err != nil {
				return err
			}
			return e.printSettings(ns)
		},
	}
}

func parseSettings(args []string) (map[string]json.RawMessage, error) {
	patch := make(map[string]json.RawMessage, len(args))
	for _, arg := range args {
		name, value, found := strings.Cut(arg, "=")
		if !found || name == "" {
			return nil, usage("%q is not NAME=VALUE", arg)
		}
		if _, twice := patch[name]; twice {
			return nil, usage("%s stands twice", name)
		}
		raw, err := parseValue(value)
		if err != nil {
			return nil, usage("the value of %s: %w", name, err)
		}
		patch[name] = raw
	}
	return patch, nil
}

// parseValue reads JSON, or a bare word as a string. What begins like an object,
// list or string and is none is a mistake rather than a word.
func parseValue(s string) (json.RawMessage, error) {
	if json.Valid([]byte(s)) {
		return json.RawMessage(s), nil
	}
	if s == "" || strings.ContainsAny(s, "{}[]\" \t\n") {
		return nil, errors.New("neither JSON nor a bare word")
	}
	return json.Marshal(s)
}

// describe reads the namespace of the argument or the flag.
func (e *env) describe(cmd *cobra.Command, args []string) (*api.Namespace, error) {
	if len(args) > 0 {
		e.namespace = args[0]
	}
	o, name, err := e.operatorOf()
	if err != nil {
		return nil, err
	}
	return o.Namespace(cmd.Context(), name)
}

func (e *env) printNamespace(ns *api.Namespace) error {
	return e.document(ns, [2]string{"name", ns.Name}, [2]string{"created", stamp(ns.CreatedAt)})
}

func (e *env) printSettings(ns *api.Namespace) error {
	if e.json {
		return e.line(ns)
	}
	t := newTable(e.out)
	t.row("SETTING", "VALUE", "FROM")
	for _, name := range slices.Sorted(maps.Keys(ns.Settings)) {
		t.row(name, string(ns.Settings[name]), ns.Origins[name])
	}
	return t.Flush()
}
