package actors_test

import (
	"context"
	"fmt"
	"time"

	"github.com/skerryhq/skerry/actors"
)

// counter counts the requests made of one name.
type counter struct {
	name string
	n    int // used in turns only
}

// count asks a counter for its next number.
type count struct {
	reply chan string
}

func (c *counter) Receive(msg any) {
	c.n++
	msg.(count).reply <- fmt.Sprint(c.name, " ", c.n)
}

func (c *counter) Drain(actors.Reason)           {}
func (c *counter) Idle() bool                    { return true }
func (c *counter) Refuse(msg any, err error)     { msg.(count).reply <- err.Error() }
func (c *counter) Panicked(msg, _ any, _ []byte) { msg.(count).reply <- "panic" }
func (c *counter) Close(error)                   {}
func (c *counter) IdleTimeout() time.Duration    { return 0 }

func Example() {
	ctx := context.Background()
	dir, err := actors.NewDirectory(actors.Config[*counter]{
		Activate: func(_ context.Context, name string, _ *actors.Self) (*counter, error) {
			return &counter{name: name}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"boat", "pier", "boat"} {
		pin, err := dir.Pin(ctx, name)
		if err != nil {
			fmt.Println(err)
			return
		}
		m := count{reply: make(chan string, 1)}
		pin.Tell(m)
		fmt.Println(<-m.reply)
		pin.Release()
	}
	if err := dir.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// boat 1
	// pier 1
	// boat 2
}
