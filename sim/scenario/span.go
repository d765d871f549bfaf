package scenario

import (
	"errors"
	"time"
)

// errSpan says how a span is written.
var errSpan = errors.New("must be a span of time such as 200ms, 1.5s or 2m")

// Duration returns the span as the standard library knows it.
func (s Span) Duration() time.Duration { return time.Duration(s) }

// String writes the span as in YAML.
func (s Span) String() string { return time.Duration(s).String() }

// MarshalText writes the span as Go writes durations: 1.5s, 200ms.
func (s Span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes. Nothing else is a span: a plain number
// says nothing about its unit.
func (s *Span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return errSpan
	}
	*s = Span(d)
	return nil
}
