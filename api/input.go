package api

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Input is an input that a verb asks for: a noun's key (Key set, as "in/text"
// or "in/text@2"), or a whole attempt group (Group set). On the wire the first
// is a string and the second an object.
type Input struct {
	Key   string
	Group *GroupInput
}

// MarshalJSON writes a string or an object.
func (i Input) MarshalJSON() ([]byte, error) {
	if i.Group != nil {
		return json.Marshal(i.Group)
	}
	return json.Marshal(i.Key)
}

// UnmarshalJSON reads a string or an object with the members group and min, and
// refuses any other member.
func (i *Input) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	*i = Input{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &i.Key)
	}
	if len(data) == 0 || data[0] != '{' {
		return errors.New("an input is a noun's key or an object with a group")
	}
	// Member by member: decoded as a whole, "Group" would pass for "group".
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	i.Group = new(GroupInput)
	for name, value := range members {
		var err error
		switch name {
		case "group":
			err = json.Unmarshal(value, &i.Group.Group)
		case "min":
			err = json.Unmarshal(value, &i.Group.Min)
		default:
			err = errors.New("a group as an input has no members but group and min")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON writes the verb or the group.
func (e VerbEntry) MarshalJSON() ([]byte, error) {
	if e.Group != nil {
		return json.Marshal(e.Group)
	}
	return json.Marshal(e.Verb)
}

// UnmarshalJSON reads a group if there is a member verbs, which no verb has, and
// a verb otherwise.
func (e *VerbEntry) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	*e = VerbEntry{}
	if _, isGroup := members["verbs"]; isGroup {
		e.Group = new(VerbGroup)
		return json.Unmarshal(data, e.Group)
	}
	e.Verb = new(Verb)
	return json.Unmarshal(data, e.Verb)
}
