package cli

import (
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

func newNounCommand(e *env) *cobra.Command {
	return group("noun", "Store and read inputs and artifacts", []string{"nouns"},
		newNounPut(e), newNounGet(e), newNounList(e), newNounVersions(e))
}

func newNounPut(e *env) *cobra.Command {
	var c contentFlags
	var once idempotency
	cmd := &cobra.Command{
		Use: "put KEY [FILE]", Short: "Make the next version of a noun from a file or standard input", Args: cobra.RangeArgs(1, 2),
		Example: "  skerry noun put in/text essay.txt\n  skerry noun put in/video film.mp4 --uri s3://bucket/film.mp4",
		RunE: func(cmd *cobra.Command, args []string) error {
			content, err := e.content(&c, argument(args, 1))
			if err != nil {
				return err
			}
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			noun, err := once.on(cl, "").CreateNoun(cmd.Context(), api.NounSpec{Key: args[0], Content: content})
			if err != nil {
				return err
			}
			return e.printNoun(noun)
		},
	}
	c.flags(cmd)
	once.flags(cmd)
	return cmd
}

func newNounGet(e *env) *cobra.Command {
	var body bool
	var file string
	cmd := &cobra.Command{
		Use: "get KEY[@VERSION]", Short: "Describe a noun, or read its content", Args: cobra.ExactArgs(1),
		Example: "  skerry noun get out/summary@2\n  skerry noun get out/image --body -o image.png",
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			if !body && file == "" {
				noun, err := cl.Noun(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return e.printNoun(noun)
			}
			b, err := cl.NounBody(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if file != "" && file != "-" {
				return os.WriteFile(file, b.Bytes, 0o666)
			}
			_, err = e.out.Write(b.Bytes)
			return err
		},
	}
	cmd.Flags().BoolVar(&body, "body", false, "print the content")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write the content to this file")
	return cmd
}

func newNounList(e *env) *cobra.Command {
	var p paging
	var prefix string
	cmd := &cobra.Command{
		Use: "list", Short: "List nouns, each at its newest version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			return printList(e, &p, cl.Nouns(cmd.Context(), prefix, p.options()), nounHead(), nounCells)
		},
	}
	p.flags(cmd)
	cmd.Flags().StringVar(&prefix, "prefix", "", "only keys that begin so")
	return cmd
}

func newNounVersions(e *env) *cobra.Command {
	var p paging
	cmd := &cobra.Command{
		Use: "versions KEY", Short: "List the versions of a noun", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			return printList(e, &p, cl.NounVersions(cmd.Context(), args[0], p.options()), nounHead(), nounCells)
		},
	}
	p.flags(cmd)
	return cmd
}

func nounHead() []string { return []string{"REF", "SIZE", "MEDIA TYPE", "DIGEST", "CREATED"} }

func nounCells(n api.Noun) []string {
	return []string{n.Ref, strconv.FormatInt(n.Size, 10), n.MediaType, n.Digest, stamp(n.CreatedAt)}
}

func (e *env) printNoun(n *api.Noun) error {
	digest := n.Digest
	if n.DigestTrusted {
		digest += " (as its maker says, not checked)"
	}
	return e.document(n, [2]string{"ref", n.Ref}, [2]string{"digest", digest}, [2]string{"size", strconv.FormatInt(n.Size, 10)},
		[2]string{"media type", n.MediaType}, [2]string{"uri", n.URI}, [2]string{"created", stamp(n.CreatedAt)})
}

// idempotency is the flag of what makes something: the same key makes it once,
// however often the command runs.
type idempotency struct{ key string }

func (i *idempotency) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&i.key, "idempotency-key", "", "run the command twice with the same key, and it takes effect once")
}

// on is the client that sends the key, followed by the part's suffix where one
// command sends several requests.
func (i *idempotency) on(c *client.Client, suffix string) *client.Client {
	if i.key == "" {
		return c
	}
	return c.WithIdempotencyKey(i.key + suffix)
}
