package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// facts are what is asked of an item.
type facts struct {
	Lines  int    `json:"lines"`
	Tokens int    `json:"tokens"`
	SHA256 string `json:"sha256"`
}

// factsOf is the work on one item.
func factsOf(text string) facts {
	sum := sha256.Sum256([]byte(text))
	return facts{strings.Count(text, "\n"), len(strings.Fields(text)), hex.EncodeToString(sum[:])}
}

// work is what a worker runs for an item: the item as JSON in, its result out.
func work(in io.Reader, out io.Writer) error {
	var item struct {
		Payload row `json:"payload"`
	}
	if err := json.NewDecoder(in).Decode(&item); err != nil {
		return fmt.Errorf("read item: %w", err)
	}
	stall(os.Getenv(stallVariable))
	return json.NewEncoder(out).Encode(factsOf(item.Payload.Text))
}

// stallVariable names a file in the environment of the worker that is to be killed.
const stallVariable = "BATCH_STALL"

// stall makes an item slow while the file is there, and says so beside it, so that the
// worker can be killed while it surely holds items.
func stall(file string) {
	if _, err := os.Stat(file); err != nil {
		return
	}
	if os.WriteFile(file+"ed", nil, 0o600) == nil {
		time.Sleep(3 * time.Second)
	}
}
