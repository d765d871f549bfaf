package claims

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersSortAsTheirFormsDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Int64Range(1, maxNumber).Draw(t, "a")
		b := rapid.Int64Range(1, maxNumber).Draw(t, "b")
		sa, sb := formatID(verbPrefix, a), formatID(verbPrefix, b)
		if (a < b) != (sa < sb) {
			t.Fatalf("%d and %d: got %s and %s", a, b, sa, sb)
		}
		if got, ok := parseID(verbPrefix, sa); !ok || got != a {
			t.Fatalf("%s: got %d, %v, want %d", sa, got, ok, a)
		}
	})
}

func TestWrongIDsAreNotRead(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "vb_", "vb_00000000000", "vb_0000000000w", "vb_0000000000A", "vb_000000000001", "vg_00000000001",
		"vb_vvvvvvvvvvv", "vb_0000000000\x00",
	} {
		if n, ok := parseID(verbPrefix, s); ok {
			t.Errorf("%q: got %d, want none", s, n)
		}
	}
}

func FuzzSplitClaimID(f *testing.F) {
	f.Add("cl_" + strings.Repeat("0", numberWidth-1) + "1" + strings.Repeat("0", numberWidth-1) + "2" + strings.Repeat("v", proofWidth))
	f.Add("cl_")
	f.Fuzz(func(t *testing.T, s string) {
		c, ok := splitClaimID(s)
		if !ok {
			return
		}
		if c.fence < 1 || c.verb < 1 || c.fence > maxNumber || c.verb > maxNumber {
			t.Fatalf("%q: got %+v, out of range", s, c)
		}
		again := string(appendNumber(appendNumber([]byte(claimPrefix), c.fence), c.verb))
		if !strings.HasPrefix(s, again) {
			t.Fatalf("%q: read as %q", s, again)
		}
	})
}

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"a", "a/b@1", "a@01", "..", "a//b", "ä@9007199254740991", "a@9007199254740992", "@1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := parseRef("key", s)
		if err != nil {
			return
		}
		if ref.String() != s {
			t.Fatalf("%q: got %q", s, ref)
		}
		for _, segment := range strings.Split(ref.key, "/") {
			if slices.Contains([]string{"", ".", ".."}, segment) {
				t.Fatalf("%q has the segment %q", s, segment)
			}
		}
		if strings.ContainsAny(ref.href("/base"), " \"<>\x00\r\n") {
			t.Fatalf("%q: got link %q", s, ref.href("/base"))
		}
	})
}
