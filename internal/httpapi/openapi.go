package httpapi

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// describe is the OpenAPI 3.1 document of the routes. It is generated from the
// table that the router is mounted from.
func describe(routes []*route, version string) ([]byte, error) {
	s := newSchemas()
	paths := object{}
	for _, t := range routes {
		p := variable.ReplaceAllString(t.path, "{$1}")
		item, _ := paths[p].(object)
		if item == nil {
			item = object{}
			paths[p] = item
		}
		item[strings.ToLower(t.method)] = t.operation(s)
	}
	if version == "" {
		version = "unknown"
	}
	failure := s.of(reflect.TypeFor[api.ErrorBody]())
	return namespace.Encode(object{
		"openapi": "3.1.0",
		"info": object{
			"title":   "Skerry",
			"version": version,
			"description": "Times are RFC 3339 in UTC; durations are integers in milliseconds whose names end in _ms. " +
				"Programs decide by an error's code; its message is for people.",
		},
		"paths": paths,
		"components": object{
			"schemas": s.components,
			"responses": object{
				"Error": object{
					"description": "The request failed.",
					"headers":     object{api.HeaderRequestID: header("The request's identity in the server's log")},
					"content":     content(mediaJSON, failure),
				},
				"Later": object{
					"description": "The request was refused for now; it may be sent again.",
					"headers": object{
						api.HeaderRequestID: header("The request's identity in the server's log"),
						"Retry-After":       header("Whole seconds to wait, at least 1"),
					},
					"content": content(mediaJSON, failure),
				},
			},
			"securitySchemes": object{
				"bearer": object{"type": "http", "scheme": "bearer"},
				"apiKey": object{"type": "apiKey", "in": "header", "name": api.HeaderAPIKey},
			},
		},
	})
}

// operation describes one route.
func (t *route) operation(s *schemas) object {
	o := object{
		"summary":    t.summary,
		"security":   t.security(),
		"responses":  t.responses(s),
		"parameters": t.parameters(),
	}
	if t.in != nil {
		o["requestBody"] = object{"content": content(mediaJSON, s.of(reflect.TypeOf(t.in)))}
	}
	switch t.access {
	case member:
		roles := []string{string(api.RoleAdmin)}
		for _, role := range t.roles {
			if role != api.RoleAdmin {
				roles = append(roles, string(role))
			}
		}
		o["description"] = "For keys of the namespace with one of the roles " + strings.Join(roles, ", ") + "."
	case operatorOrAdmin:
		o["description"] = "For the operator's key, and for keys of the namespace with the role admin."
	case operatorOnly:
		o["description"] = "For the operator's key."
	}
	return o
}

// security lists the alternatives; the empty one is no key.
func (t *route) security() []any {
	if t.access == open {
		return []any{}
	}
	alternatives := []any{object{"bearer": []string{}}, object{"apiKey": []string{}}}
	if t.anonymous {
		alternatives = append(alternatives, object{})
	}
	return alternatives
}

func (t *route) responses(s *schemas) object {
	success := object{"description": "Success."}
	switch {
	case t.media != "":
		success["content"] = content(t.media, object{})
	case t.out != nil:
		success["content"] = content(mediaJSON, s.of(reflect.TypeOf(t.out)))
	}
	if t.streams {
		media, _ := success["content"].(object)
		if media == nil {
			media = object{}
			success["content"] = media
		}
		media[mediaEvents] = object{"schema": object{
			"type": "string",
			"description": "Server-sent events, for who names the media type in Accept: they go on as there is more, " +
				"with a comment at least every 15 s.",
		}}
	}
	responses := object{
		strconv.Itoa(t.success()): success,
		"503":                     reference("responses", "Later"),
		"default":                 reference("responses", "Error"),
	}
	if t.below() {
		responses["429"] = reference("responses", "Later")
	}
	if t.method == http.MethodPut {
		responses["201"] = success
	}
	return responses
}

func (t *route) parameters() []any {
	parameters := []any{}
	for _, v := range variable.FindAllStringSubmatch(t.path, -1) {
		p := object{"name": v[1], "in": "path", "required": true, "schema": object{"type": "string"}}
		switch {
		case v[1] == "namespace":
			p["schema"] = object{"type": "string", "pattern": "^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$"}
		case v[2] != "":
			p["description"] = "May hold slashes, as they are or encoded."
		}
		parameters = append(parameters, p)
	}
	for _, q := range t.params {
		parameters = append(parameters, object{
			"name": q.Name, "in": "query", "description": q.Summary, "schema": object{"type": "string"},
		})
	}
	if t.key != keyIgnored {
		use := "A repetition under the same key gets the first answer again."
		if t.key == keyChecked {
			use = "Of no effect: nothing is changed here, and a repetition is answered anew."
		}
		parameters = append(parameters, object{
			"name": api.HeaderIdempotencyKey, "in": "header", "required": t.key == keyRequired,
			"description": use,
			"schema":      object{"type": "string", "minLength": 1, "maxLength": 255},
		})
	}
	if t.streams {
		parameters = append(parameters, object{
			"name": headerLastEventID, "in": "header",
			"description": "The id of the last event that was received, to go on behind it.",
			"schema":      object{"type": "string", "maxLength": 255},
		})
	}
	return parameters
}

func content(media string, schema object) object { return object{media: object{"schema": schema}} }

func reference(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }

func header(description string) object {
	return object{"description": description, "schema": object{"type": "string"}}
}
