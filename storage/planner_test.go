package storage

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// A plan that follows from the bound value shows that the statement was planned
// again for it: only then can GLOB use an index.
func TestOnlyFilesOfAStoreKeepTheirPlans(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, test := range []struct {
		base      string
		replanned bool
	}{
		{"ns-acme.sqlite", false},
		{"ns-acme.sqlite.new", false},
		{"an-embedders-own.sqlite", true},
	} {
		c, err := dial(filepath.Join(t.TempDir(), test.base), "", 256, 8, url.Values{"mode": {"rwc"}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		if err := c.script("CREATE TABLE t (a TEXT, b TEXT); CREATE INDEX t_a ON t (a);"); err != nil {
			t.Fatal(err)
		}
		tx := c.tx(t.Context())
		var detail string
		const explain = "EXPLAIN QUERY PLAN SELECT b FROM t WHERE a GLOB ?"
		if _, err := tx.QueryRow(explain, []any{"x*"}, new(int), new(int), new(int), &detail); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(detail, "USING INDEX"); got != test.replanned {
			t.Errorf("%s: plan %q, planned for the value: %v, want %v", test.base, detail, got, test.replanned)
		}
	}
}
