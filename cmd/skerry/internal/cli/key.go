package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
)

func newKeyCommand(e *env) *cobra.Command {
	return group("key", "Make, list and revoke a namespace's API keys", []string{"keys"},
		newKeyCreate(e), newKeyList(e), newKeyRevoke(e))
}

func newKeyCreate(e *env) *cobra.Command {
	var spec api.KeySpec
	var roles []string
	cmd := &cobra.Command{
		Use: "create --principal NAME --role ROLE…", Short: "Make a key and show it, this once", Args: cobra.NoArgs,
		Example: "  skerry key create -n demo --principal alice --role worker --role producer",
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, role := range roles {
				spec.Roles = append(spec.Roles, api.Role(role))
			}
			o, name, err := e.operatorOf()
			if err != nil {
				return err
			}
			key, err := o.CreateKey(cmd.Context(), name, spec)
			if err != nil {
				return err
			}
			if !e.json {
				defer e.note("The key is shown only now; keep it. Use it with --key or SKERRY_KEY.")
			}
			return e.document(key, [2]string{"id", key.ID}, [2]string{"principal", key.Principal},
				[2]string{"tenant", key.Tenant}, [2]string{"roles", roleList(key.Roles)}, [2]string{"key", key.Secret})
		},
	}
	f := cmd.Flags()
	f.StringVar(&spec.Principal, "principal", "", "who makes requests with the key")
	f.StringVar(&spec.Tenant, "tenant", "", "the principal's tenant (default: one of the principal's own name)")
	f.StringSliceVar(&roles, "role", nil, "worker, producer or admin; may be given more than once")
	_ = cmd.MarkFlagRequired("principal")
	_ = cmd.MarkFlagRequired("role")
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions([]string{"worker", "producer", "admin"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func newKeyList(e *env) *cobra.Command {
	var p paging
	cmd := &cobra.Command{
		Use: "list", Short: "List keys, without their secrets", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, name, err := e.operatorOf()
			if err != nil {
				return err
			}
			head := []string{"ID", "PRINCIPAL", "TENANT", "ROLES", "CREATED"}
			return printList(e, &p, o.Keys(cmd.Context(), name, p.options()), head, func(k api.Key) []string {
				return []string{k.ID, k.Principal, k.Tenant, roleList(k.Roles), stamp(k.CreatedAt)}
			})
		},
	}
	p.flags(cmd)
	return cmd
}

func newKeyRevoke(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "End a key at once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, name, err := e.operatorOf()
			if err != nil {
				return err
			}
			revoked, err := o.RevokeKey(cmd.Context(), name, args[0])
			if err != nil {
				return err
			}
			return e.document(revoked, [2]string{"revoked", revoked.ID})
		},
	}
}

func roleList(roles []api.Role) string {
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = string(role)
	}
	return strings.Join(names, ",")
}
