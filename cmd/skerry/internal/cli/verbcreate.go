package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

const (
	// maxBatch is how many verbs one request may make, and batchBytes keeps its
	// body below the 5 MiB that the server takes.
	maxBatch   = 1000
	batchBytes = 4 << 20
	maxLine    = 1 << 20
)

// verbFlags describe a verb on the command line.
type verbFlags struct {
	kind, artifact, brief, briefVersion, notBefore string
	inputs, metadata                               []string
	attempts, maxAttempts                          int
	lease                                          time.Duration
}

func newVerbCreate(e *env) *cobra.Command {
	var v verbFlags
	var file string
	var once idempotency
	cmd := &cobra.Command{
		Use: "create", Short: "Create a verb, or with --attempts a group of them", Args: cobra.NoArgs,
		Example: `  skerry verb create --kind summarize --artifact out/summary --input in/text --brief '{"words":50}'
  skerry verb create --kind compare --artifact out/best --input group:vg_1:2
  skerry verb create --file verb.json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, err := e.verbSpec(&v, file)
			if err != nil {
				return err
			}
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			cl = once.on(cl, "")
			if spec.Attempts == nil {
				verb, err := cl.CreateVerb(cmd.Context(), spec)
				if err != nil {
					return err
				}
				return e.printVerb(verb)
			}
			made, err := cl.CreateGroup(cmd.Context(), spec)
			if err != nil {
				return err
			}
			return e.printCreated([]client.Created{{Group: made}})
		},
	}
	f := cmd.Flags()
	f.StringVar(&file, "file", "", "read the verb as JSON from this file, - for standard input, instead of flags")
	f.StringVar(&v.kind, "kind", "", "what kind of work it is")
	f.StringVar(&v.artifact, "artifact", "", "key of the noun that it makes")
	f.StringVar(&v.brief, "brief", "", "instructions: a JSON object, or @FILE")
	f.StringVar(&v.briefVersion, "brief-version", "", "version of the brief, echoed in claim and receipt")
	f.StringArrayVar(&v.inputs, "input", nil, "input: KEY, KEY@VERSION or group:ID[:MIN]; may be given more than once")
	f.StringArrayVar(&v.metadata, "meta", nil, "NAME=VALUE, returned as given; may be given more than once")
	f.IntVar(&v.attempts, "attempts", 0, "make a group of this many verbs, side by side")
	f.IntVar(&v.maxAttempts, "max-attempts", 0, "how many tries there are before it fails")
	f.DurationVar(&v.lease, "lease", 0, "lease length")
	f.StringVar(&v.notBefore, "not-before", "", "earliest start: an RFC 3339 time, or a duration from now")
	once.flags(cmd)
	cmd.MarkFlagsOneRequired("file", "kind")
	cmd.MarkFlagsMutuallyExclusive("file", "kind")
	cmd.MarkFlagsRequiredTogether("kind", "artifact")
	return cmd
}

func (e *env) verbSpec(v *verbFlags, file string) (api.VerbSpec, error) {
	if file == "" {
		return e.flagSpec(v)
	}
	var spec api.VerbSpec
	data, err := e.read(file)
	if err != nil {
		return spec, err
	}
	if err := strict(data, &spec); err != nil {
		return spec, fmt.Errorf("read %s: %w", nameOf(file), err)
	}
	return spec, nil
}

func (e *env) flagSpec(v *verbFlags) (spec api.VerbSpec, err error) {
	spec = api.VerbSpec{Kind: v.kind, Artifact: v.artifact, BriefVersion: v.briefVersion}
	if v.brief != "" {
		if spec.Brief, err = e.jsonArgument("--brief", v.brief); err != nil {
			return spec, err
		}
	}
	for _, s := range v.inputs {
		in, err := parseInput(s)
		if err != nil {
			return spec, err
		}
		spec.Inputs = append(spec.Inputs, in)
	}
	if spec.Metadata, err = pairs(v.metadata); err != nil {
		return spec, err
	}
	if v.notBefore != "" {
		at, err := parseTime(v.notBefore, time.Now())
		if err != nil {
			return spec, err
		}
		spec.NotBefore = &at
	}
	if v.attempts != 0 {
		spec.Attempts = &v.attempts
	}
	if v.maxAttempts != 0 {
		spec.MaxAttempts = &v.maxAttempts
	}
	spec.LeaseMs = optionalMs(v.lease)
	return spec, nil
}

// optionalMs is d in milliseconds, nil for zero.
func optionalMs(d time.Duration) *int64 {
	if d == 0 {
		return nil
	}
	return pointer(d.Milliseconds())
}

// parseInput reads KEY, KEY@VERSION or group:ID[:MIN].
func parseInput(s string) (api.Input, error) {
	id, isGroup := strings.CutPrefix(s, "group:")
	if !isGroup {
		return api.Input{Key: s}, nil
	}
	id, least, hasLeast := strings.Cut(id, ":")
	in := &api.GroupInput{Group: id}
	if hasLeast {
		n, err := strconv.Atoi(least)
		if err != nil || n < 1 {
			return api.Input{}, usage("input %q: the part behind the group's id is not a number from 1", s)
		}
		in.Min = &n
	}
	return api.Input{Group: in}, nil
}

func parseTime(s string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return api.Time(now.Add(d)), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, usage("%q is neither an RFC 3339 time nor a duration", s)
	}
	return api.Time(t), nil
}

func newVerbBatch(e *env) *cobra.Command {
	var once idempotency
	cmd := &cobra.Command{
		Use: "batch [FILE]", Short: "Create verbs from JSON lines, in a file or on standard input", Args: cobra.MaximumNArgs(1),
		Long: `Create a verb for each line of JSON. Up to 1,000 verbs, attempts counted, go in one
request, which makes all of them or none; more lines go in several requests. With
--idempotency-key the command can be run again after a failure and makes nothing
twice.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, size, err := e.open(argument(args, 0))
			if err != nil {
				return err
			}
			defer in.Close()
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			b := e.byteBar(size, "create")
			defer b.done()
			part := 0
			return readBatches(io.TeeReader(in, b), func(first int, specs []api.VerbSpec) error {
				part++
				made, err := once.on(cl, "/"+strconv.Itoa(part)).CreateVerbs(cmd.Context(), specs)
				if err != nil {
					return fmt.Errorf("entries from line %d: %w", first, err)
				}
				_ = b.Clear()
				return e.printCreated(made)
			})
		},
	}
	once.flags(cmd)
	return cmd
}

