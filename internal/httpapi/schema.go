package httpapi

import (
	"encoding/json"
	"path"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/skerryhq/skerry/api"
)

// object is a JSON object of the description; its members are sorted when it is
// encoded.
type object = map[string]any

// schemas collects the schemas of Go types, by reflection over the same tags
// that encode them. Named structs become components and are referred to.
type schemas struct {
	components object
	names      map[reflect.Type]string
}

func newSchemas() *schemas {
	return &schemas{components: object{}, names: make(map[reflect.Type]string)}
}

// written describes the types whose form on the wire their Go type does not
// show.
func (s *schemas) written(t reflect.Type) (object, bool) {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}, true
	case reflect.TypeFor[json.RawMessage]():
		return object{}, true
	case reflect.TypeFor[api.Input]():
		return object{"oneOf": []any{object{"type": "string"}, s.of(reflect.TypeFor[api.GroupInput]())}}, true
	case reflect.TypeFor[api.Role]():
		return enum(api.RoleWorker, api.RoleProducer, api.RoleAdmin), true
	case reflect.TypeFor[api.VerbState]():
		return enum(api.VerbBlocked, api.VerbReady, api.VerbLeased,
			api.VerbSucceeded, api.VerbFailed, api.VerbCancelled), true
	}
	return nil, false
}

func enum[T ~string](values ...T) object { return object{"type": "string", "enum": values} }

// of is the schema of t.
func (s *schemas) of(t reflect.Type) object {
	if o, ok := s.written(t); ok {
		return o
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.ofStruct(t)
	}
	return object{}
}

// ofStruct refers to a named struct, which it describes the first time, and
// describes any other in place.
func (s *schemas) ofStruct(t reflect.Type) object {
	if t.Name() == "" {
		return s.describe(t)
	}
	name, known := s.names[t]
	if !known {
		name = s.name(t)
		s.names[t] = name
		// The name is taken before the members are described, which may refer
		// to it.
		s.components[name] = nil
		s.components[name] = s.describe(t)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

func (s *schemas) describe(t reflect.Type) object {
	properties, required := object{}, []string{}
	s.members(t, properties, &required)
	o := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// members adds the members of t, those of embedded structs among them.
func (s *schemas) members(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			s.members(f.Type, properties, required)
			continue
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		schema := s.of(f.Type)
		if strings.Contains(options, "omit") {
			properties[name] = schema
			continue
		}
		if f.Type.Kind() == reflect.Pointer {
			schema = object{"anyOf": []any{schema, object{"type": "null"}}}
		}
		properties[name] = schema
		*required = append(*required, name)
	}
}

var typeParameter = regexp.MustCompile(`[A-Za-z0-9_./-]*[./]`)

// name is a component's name: the type's own, with its package's before it only
// where two packages have one of that name. Page[…/api.Noun] is PageNoun.
func (s *schemas) name(t reflect.Type) string {
	own := typeParameter.ReplaceAllString(t.Name(), "")
	own = strings.NewReplacer("[", "", "]", "", ",", "").Replace(own)
	name := own
	if _, taken := s.components[name]; taken {
		name = path.Base(t.PkgPath()) + "." + own
	}
	return name
}
