// Command chat embeds Skerry with a class of its own, chat rooms, and lets two
// people talk. With -listen it then serves the rooms over HTTP until it is
// interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"time"

	"github.com/skerryhq/skerry"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/examples/chat/room"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("chat", flag.ContinueOnError)
	dir := flags.String("data", "chat-data", "directory of the namespaces' files")
	listen := flags.String("listen", "", "address to serve HTTP at, such as localhost:8080")
	if err := flags.Parse(args); err != nil {
		return err
	}
	rt, err := skerry.Open(ctx, *dir, skerry.Options{Classes: []skerry.Class{room.Class(24 * time.Hour)}})
	if err != nil {
		return err
	}
	defer rt.Close()
	if _, err := rt.Create(ctx, "club"); err != nil {
		return err
	}
	if err := talk(ctx, rt.Namespace("club"), out); err != nil {
		return err
	}
	if *listen == "" {
		return nil
	}
	return serve(ctx, rt, *listen, out)
}

// talk lets Bob listen while Alice speaks.
func talk(ctx context.Context, club skerry.Namespace, out io.Writer) error {
	lobby, alice, bob := room.In(club, "lobby"), skerry.Caller{Principal: "alice"}, skerry.Caller{Principal: "bob"}
	posted, err := lobby.Post(ctx, alice, "Anybody here?")
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() {
		_, err := lobby.Post(ctx, bob, "Always.")
		failed <- err
	}()
	heard, err := lobby.Listen(ctx, alice, room.Listen{After: posted.Number, For: 10 * time.Second})
	if err != nil {
		return err
	}
	for _, m := range heard {
		fmt.Fprintf(out, "%d %s: %s\n", m.Number, m.By, m.Text)
	}
	return <-failed
}

// serve makes a key and serves.
func serve(ctx context.Context, rt *skerry.Runtime, address string, out io.Writer) error {
	key, err := rt.Namespace("club").CreateKey(ctx, api.KeySpec{Principal: "guest", Roles: []api.Role{api.RoleProducer}})
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "curl -H 'x-api-key: %s' 'http://%s/ns/club/api/v2/rooms/lobby/messages?after=0'\n", key.Secret, listener.Addr())
	return rt.Serve(ctx, skerry.ServeOptions{Listener: listener})
}
