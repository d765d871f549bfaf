package cli

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

func newReceiptCommand(e *env) *cobra.Command {
	return group("receipts", "Read and verify the records of accepted work", []string{"receipt"},
		newReceiptList(e), newReceiptGet(e), newReceiptVerify(e))
}

func newReceiptList(e *env) *cobra.Command {
	var p paging
	var after int64
	var wait time.Duration
	cmd := &cobra.Command{
		Use: "list", Short: "List receipts in sequence", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			o := &client.ReceiptOptions{After: after, Wait: wait, ListOptions: *p.options()}
			head := []string{"SEQ", "ID", "VERB", "PRINCIPAL", "OUTPUT", "SUBMITTED"}
			return printList(e, &p, cl.Receipts(cmd.Context(), o), head, func(r api.Receipt) []string {
				return []string{strconv.FormatInt(r.Sequence, 10), r.ID, r.Verb, r.Principal, r.Output.Ref, stamp(r.SubmittedAt)}
			})
		},
	}
	p.flags(cmd)
	cmd.Flags().Int64Var(&after, "after", 0, "only what follows this sequence number")
	cmd.Flags().DurationVar(&wait, "wait", 0, "where there is none yet, wait this long, up to 30s")
	return cmd
}

func newReceiptGet(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "get ID", Short: "Show a receipt", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			receipt, err := cl.Receipt(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return e.printReceipt(receipt)
		},
	}
}

func (e *env) printReceipt(r *api.Receipt) error {
	late := ""
	if r.Late {
		late = "yes: the lease had run out, and nobody else had been granted the verb"
	}
	rows := [][2]string{
		{"id", r.ID},
		{"sequence", strconv.FormatInt(r.Sequence, 10)},
		{"verb", r.Verb},
		{"claim", r.Claim},
		{"principal", r.Principal},
		{"fence", strconv.FormatInt(r.Fence, 10)},
		{"brief version", r.BriefVersion},
		{"late", late},
		{"submitted", stamp(r.SubmittedAt)},
	}
	for _, in := range r.Inputs {
		rows = append(rows, [2]string{"input", in.Ref + "  " + in.Digest})
	}
	rows = append(rows, [2]string{"output", r.Output.Ref + "  " + r.Output.Digest}, [2]string{"digest", r.Digest})
	return e.document(r, rows...)
}
