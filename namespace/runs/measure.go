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
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n >= 0 && n <= maxCost {
			return n, nil
		}
		// Every integer up to the bound is exact as a float.
		if f, err := strconv.ParseFloat(string(value), 64); err == nil && f >= 0 && f <= maxCost && f == float64(int64(f)) {
			return int64(f), nil
		}
	}
	return 0, api.Invalid(field, "a measure of the kind, which must be a whole number from 0 to %d", int64(maxCost))
}
