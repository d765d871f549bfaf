package runs

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// document is the body of a request for a run, of the right form. It is not changed
// once it was read.
type document struct {
	// size is that of the body as it was received.
	size    int
	members map[string]jsontext.Value
	kind    string
	// count is how many items there are. Of more than a run may have, only the first
	// so many are kept.
	count    int
	items    []map[string]jsontext.Value
	ids      []*string // of the items, nil where the client gave none
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
	schema := api.RunSchema
	if err := d.read(memberSchema, &schema); err != nil {
		return nil, err
	}
	if schema != api.RunSchema {
		return nil, api.Invalid(memberSchema, "the version of the document must be %s", api.RunSchema)
	}
	if err := d.read(memberKind, &d.kind); err != nil {
		return nil, err
	}
	if d.kind == "" {
		return nil, api.Invalid(memberKind, "a run must name its kind")
	}
	if err := d.readItems(); err != nil {
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
		return misshapen(member)
	}
	return nil
}

// misshapen says where in the document a value has the wrong type.
func misshapen(field string) error {
	e := api.Errorf(api.BadRequest, "the value at %s has the wrong type or form", field)
	e.Field = field
	return e
}

// readItems takes the items apart one by one, so that a body of very many small ones
// takes little more memory than one of a few.
func (d *document) readItems() error {
	var array jsontext.Value
	if err := d.read(memberItems, &array); err != nil || array == nil {
		return err
	}
	if array.Kind() != '[' {
		return misshapen(memberItems)
	}
	decoder := jsontext.NewDecoder(bytes.NewBuffer(array))
	if _, err := decoder.ReadToken(); err != nil {
		return fmt.Errorf("read items: %w", err)
	}
	for decoder.PeekKind() != ']' {
		value, err := decoder.ReadValue()
		if err != nil {
			return fmt.Errorf("read items: %w", err)
		}
		if err := d.readItem(value); err != nil {
			return err
		}
	}
	return nil
}

// readItem takes up the next item. Of one beyond the limit it only sees that it is an
// object: the run is refused anyway, and is not to cost more than one of the limit's
// size.
func (d *document) readItem(value jsontext.Value) error {
	if value.Kind() != '{' {
		return misshapen(itemField(d.count))
	}
	d.count++
	if d.count > maxItems {
		return nil
	}
	var item map[string]jsontext.Value
	if err := namespace.Decode(value, &item); err != nil {
		return misshapen(itemField(len(d.items)))
	}
	var id *string
	if given, ok := item[memberID]; ok && given.Kind() != 'n' {
		if err := namespace.Decode(given, &id); err != nil {
			return misshapen(idField(len(d.items)))
		}
	}
	d.items, d.ids = append(d.items, item), append(d.ids, id)
	return nil
}

func itemField(i int) string { return fmt.Sprintf("items[%d]", i) }

func idField(i int) string { return itemField(i) + "." + memberID }

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
