package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// facts are what is asked of an item.
type facts struct {
	Lines int `json:"lines"`
	// Tokens are what blanks separate.
	Tokens int    `json:"tokens"`
	SHA256 string `json:"sha256"`
}

func factsOf(text string) facts {
	sum := sha256.Sum256([]byte(text))
	return facts{strings.Count(text, "\n"), len(strings.Fields(text)), hex.EncodeToString(sum[:])}
}

// payload is what a run's document says of an item beside its id.
type payload struct {
	Text string `json:"text"`
}

// work is what a worker runs for an item, which it reads as JSON; it writes the result.
func work(in io.Reader, out io.Writer) error {
	var item struct {
		Payload payload `json:"payload"`
	}
	if err := json.NewDecoder(in).Decode(&item); err != nil {
		return fmt.Errorf("read item: %w", err)
	}
	return json.NewEncoder(out).Encode(factsOf(item.Payload.Text))
}
