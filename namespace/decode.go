package namespace

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
)

// Decode reads a JSON document into v: one value in UTF-8, no duplicate and no
// unknown member, nothing behind it. An empty body is {}, but null is no
// document. Its errors are bad_request errors that name the place and never
// quote the document.
func Decode(body []byte, v any) error {
	if len(body) == 0 {
		body = []byte("{}")
	}
	if err := json.Unmarshal(body, v, json.RejectUnknownMembers(true)); err != nil {
		return decodeError(err)
	}
	// The decoder takes null for the zero value of anything. Inside a document
	// that is an absent member; a whole one would be a command nobody gave.
	if jsontext.Value(body).Kind() == 'n' {
		return api.Errorf(api.BadRequest, "the value at %s has the wrong type or form", orRoot(""))
	}
	return nil
}

func decodeError(err error) error {
	var own *api.Error
	if errors.As(err, &own) {
		return own
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		field := fieldPath(semantic.JSONPointer)
		e := api.Errorf(api.BadRequest, "the value at %s has the wrong type or form", orRoot(field))
		if errors.Is(err, json.ErrUnknownName) {
			e = api.Errorf(api.BadRequest, "there is no field %s here", orRoot(field))
		}
		e.Field = field
		return e
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			field := fieldPath(syntactic.JSONPointer)
			e := api.Errorf(api.BadRequest, "the field %s stands twice", orRoot(field))
			e.Field = field
			return e
		}
		return api.Errorf(api.BadRequest, "the body is not one JSON document in UTF-8 (byte %d)", syntactic.ByteOffset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return api.Errorf(api.BadRequest, "the body is not one JSON document in UTF-8: it ends too early")
	}
	return api.Errorf(api.BadRequest, "the body is not one JSON document in UTF-8")
}

// Encode writes v as it is sent and stored: compact, map members in order, so
// that equal documents are equal bytes.
func Encode(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true), jsontext.EscapeForHTML(false))
}

// Canonical rewrites a JSON document by the rules of RFC 8785, over which
// digests are taken.
func Canonical(document []byte) ([]byte, error) {
	v := jsontext.Value(append([]byte(nil), document...))
	if err := v.Canonicalize(); err != nil {
		return nil, err
	}
	return v, nil
}

// fieldPath turns a JSON pointer into the form that errors use: a[3].b.
func fieldPath(p jsontext.Pointer) string {
	var path string
	for token := range p.Tokens() {
		switch {
		case isIndex(token):
			path += "[" + token + "]"
		case path == "":
			path = token
		default:
			path += "." + token
		}
	}
	const most = 200
	if len(path) > most {
		path = path[:most]
	}
	return path
}

func isIndex(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

func orRoot(field string) string {
	if field == "" {
		return "the top"
	}
	return field
}
