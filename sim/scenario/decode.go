package scenario

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// document reads the text into a struct, key by key after the table of keys.
func (r *reading) document(text []byte, into reflect.Value) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		r.syntax(err)
		return
	}
	if len(file.Docs) > 1 && file.Docs[1].Body != nil {
		r.fail(lineOf(file.Docs[1].Body, 1), "", "must be one document: nothing may follow a line of three dashes")
		return
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil || file.Docs[0].Body.Type() == ast.NullType {
		r.fail(1, "", "the file is empty: it must hold the keys of a scenario")
		return
	}
	r.mapping("", 1, file.Docs[0].Body, into)
}

// syntax reports what the parser found.
func (r *reading) syntax(err error) {
	line, message := 1, err.Error()
	var bad yaml.Error
	if errors.As(err, &bad) {
		message = bad.GetMessage()
		if t := bad.GetToken(); t != nil && t.Position != nil {
			line = max(t.Position.Line, 1)
		}
	}
	r.fail(line, "", "not YAML: %s", strings.ReplaceAll(message, "\n", " "))
}

// pairs are the keys and values of a mapping.
func pairs(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// lineOf is where a node begins, or the line given if it does not say.
func lineOf(n ast.Node, otherwise int) int {
	if all, ok := pairs(n); ok && len(all) > 0 && all[0].Key != nil {
		n = all[0].Key
	}
	if n == nil {
		return otherwise
	}
	if t := n.GetToken(); t != nil && t.Position != nil && t.Position.Line > 0 {
		return t.Position.Line
	}
	return otherwise
}

// mapping reads the keys of one document into a struct. Line is where it stands.
func (r *reading) mapping(key string, line int, n ast.Node, into reflect.Value) {
	all, ok := pairs(n)
	if !ok {
		r.fail(line, key, "must be keys with values%s", odd(n))
		return
	}
	d := r.documents[into.Type()]
	for _, pair := range all {
		if pair.Key == nil || pair.Key.IsMergeKey() {
			r.fail(lineOf(pair, line), key, "must have plain keys; anchors, aliases and merges are not for scenarios")
			continue
		}
		at := lineOf(pair.Key, line)
		name := pair.Key.GetToken().Value
		k, ok := d.key(name)
		if !ok {
			r.fail(at, below(key, name), "there is no such key; there are %s", strings.Join(d.names(), ", "))
			continue
		}
		path := below(key, name)
		if r.has(path) {
			r.fail(at, path, "must stand once; it stands in line %d too", r.lines[path])
			continue
		}
		r.lines[path] = at
		r.value(path, at, k, pair.Value, into.FieldByIndex(k.field))
	}
	r.presence(key, d, into)
}

// presence holds which keys are there against the kind that the document is of.
func (r *reading) presence(key string, d *document, of reflect.Value) {
	kind := ""
	if d.kind != "" {
		k, _ := d.key(d.kind)
		kind = of.FieldByIndex(k.field).String()
		if kind == "" {
			kind = k.fallback
		}
		if kind != "" && !slices.Contains(k.words, kind) {
			return // already told
		}
	}
	for _, k := range d.keys {
		path := below(key, k.name)
		switch has := r.has(path); {
		case has && kind != "" && len(k.of) > 0 && !slices.Contains(k.of, kind):
			r.failAt(path, "is not for %s %s, only for %s", d.kind, kind, strings.Join(k.of, ", "))
		case !has && k.required:
			r.failAt(path, "is missing: %s", k.allowed(of.FieldByIndex(k.field).Type()))
		case !has && kind != "" && slices.Contains(k.needed, kind):
			r.failAt(path, "is missing, and %s %s needs it: %s", d.kind, kind, k.allowed(of.FieldByIndex(k.field).Type()))
		}
	}
}

// value reads one value.
func (r *reading) value(path string, line int, k *key, n ast.Node, into reflect.Value) {
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	switch {
	case into.Kind() == reflect.Struct:
		r.mapping(path, line, n, into)
		return
	case into.Kind() == reflect.Slice:
		r.list(path, line, n, into)
		return
	}
	number, text, ok := scalar(n)
	switch {
	case ok && into.Type() == reflect.TypeFor[Span]():
		ok = r.span(n, text, into)
	case ok && into.Kind() == reflect.String:
		ok = number == nil
		into.SetString(text)
	case ok && number != nil && into.CanInt():
		ok = float64(int64(*number)) == *number && math.Abs(*number) <= maxExact
		if ok {
			into.SetInt(int64(*number))
		}
	case ok && number != nil && into.CanFloat():
		into.SetFloat(*number)
	default:
		ok = false
	}
	if !ok || !k.admits(into) {
		r.fail(line, path, "%s%s", k.allowed(into.Type()), odd(n))
	}
}

// maxExact is the largest whole number up to which a float64 holds every one.
const maxExact = 1 << 53

func (r *reading) span(n ast.Node, text string, into reflect.Value) bool {
	var s Span
	if whole, ok := n.(*ast.IntegerNode); ok && text == "0" && whole != nil {
		into.SetInt(0)
		return true
	}
	if err := s.UnmarshalText([]byte(text)); err != nil {
		return false
	}
	into.SetInt(int64(s))
	return true
}

// scalar is what a single value says: a number, if it is one, and its text.
func scalar(n ast.Node) (number *float64, text string, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return nil, n.Value, true
	case *ast.LiteralNode:
		if n.Value == nil {
			return nil, "", false
		}
		return nil, n.Value.Value, true
	case *ast.FloatNode:
		return &n.Value, n.GetToken().Value, true
	case *ast.IntegerNode:
		var v float64
		switch whole := n.Value.(type) {
		case int64:
			v = float64(whole)
		case uint64:
			v = float64(whole)
		default:
			return nil, "", false
		}
		return &v, n.GetToken().Value, true
	}
	return nil, "", false
}

// odd explains what a node is, where that is not plain to see.
func odd(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode:
		return "; there is nothing"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return "; anchors, aliases and tags are not for scenarios"
	}
	return ""
}

// list reads a list of documents.
func (r *reading) list(path string, line int, n ast.Node, into reflect.Value) {
	sequence, ok := n.(*ast.SequenceNode)
	if !ok {
		r.fail(line, path, "must be a list%s", odd(n))
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(sequence.Values), len(sequence.Values)))
	for i, v := range sequence.Values {
		at := item(path, i)
		r.lines[at] = lineOf(v, line)
		r.mapping(at, r.lines[at], v, into.Index(i))
	}
}
