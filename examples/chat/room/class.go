package room

import (
	"embed"
	"io/fs"
	"net/http"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

//go:embed migrations/*.sql
var migrations embed.FS

// className is the prefix of the tables, and how calls name the class.
const className = "chat"

// Class makes the class. Rooms in which nobody has spoken for idle are closed.
func Class(idle time.Duration) namespace.Class {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is constant and valid
	}
	return namespace.Class{
		Name:       className,
		Migrations: files,
		New:        func() any { return &caretaker{idle} }, // once for each activation of a namespace
		Routes: []namespace.Route{
			{
				Method: http.MethodPost, Path: "/rooms/{room}/messages", Summary: "Say something in a room",
				Roles: []api.Role{api.RoleWorker, api.RoleProducer}, In: Said{}, Out: Posted{}, Status: http.StatusCreated,
				// A route turns a request into a command, and checks its shape. Whether
				// the caller may has been seen to already.
				Command: func(r *namespace.Request) (namespace.Command, error) {
					var said Said
					if err := r.Decode(&said); err != nil {
						return nil, err
					}
					return NewPost(r.Path["room"], said.Text)
				},
			},
			{
				Method: http.MethodGet, Path: "/rooms/{room}/messages", Summary: "Read a room, or wait for somebody to speak",
				Roles: []api.Role{api.RoleWorker, api.RoleProducer}, Out: Messages{},
				Params: []namespace.Param{
					{Name: "after", Summary: "only messages with a greater number"},
					{Name: "wait_ms", Summary: "how long to wait if there are none, up to 30,000"},
				},
				Query: func(r *namespace.Request) (namespace.Query, error) {
					after, err := r.After()
					if err != nil {
						return nil, err
					}
					wait, err := r.WaitMs()
					return Listen{Room: r.Path["room"], After: after, For: wait}, err
				},
			},
		},
	}
}
