package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// The values that a zero field of Config stands for.
const (
	defaultIdleTimeout         = time.Minute
	defaultMaxActive           = 10_000
	defaultWakeConcurrency     = 8
	defaultActivateConcurrency = 16
	defaultCloseTimeout        = 5 * time.Second
)

// Config holds what a Directory needs. Only Activate is required.
type Config[T Instance] struct {
	// Clock is the source of time; nil means SystemClock().
	Clock Clock
	// Logger receives panics and failed wake-ups; nil discards them.
	Logger *slog.Logger
	// Activate makes the instance of a name. It runs outside any turn and may
	// block on disk. ctx has no caller's deadline; it ends when the directory
	// begins to shut down, and when Activate returns. The instance may be told
	// messages through self at once; it receives them after Activate has
	// returned. When Activate returns an error it must have released
	// everything, and what self was told is dropped.
	Activate func(ctx context.Context, name string, self *Self) (T, error)
	// IdleTimeout is how long an instance may be without use, and idle, before
	// it is passivated. Zero means 1 minute, a negative value never.
	IdleTimeout time.Duration
	// MaxActive is how many instances may be active. When there are more, the
	// least recently used drain. Zero means 10,000.
	MaxActive int
	// WakeConcurrency is how many activations wake-ups may have in course.
	// Zero means 8.
	WakeConcurrency int
	// ActivateConcurrency is how many activations may be in course, how far
	// Len may exceed MaxActive while evicted instances drain, and how many
	// instances Shutdown closes at a time. Zero means 16.
	ActivateConcurrency int
	// CloseTimeout is how long Close, and Shutdown once its context has ended,
	// wait for turns and calls of Instance.Close that are in course. Zero means
	// 5 seconds.
	CloseTimeout time.Duration
}

// withDefaults returns the configuration with its zero fields filled in.
func (c Config[T]) withDefaults() (Config[T], error) {
	if c.Activate == nil {
		return c, errors.New("configure directory: no Activate")
	}
	if c.Clock == nil {
		c.Clock = SystemClock()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = defaultIdleTimeout
	}
	if c.CloseTimeout == 0 {
		c.CloseTimeout = defaultCloseTimeout
	}
	if c.CloseTimeout < 0 {
		return c, errors.New("configure directory: negative CloseTimeout")
	}
	for _, f := range []struct {
		name string
		n    *int
		def  int
	}{
		{"MaxActive", &c.MaxActive, defaultMaxActive},
		{"WakeConcurrency", &c.WakeConcurrency, defaultWakeConcurrency},
		{"ActivateConcurrency", &c.ActivateConcurrency, defaultActivateConcurrency},
	} {
		if *f.n < 0 {
			return c, fmt.Errorf("configure directory: negative %s", f.name)
		}
		if *f.n == 0 {
			*f.n = f.def
		}
	}
	return c, nil
}
