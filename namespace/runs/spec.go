package runs

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// document is the body of a request for a run, of the right form.
type document struct {
	// size is that of the body as it was received.
	size     int
	members  map[string]jsontext.Value
	kind     string
	items    []map[string]jsontext.Value
	names    []string // of the items, "" where the client gave none
	metadata []byte
}

// Members of a run's document that are not shared with its items.
const (
	memberSchema   = "schema_version"
	memberKind     = "kind"
	memberItems    = "items"
	memberMetadata = "metadata"
	memberID       = "id"
)

// readDocument reads a body. What it refuses is not of the form of a run.
func readDocument(body []byte) (*document, error) {
	d := &document{size: len(body)}
	if err := namespace.Decode(body, &d.members); err != nil {
		return nil, err
	}
	var schema string
	if err := d.read(memberSchema, &schema); err != nil {
		return nil, err
	}
	if _, given := d.members[memberSchema]; given && schema != api.RunSchema {
		return nil, api.Invalid(memberSchema, "the version of the document must be %s", api.RunSchema)
	}
	if err := d.read(memberKind, &d.kind); err != nil {
		return nil, err
	}
	if d.kind == "" {
		return nil, api.Invalid(memberKind, "a run must name its kind")
	}
	if err := d.read(memberItems, &d.items); err != nil {
		return nil, err
	}
	if err := d.readNames(); err != nil {
		return nil, err
	}
	return d, d.readMetadata()
}

// read decodes a member, if there is one; null is an absent one.
func (d *document) read(member string, into any) error {
	value, ok := d.members[member]
	if !ok || value.Kind() == 'n' {
		delete(d.members, member)
		return nil
	}
	if err := namespace.Decode(value, into); err != nil {
		return inside(member, err)
	}
	return nil
}

// inside says where in the document a value has the wrong type that was found while
// decoding the member field.
func inside(field string, err error) error {
	inner := api.AsError(err).Field
	if inner != "" && inner[0] != '[' {
		inner = "." + inner
	}
	return misshapen(field + inner)
}

func misshapen(field string) error {
	e := api.Errorf(api.BadRequest, "the value at %s has the wrong type or form", field)
	e.Field = field
	return e
}

func (d *document) readNames() error {
	d.names = make([]string, len(d.items))
	for i, item := range d.items {
		field := fmt.Sprintf("items[%d]", i)
		if item == nil {
			return misshapen(field)
		}
		value, ok := item[memberID]
		if !ok || value.Kind() == 'n' {
			delete(item, memberID)
			continue
		}
		field += "." + memberID
		if err := namespace.Decode(value, &d.names[i]); err != nil {
			return inside(field, err)
		}
		if n := utf8.RuneCountInString(d.names[i]); n < 1 || n > maxItemName {
			return api.Invalid(field, "an item's id has 1 to %d characters", maxItemName).
				With("limit", maxItemName).With("actual", n)
		}
	}
	return nil
}

func (d *document) readMetadata() error {
	var metadata map[string]jsontext.Value
	if err := d.read(memberMetadata, &metadata); err != nil {
		return err
	}
	if metadata == nil {
		metadata = map[string]jsontext.Value{}
	}
	var err error
	if d.metadata, err = encodeObject(metadata); err != nil {
		return err
	}
	if len(d.metadata) > maxMetadataBytes {
		return api.Invalid(memberMetadata, "metadata is too large").
			With("limit", maxMetadataBytes).With("actual", len(d.metadata))
	}
	return nil
}

// shared is what the document says beside the members that belong to the run.
func (d *document) shared() ([]byte, error) {
	rest := make(map[string]jsontext.Value, len(d.members))
	for name, value := range d.members {
		switch name {
		case memberSchema, memberKind, memberItems, memberMetadata:
		default:
			rest[name] = value
		}
	}
	return encodeObject(rest)
}

// payload is what an item says beside its id.
func (d *document) payload(i int) ([]byte, error) {
	rest := make(map[string]jsontext.Value, len(d.items[i]))
	for name, value := range d.items[i] {
		if name != memberID {
			rest[name] = value
		}
	}
	return encodeObject(rest)
}

// encodeObject writes an object compactly, its members in order, so that equal
// objects are equal bytes.
func encodeObject(members map[string]jsontext.Value) ([]byte, error) {
	document, err := namespace.Encode(members)
	if err != nil {
		return nil, fmt.Errorf("encode object: %w", err)
	}
	return document, nil
}
