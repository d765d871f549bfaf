package report

import (
	"bytes"
	"encoding/xml"
	"fmt"

	"github.com/skerryhq/skerry/sim/figure"
)

// markup is a page as it grows. It is XHTML as well as HTML, so that any XML parser can
// check it.
type markup struct{ bytes.Buffer }

// f writes markup. Strings among the arguments are escaped, whoever they come from, but
// those of type raw; numbers are written for drawings.
func (m *markup) f(format string, args ...any) {
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = escape(a)
		case float64:
			args[i] = place(a)
		}
	}
	fmt.Fprintf(m, format, args...)
}

// raw is markup already.
type raw string

// escape makes text safe in elements and in quoted attributes. Characters that XML does
// not allow become U+FFFD.
func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}

// place writes a coordinate: a tenth of a pixel is more than can be seen.
func place(v float64) string { return figure.Format(v, 1) }
