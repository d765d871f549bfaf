package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// claim is what this program needs to know of a claim that it is run for. `skerry
// work --json-input` gives it on standard input.
type claim struct {
	Verb struct {
		// Attempt is the verb's number in its group, from 1.
		Attempt int   `json:"attempt"`
		Brief   brief `json:"brief"`
	} `json:"verb"`
	Inputs []input `json:"inputs"`
}

// input is an input of a claim, with the path of the file that holds its content.
type input struct {
	Ref     string `json:"ref"`
	Digest  string `json:"digest"`
	Size    int64  `json:"size"`
	Group   string `json:"group"`
	Attempt int    `json:"attempt"`
	Path    string `json:"path"`
}

// brief is what the verbs of one file have in common: the method of each attempt,
// the first one's first.
type brief struct {
	Methods []method `json:"methods"`
}

// readClaim reads a claim. Its methods are checked, so that a brief names one and
// never a command to run.
func readClaim(in io.Reader) (*claim, error) {
	var c claim
	if err := json.NewDecoder(in).Decode(&c); err != nil {
		return nil, fmt.Errorf("read claim: %w: %w", err, errUnfit)
	}
	for _, m := range c.Verb.Brief.Methods {
		if !m.known() {
			return nil, fmt.Errorf("read claim: unknown method %q: %w", m, errUnfit)
		}
	}
	return &c, nil
}

// attempt is the method of an attempt.
func (b brief) attempt(n int) (method, error) {
	if n < 1 || n > len(b.Methods) {
		return method{}, fmt.Errorf("choose method: attempt %d of %d: %w", n, len(b.Methods), errUnfit)
	}
	return b.Methods[n-1], nil
}
