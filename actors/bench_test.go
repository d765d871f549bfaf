package actors_test

import (
	"context"
	"testing"
	"time"

	"github.com/skerryhq/skerry/actors"
)

// echo answers on the channel that is the message.
type echo struct{}

func (echo) Receive(msg any)             { msg.(chan struct{}) <- struct{}{} }
func (echo) Drain(actors.Reason)         {}
func (echo) Idle() bool                  { return true }
func (echo) Refuse(any, error)           {}
func (echo) Panicked(_, _ any, _ []byte) {}
func (echo) Close(error)                 {}
func (echo) IdleTimeout() time.Duration  { return 0 }

func echoes(b *testing.B) *actors.Directory[echo] {
	dir, err := actors.NewDirectory(actors.Config[echo]{
		Activate: func(context.Context, string, *actors.Self) (echo, error) { return echo{}, nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := dir.Close(); err != nil {
			b.Error(err)
		}
	})
	return dir
}

func BenchmarkPinRelease(b *testing.B) {
	dir := echoes(b)
	b.ReportAllocs()
	for b.Loop() {
		p, err := dir.Pin(b.Context(), "a")
		if err != nil {
			b.Fatal(err)
		}
		p.Release()
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	dir := echoes(b)
	reply := make(chan struct{}, 1)
	b.ReportAllocs()
	for b.Loop() {
		p, err := dir.Pin(b.Context(), "a")
		if err != nil {
			b.Fatal(err)
		}
		p.Tell(reply)
		<-reply
		p.Release()
	}
}

func BenchmarkRoundTripParallel(b *testing.B) {
	dir := echoes(b)
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		reply := make(chan struct{}, 1)
		for pb.Next() {
			p, err := dir.Pin(b.Context(), "a")
			if err != nil {
				b.Error(err)
				return
			}
			p.Tell(reply)
			<-reply
			p.Release()
		}
	})
}