// readBatches reads verbs from JSON lines and hands them on in batches, each with
// the number of its first line. Where a batch ends depends on the lines alone, so
// that the same lines make the same batches.
func readBatches(r io.Reader, create func(first int, specs []api.VerbSpec) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var specs []api.VerbSpec
	first, verbs, size := 0, 0, 0
	flush := func() error {
		if len(specs) == 0 {
			return nil
		}
		err := create(first, specs)
		specs, verbs, size = nil, 0, 0
		return err
	}
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var spec api.VerbSpec
		if err := strict(line, &spec); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		weight := 1
		if spec.Attempts != nil {
			weight = max(*spec.Attempts, 1)
		}
		if verbs+weight > maxBatch || size+len(line) > batchBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		if len(specs) == 0 {
			first = n
		}
		specs, verbs, size = append(specs, spec), verbs+weight, size+len(line)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	return flush()
}

func (e *env) printCreated(made []client.Created) error {
	t := newTable(e.out)
	for _, entry := range made {
		if e.json {
			if err := e.line(entry); err != nil {
				return err
			}
			continue
		}
		if entry.Verb != nil {
			t.row(entry.Verb.ID, string(entry.Verb.State), entry.Verb.Artifact)
			continue
		}
		for _, verb := range entry.Group.Verbs {
			t.row(verb.ID, string(verb.State), verb.Artifact, entry.Group.Group)
		}
	}
	return t.Flush()
}
