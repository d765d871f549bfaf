package runs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
)

// gauge reads one measure of items.
type gauge struct {
	measure api.Measure
	tokens  []string
	// document is what the run's document says, for items that say nothing.
	document int64
	err      error
}

func newGauge(m api.Measure, members map[string]jsontext.Value) *gauge {
	g := &gauge{measure: m, document: m.Value}
	if m.Field == "" {
		return g
	}
	for token := range jsontext.Pointer(m.Field).Tokens() {
		g.tokens = append(g.tokens, token)
	}
	if value, ok := find(members, g.tokens); ok {
		g.document, g.err = integer(strings.TrimPrefix(strings.Join(g.tokens, "."), "."), value)
	}
	return g
}

// read measures an item.
func (g *gauge) read(i int, item map[string]jsontext.Value) (int64, error) {
	if g.measure.Field == "" {
		return g.measure.Value, nil
	}
	if value, ok := find(item, g.tokens); ok {
		return integer(fmt.Sprintf("items[%d].%s", i, strings.Join(g.tokens, ".")), value)
	}
	return g.document, g.err
}

// costOfCall is what a singular call is estimated to cost.
func costOfCall(m api.Measure, input []byte) (int64, error) {
	if m.Field == "" {
		return m.Value, nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(input, &members); err != nil {
		return 0, fmt.Errorf("read input of call: %w", err)
	}
	g := newGauge(m, nil)
	value, ok := find(members, g.tokens)
	if !ok {
		return m.Value, nil
	}
	return integer("input."+strings.Join(g.tokens, "."), value)
}

// find looks a path up in an object. What is inside has been checked to be JSON.
func find(members map[string]jsontext.Value, path []string) (jsontext.Value, bool) {
	if len(path) == 0 {
		return nil, false
	}
	value, ok := members[path[0]]
	for _, token := range path[1:] {
		if !ok {
			return nil, false
		}
		value, ok = step(value, token)
	}
	return value, ok
}

// step goes one step down a path.
func step(value jsontext.Value, token string) (jsontext.Value, bool) {
	switch value.Kind() {
	case '{':
		var members map[string]jsontext.Value
		if json.Unmarshal(value, &members) != nil {
			return nil, false
		}
		inner, ok := members[token]
		return inner, ok
	case '[':
		var elements []jsontext.Value
		index, err := strconv.Atoi(token)
		if err != nil || strconv.Itoa(index) != token || json.Unmarshal(value, &elements) != nil || index < 0 || index >= len(elements) {
			return nil, false
		}
		return elements[index], true
	}
	return nil, false
}

// integer reads a measure of the right size; how the number is written does not
// matter.
func integer(field string, value jsontext.Value) (int64, error) {
	if value.Kind() == '0' {
		if n, ok := whole(string(value)); ok && n <= maxCost {
			return n, nil
		}
	}
	return 0, api.Invalid(field, "a measure of the kind must be a whole number from 0 to %d", int64(maxCost)).
		With("limit", int64(maxCost))
}

// whole reads a JSON number that is an integer, however it is written: 3, 3.0, 30e-1.
// It goes by the digits, because as a float a number that is very nearly an integer
// becomes one.
func whole(number string) (int64, bool) {
	number, negative := strings.CutPrefix(number, "-")
	mantissa, exponent := number, 0
	var huge error
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		mantissa = number[:at]
		exponent, huge = strconv.Atoi(number[at+1:])
	}
	ahead, behind, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(ahead+behind, "0")
	if digits == "" {
		return 0, true
	}
	zeros := exponent - len(behind) // that follow the digits
	for zeros < 0 && strings.HasSuffix(digits, "0") {
		digits, zeros = digits[:len(digits)-1], zeros+1
	}
	const most = 18 // digits that fit an int64
	if negative || huge != nil || zeros < 0 || zeros > most || len(digits)+zeros > most {
		return 0, false
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", zeros), 10, 64)
	return n, err == nil
}
