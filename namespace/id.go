package namespace

import "strings"

// idDigits is base 32 in an order that sorts as the numbers do, without the
// letters that are easily misread.
const idDigits = "0123456789abcdefghjkmnpqrstvwxyz"

// idWidth digits hold the numbers below 2^55.
const idWidth = 11

// ID gives the number n of a row an opaque form: the prefix, and a fixed number
// of digits, so that ids of one prefix sort as their numbers do.
func ID(prefix string, n int64) string {
	var b [idWidth]byte
	for k := idWidth - 1; k >= 0; k-- {
		b[k] = idDigits[n&31]
		n >>= 5
	}
	return prefix + string(b[:])
}

// ParseID reads an id that [ID] made with the prefix; it accepts no other form
// of the same number.
func ParseID(prefix, s string) (int64, bool) {
	s, ok := strings.CutPrefix(s, prefix)
	if !ok || len(s) != idWidth {
		return 0, false
	}
	var n int64
	for k := range len(s) {
		d := strings.IndexByte(idDigits, s[k])
		if d < 0 {
			return 0, false
		}
		n = n<<5 | int64(d)
	}
	return n, true
}
