package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/skerryhq/skerry/api"
)

const (
	// lease is short, so that the work of the killed worker is soon taken over;
	// the living renew theirs every second.
	leaseMs = 3_000
	// batch is how many files' verbs are made by one request, which may make 1,000.
	batch = 1_000 / attemptsPerFile
	// leastAlternatives is how many attempts must succeed for a comparison to make
	// sense.
	leastAlternatives = 2
)

// The keys of the nouns of a file. Those of the attempts' artifacts have the
// attempt's number behind them.
func (f *source) inputKey() string    { return "in/" + f.name }
func (f *source) artifactKey() string { return "packed/" + f.name }
func (f *source) verdictKey() string  { return "verdict/" + f.name }

// store stores the files as nouns, and tells stored of each. The digest that goes
// along is checked by the server.
func (s *space) store(ctx context.Context, stored func()) error {
	for _, f := range s.files {
		body, err := os.ReadFile(f.path)
		if err != nil {
			return fmt.Errorf("store input: %w", err)
		}
		f.size, f.digest = int64(len(body)), digest(body)
		content := api.Content{Digest: f.digest}
		if text := string(body); utf8.Valid(body) {
			content.Body = &text
		} else {
			encoded := base64.StdEncoding.EncodeToString(body)
			content.BodyBase64 = &encoded
		}
		if _, err := s.producer.CreateNoun(ctx, api.NounSpec{Key: f.inputKey(), Content: content}); err != nil {
			return fmt.Errorf("store %s: %w", f.path, err)
		}
		stored()
	}
	return nil
}

// plan makes the verbs of all files. Comparisons follow the attempts, because they
// name the group.
func (s *space) plan(ctx context.Context) error {
	for files := range slices.Chunk(s.files, batch) {
		groups, err := s.planAttempts(ctx, files)
		if err != nil {
			return fmt.Errorf("make attempts in %s: %w", s.name, err)
		}
		if err := s.planComparisons(ctx, files, groups); err != nil {
			return fmt.Errorf("make comparisons in %s: %w", s.name, err)
		}
	}
	return nil
}

func (s *space) planAttempts(ctx context.Context, files []*source) (groups []string, err error) {
	var specs []api.VerbSpec
	for _, f := range files {
		attempts := attemptsPerFile
		spec, err := f.verb(kindCompress, f.artifactKey(), api.Input{Key: f.inputKey()})
		if err != nil {
			return nil, err
		}
		spec.Attempts = &attempts
		specs = append(specs, spec)
	}
	created, err := s.producer.CreateVerbs(ctx, specs)
	if err != nil {
		return nil, err
	}
	for i, c := range created {
		for _, v := range c.Group.Verbs {
			files[i].attempts = append(files[i].attempts, v.ID)
		}
		groups = append(groups, c.Group.Group)
	}
	return groups, nil
}

func (s *space) planComparisons(ctx context.Context, files []*source, groups []string) error {
	var specs []api.VerbSpec
	for i, f := range files {
		group := &api.GroupInput{Group: groups[i], Min: new(leastAlternatives)}
		spec, err := f.verb(kindCompare, f.verdictKey(), api.Input{Key: f.inputKey()}, api.Input{Group: group})
		if err != nil {
			return err
		}
		specs = append(specs, spec)
	}
	created, err := s.producer.CreateVerbs(ctx, specs)
	if err != nil {
		return err
	}
	for i, c := range created {
		files[i].comparison = c.Verb.ID
	}
	return nil
}

// verb is what all verbs of a file have in common, and its own.
func (f *source) verb(kind, artifact string, inputs ...api.Input) (api.VerbSpec, error) {
	document, err := json.Marshal(brief{Methods: f.methods})
	if err != nil {
		return api.VerbSpec{}, fmt.Errorf("write brief: %w", err)
	}
	length := int64(leaseMs)
	return api.VerbSpec{
		Kind: kind, Artifact: artifact, Brief: document, BriefVersion: "1", Inputs: inputs, LeaseMs: &length,
	}, nil
}
