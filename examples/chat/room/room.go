package room

import (
	"context"

	"github.com/skerryhq/skerry/namespace"
)

// Room is a chat room in process, without HTTP. It is a small value, safe for
// concurrent use.
type Room struct {
	ns   namespace.Namespace
	name string
}

// In is the room of that name in a namespace whose runtime has the class.
func In(ns namespace.Namespace, name string) Room { return Room{ns, name} }

// Post says something as the caller, and returns when it is durable.
func (r Room) Post(ctx context.Context, caller namespace.Caller, text string) (Posted, error) {
	command, err := NewPost(r.name, text)
	if err != nil {
		return Posted{}, err
	}
	out, err := r.ns.Do(ctx, namespace.Call{Class: className, Caller: caller, Command: command})
	if err != nil {
		return Posted{}, err
	}
	return namespace.Document[Posted](out.Answer)
}

// Listen reads what was said behind the message with the number after, or waits
// for the next as the query says.
func (r Room) Listen(ctx context.Context, caller namespace.Caller, q Listen) ([]Message, error) {
	q.Room = r.name
	answer, err := r.ns.Read(ctx, className, caller, q)
	if err != nil {
		return nil, err
	}
	found, err := namespace.Document[Messages](answer)
	return found.Messages, err
}
