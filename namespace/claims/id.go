package claims

import (
	"crypto/subtle"
	"encoding/base32"
	"strconv"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Prefixes of the ids.
const (
	verbPrefix    = "vb_"
	groupPrefix   = "vg_"
	receiptPrefix = "rc_"
	claimPrefix   = "cl_"
)

// digits is base32hex in lower case: its order is that of ASCII, so that ids of
// fixed width sort as their numbers do.
const digits = "0123456789abcdefghijklmnopqrstuv"

const (
	// numberWidth digits hold 55 bits, more than any number here has.
	numberWidth = 11
	maxNumber   = 1<<53 - 1
	// proofWidth digits hold the 80 bits of a signature exactly.
	proofWidth = 16
)

var proofEncoding = base32.NewEncoding(digits).WithPadding(base32.NoPadding)

func appendNumber(b []byte, n int64) []byte {
	for shift := 5 * (numberWidth - 1); shift >= 0; shift -= 5 {
		b = append(b, digits[n>>shift&31])
	}
	return b
}

// parseNumber reads what appendNumber wrote, from 1 to maxNumber. Each number
// has one form only.
func parseNumber(s string) (int64, bool) {
	if len(s) != numberWidth {
		return 0, false
	}
	var n int64
	for i := range len(s) {
		var d byte
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			d = c - '0'
		case 'a' <= c && c <= 'v':
			d = c - 'a' + 10
		default:
			return 0, false
		}
		n = n<<5 | int64(d)
	}
	return n, 1 <= n && n <= maxNumber
}

func formatID(prefix string, n int64) string {
	b := make([]byte, 0, len(prefix)+numberWidth)
	return string(appendNumber(append(b, prefix...), n))
}

func parseID(prefix, s string) (int64, bool) {
	if len(s) != len(prefix)+numberWidth || s[:len(prefix)] != prefix {
		return 0, false
	}
	return parseNumber(s[len(prefix):])
}

// claimID is what a claim's id says. The id proves itself: it ends with a
// signature over the fence, the verb and the principal, so that no row is needed
// to know that it was given to this caller, and none can be made up.
type claimID struct {
	fence, verb int64
}

// format gives the id of the claim that the principal holds.
func (c claimID) format(v *namespace.View, principal string) string {
	b := make([]byte, 0, len(claimPrefix)+2*numberWidth+proofWidth)
	b = append(b, claimPrefix...)
	b = appendNumber(b, c.fence)
	b = appendNumber(b, c.verb)
	proof := v.Sign("claim", strconv.FormatInt(c.fence, 10), strconv.FormatInt(c.verb, 10), principal)
	return string(proofEncoding.AppendEncode(b, proof[:]))
}

// splitClaimID reads an id without looking at its proof.
func splitClaimID(s string) (claimID, bool) {
	if len(s) != len(claimPrefix)+2*numberWidth+proofWidth || s[:len(claimPrefix)] != claimPrefix {
		return claimID{}, false
	}
	s = s[len(claimPrefix):]
	fence, ok1 := parseNumber(s[:numberWidth])
	verb, ok2 := parseNumber(s[numberWidth : 2*numberWidth])
	return claimID{fence, verb}, ok1 && ok2
}

// openClaimID reads the id of a claim of v's caller. Every other id, be it
// another principal's, one of another namespace or no id at all, is not_found.
func openClaimID(v *namespace.View, s string) (claimID, error) {
	c, ok := splitClaimID(s)
	if !ok || subtle.ConstantTimeCompare([]byte(s), []byte(c.format(v, v.Caller().Principal))) != 1 {
		return claimID{}, api.Errorf(api.NotFound, "there is no such claim of this caller")
	}
	return c, nil
}
