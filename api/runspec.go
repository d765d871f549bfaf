package api

import (
	"encoding/json"
	"errors"
	"fmt"
)

// MarshalJSON writes the document with the shared members beside the others.
func (s RunSpec) MarshalJSON() ([]byte, error) {
	members := make(map[string]any, len(s.Shared)+4)
	for name, value := range s.Shared {
		switch name {
		case "schema_version", "kind", "items", "metadata":
			return nil, fmt.Errorf("marshal run: %s is not for shared members", name)
		}
		members[name] = value
	}
	members["schema_version"] = RunSchema
	if s.SchemaVersion != "" {
		members["schema_version"] = s.SchemaVersion
	}
	members["kind"] = s.Kind
	members["items"] = s.Items
	if s.Items == nil {
		members["items"] = []RunItemSpec{}
	}
	members["metadata"] = s.Metadata
	if s.Metadata == nil {
		members["metadata"] = struct{}{}
	}
	return json.Marshal(members)
}

// UnmarshalJSON reads a document; what it does not name goes to Shared.
func (s *RunSpec) UnmarshalJSON(data []byte) error {
	*s = RunSpec{}
	if err := json.Unmarshal(data, &s.Shared); err != nil {
		return err
	}
	for name, target := range map[string]any{
		"schema_version": &s.SchemaVersion, "kind": &s.Kind, "items": &s.Items, "metadata": &s.Metadata,
	} {
		if value, ok := s.Shared[name]; ok {
			if err := json.Unmarshal(value, target); err != nil {
				return fmt.Errorf("unmarshal run: %s: %w", name, err)
			}
			delete(s.Shared, name)
		}
	}
	return nil
}

// MarshalJSON writes the payload's members beside the id.
func (s RunItemSpec) MarshalJSON() ([]byte, error) {
	if _, ok := s.Payload["id"]; ok {
		return nil, errors.New("marshal item: id is not for payloads")
	}
	members := make(map[string]any, len(s.Payload)+1)
	for name, value := range s.Payload {
		members[name] = value
	}
	if s.ID != "" {
		members["id"] = s.ID
	}
	return json.Marshal(members)
}

// UnmarshalJSON reads an item; what stands beside its id is its payload.
func (s *RunItemSpec) UnmarshalJSON(data []byte) error {
	*s = RunItemSpec{}
	if err := json.Unmarshal(data, &s.Payload); err != nil {
		return err
	}
	if id, ok := s.Payload["id"]; ok {
		if err := json.Unmarshal(id, &s.ID); err != nil {
			return fmt.Errorf("unmarshal item: id: %w", err)
		}
		delete(s.Payload, "id")
	}
	return nil
}
