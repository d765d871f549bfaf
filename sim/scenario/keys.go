package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// document is one kind of mapping in a file: what its keys are called, what they mean
// and what they may hold. Reading, checking and the schema all go by it.
type document struct {
	name, about string
	// kind names the key, if any, that says which others are allowed and needed.
	kind string
	keys []*key
}

// key is one key of a document.
type key struct {
	name, about string
	field       []int // in the Go type
	// example is a value, and fallback what holds if the key is absent; both as in
	// YAML.
	example, fallback string
	required          bool
	// of are the kinds that the key is for, all if empty, and needed those that
	// cannot do without it.
	of, needed []string
	// words are what a string may be, if it is not free.
	words []string
	// least and most bound a number, or a span in nanoseconds. If above is set, least
	// itself is not allowed.
	least, most float64
	above       bool
	// named says that the string is a name: see isName.
	named bool
}

// key finds a key by its name.
func (d *document) key(name string) (*key, bool) {
	at := slices.IndexFunc(d.keys, func(k *key) bool { return k.name == name })
	if at < 0 {
		return nil, false
	}
	return d.keys[at], true
}

func (d *document) names() []string {
	names := make([]string, len(d.keys))
	for i, k := range d.keys {
		names[i] = k.name
	}
	return names
}

// admits says whether a value is among those that the key may hold.
func (k *key) admits(v reflect.Value) bool {
	switch {
	case v.Kind() == reflect.String && len(k.words) > 0:
		return slices.Contains(k.words, v.String())
	case v.Kind() == reflect.String && k.named:
		return isName(v.String())
	case v.Kind() == reflect.String:
		return strings.TrimSpace(v.String()) != ""
	case v.CanInt():
		return k.within(float64(v.Int()))
	case v.CanFloat():
		return k.within(v.Float())
	}
	return true
}

// within is false for what is not a number, too.
func (k *key) within(n float64) bool {
	return n <= k.most && (n > k.least || n == k.least && !k.above)
}

// maxName bounds names.
const maxName = 64

// isName says whether s is fit to be a name in tables and files of any format.
func isName(s string) bool {
	for i, c := range s {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", c)) {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

const nameRule = "must be a name of letters, digits, '.', '_' and '-', that begins with a letter or digit and is at most 64 long"

// allowed says what a value of the key must be.
func (k *key) allowed(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[Span]():
		return errSpan.Error() + ", " + k.bounds(t)
	case t.Kind() == reflect.Struct:
		return "must be keys with values"
	case t.Kind() == reflect.Slice:
		return "must be a list"
	case len(k.words) > 0:
		return "must be one of " + strings.Join(k.words, ", ")
	case k.named:
		return nameRule
	case t.Kind() == reflect.String:
		return "must be text"
	case t.Kind() == reflect.Float64:
		return "must be a number, " + k.bounds(t)
	}
	return "must be a whole number, " + k.bounds(t)
}

// bounds says from where to where a number or span may go.
func (k *key) bounds(t reflect.Type) string {
	if k.above {
		return fmt.Sprintf("above %s and at most %s", k.show(k.least, t), k.show(k.most, t))
	}
	return fmt.Sprintf("%s to %s", k.show(k.least, t), k.show(k.most, t))
}

func (k *key) show(n float64, t reflect.Type) string {
	if t != reflect.TypeFor[Span]() {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	if n == 0 {
		return "0"
	}
	s := Span(n).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
