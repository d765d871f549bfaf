package figure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Value is a figure over seeds. In JSON it is {mean, low, high}, and the plain number if
// there is one seed.
type Value struct {
	Mean float64
	// Low and High bound the 95 % confidence interval of the mean; of one seed they are
	// that seed's value.
	Low, High float64
	// Seeds is of how many seeds it is known; 0 is a figure that is absent.
	Seeds int
}

// NewValue sums up what the seeds gave; those that are Absent are left out.
func NewValue(seeds []float64) Value {
	var known []float64
	for _, v := range seeds {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	switch len(known) {
	case 0:
		return Value{}
	case 1:
		return Value{Mean: known[0], Low: known[0], High: known[0], Seeds: 1}
	}
	mean, half := Interval(known)
	return Value{Mean: mean, Low: mean - half, High: mean + half, Seeds: len(known)}
}

// IsZero says that the figure is absent, and left out of JSON.
func (v Value) IsZero() bool { return v.Seeds == 0 }

// decimals are kept of a figure in documents.
const decimals = 6

// MarshalJSON writes the figure, rounded to six decimals.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.Seeds == 0 {
		return []byte("null"), nil
	}
	if v.Seeds == 1 {
		return appendNumber(nil, v.Mean)
	}
	b := []byte("{")
	for i, f := range []struct {
		name string
		v    float64
	}{{"mean", v.Mean}, {"low", v.Low}, {"high", v.High}} {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, f.name), ':')
		var err error
		if b, err = appendNumber(b, f.v); err != nil {
			return nil, err
		}
	}
	b = append(b, `,"seeds":`...)
	b = strconv.AppendInt(b, int64(v.Seeds), 10)
	return append(b, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Value) UnmarshalJSON(b []byte) error {
	*v = Value{}
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	if b[0] != '{' {
		if err := json.Unmarshal(b, &v.Mean); err != nil {
			return fmt.Errorf("read figure: %w", err)
		}
		v.Low, v.High, v.Seeds = v.Mean, v.Mean, 1
		return nil
	}
	var d struct {
		Mean, Low, High float64
		Seeds           int
	}
	if err := json.Unmarshal(b, &d); err != nil {
		return fmt.Errorf("read figure: %w", err)
	}
	*v = Value(d)
	return nil
}

// Format writes a number with so many decimals at most, without zeros at the end, in the
// same way on every machine.
func Format(v float64, decimals int) string {
	b := strconv.AppendFloat(nil, v, 'f', decimals, 64)
	if bytes.IndexByte(b, '.') >= 0 {
		b = bytes.TrimRight(bytes.TrimRight(b, "0"), ".")
	}
	if string(b) == "-0" {
		return "0"
	}
	return string(b)
}

func appendNumber(b []byte, v float64) ([]byte, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("write figure: %v is no number", v)
	}
	return append(b, Format(v, decimals)...), nil
}
