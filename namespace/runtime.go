package namespace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skerryhq/skerry/actors"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/storage"
)

// Options configure a [Runtime]. The zero value is a runtime without classes.
type Options struct {
	// Classes are the plug-ins that every namespace of the runtime has.
	Classes []Class
	// Defaults are the node's settings; nil means [DefaultSettings].
	Defaults *Settings
	// MaxActive bounds the active namespaces; 0 means 10,000. It is lowered to
	// what the process's descriptor limit allows.
	MaxActive int
	// Clock is the one source of time; nil means the system's.
	Clock actors.Clock
	// Logger gets what an operator should know; nil discards it.
	Logger *slog.Logger
	// Version is shown in the catalog.
	Version string
	// VFS names a registered SQLite VFS; empty means the default one.
	VFS string
}

// Runtime holds a data directory and the namespaces in it. It is safe for
// concurrent use.
type Runtime struct {
	store      *storage.Store
	directory  *actors.Directory[*instance]
	clock      actors.Clock
	log        *slog.Logger
	defaults   Settings
	classes    []Class
	hosted     []*Class // the core first
	migrations []storage.Line
	version    string
	maxActive  int
	names      registry
	quotas     quotaShelf
	attendants attendants

	activations, passivations atomic.Int64
	draining                  atomic.Bool

	closing  sync.Once
	closeErr error
}

var className = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// Open takes the data directory, which is made if it is absent, and finds the
// namespaces in it. None is activated but those that a crash left open, or whose
// alarm is due.
func Open(ctx context.Context, dir string, o Options) (*Runtime, error) {
	r := &Runtime{clock: o.Clock, log: o.Logger, classes: slices.Clone(o.Classes), version: o.Version, defaults: DefaultSettings()}
	if r.clock == nil {
		r.clock = actors.SystemClock()
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if o.Defaults != nil {
		r.defaults = *o.Defaults
	}
	if err := r.defaults.Validate(); err != nil {
		return nil, fmt.Errorf("check settings: %w", err)
	}
	if err := r.host(); err != nil {
		return nil, err
	}
	r.maxActive = MaxActive(o.MaxActive)
	store, err := storage.Open(dir, storage.Options{Logger: r.log, VFS: o.VFS, Now: r.clock.Now})
	if err != nil {
		return nil, fmt.Errorf("open data directory: %w", err)
	}
	r.store = store
	if err := r.start(ctx); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return r, nil
}

// host checks the classes and lines them up behind the core.
func (r *Runtime) host() error {
	r.hosted = []*Class{{Name: coreClass}}
	seen := map[string]bool{coreClass: true}
	for n := range r.classes {
		c := &r.classes[n]
		if !className.MatchString(c.Name) || seen[c.Name] {
			return fmt.Errorf("class %q: a name is lower-case letters and digits, unique, and not %q", c.Name, coreClass)
		}
		seen[c.Name] = true
		r.hosted = append(r.hosted, c)
	}
	var err error
	r.migrations, err = r.lines()
	return err
}

func coreMigrations() (fs.FS, error) {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return sub, nil
}

// start lists what is on disk and begins to route.
func (r *Runtime) start(ctx context.Context) error {
	directory, err := actors.NewDirectory(actors.Config[*instance]{
		Clock: r.clock, Logger: r.log, Activate: r.activate, MaxActive: r.maxActive,
		IdleTimeout: time.Duration(r.defaults.IdleTimeoutMs) * time.Millisecond,
	})
	if err != nil {
		return fmt.Errorf("start directory: %w", err)
	}
	r.directory = directory
	r.attendants.open()
	for info, err := range r.store.Files() {
		if err != nil && info.Name != "" {
			// This namespace cannot be opened; the others can.
			r.log.Error("namespace trouble", slog.String("during", "list"), slog.String("namespace", info.Name), slog.Any("error", err))
			r.names.put(info.Name)
			continue
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return errors.Join(fmt.Errorf("list namespaces: %w", err), r.closeNow())
		}
		r.names.put(info.Name)
		switch {
		case !info.Clean:
			// It was open when the process died: only its file knows its alarm.
			directory.Wake(info.Name, r.clock.Now())
		case !info.Wake.IsZero():
			directory.Wake(info.Name, info.Wake)
		}
	}
	return nil
}

// Classes are the plug-ins of the runtime.
func (r *Runtime) Classes() []Class { return slices.Clone(r.classes) }

// Version is that of [Options].
func (r *Runtime) Version() string { return r.version }

// Clock is the runtime's source of time.
func (r *Runtime) Clock() actors.Clock { return r.clock }

// Defaults are the node's settings.
func (r *Runtime) Defaults() Settings { return r.defaults }

// Namespace is a handle on a namespace by name. It checks nothing and activates
// nothing.
func (r *Runtime) Namespace(name string) Namespace { return Namespace{r, name} }

// Create makes a namespace and reports whether it did; it is no error if there
// is one of that name.
func (r *Runtime) Create(ctx context.Context, name string) (created bool, err error) {
	if err := CheckName(name); err != nil {
		return false, err
	}
	// One that is there already is not drained for this.
	if exists, err := r.store.Exists(name); err != nil || exists {
		if err != nil {
			err = r.trouble("create", name, err)
		}
		return false, err
	}
	err = r.directory.Exclusive(ctx, name, actors.ReasonEvicted, func(ctx context.Context) error {
		exists, err := r.store.Exists(name)
		if err != nil || exists {
			return err
		}
		if err := r.createFile(ctx, name); err != nil {
			return err
		}
		created = true
		r.names.put(name)
		return nil
	})
	if err != nil {
		return false, r.trouble("create", name, err)
	}
	return created, nil
}

// Delete removes a namespace with all it holds: new requests are refused at
// once, what is committing is finished, what is parked ends. A later namespace
// of the name is a new one.
func (r *Runtime) Delete(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	err := r.directory.Exclusive(ctx, name, actors.ReasonRemoved, func(ctx context.Context) error {
		exists, err := r.store.Exists(name)
		if err != nil {
			return err
		}
		if !exists {
			return errNoNamespace()
		}
		if err := r.store.Remove(ctx, name); err != nil {
			return err
		}
		r.names.drop(name)
		r.quotas.take(name)
		r.directory.Wake(name, time.Time{})
		return nil
	})
	if err != nil {
		return r.trouble("delete", name, err)
	}
	return nil
}

// List gives up to limit namespaces by name, behind the name after, and whether
// there are more.
func (r *Runtime) List(_ context.Context, after string, desc bool, limit int) ([]api.NamespaceRef, bool, error) {
	names, more := r.names.page(after, desc, limit)
	refs := make([]api.NamespaceRef, len(names))
	for n, name := range names {
		_, active := r.directory.Lookup(name)
		refs[n] = api.NamespaceRef{Name: name, Active: active}
	}
	return refs, more, nil
}

// Draining reports that Shutdown has begun.
func (r *Runtime) Draining() bool { return r.draining.Load() }

// Shutdown drains: attendants of classes come to their end, new work is refused,
// what is parked is answered, commits are finished, files are closed. When ctx
// ends, what is left is closed at once. Leases and all else that is in files
// survive. It may be called again, and beside Close.
func (r *Runtime) Shutdown(ctx context.Context) error {
	r.draining.Store(true)
	r.attendants.stop(ctx, r.classes)
	err := r.directory.Shutdown(ctx)
	return errors.Join(err, r.closeStore())
}

// Close stops at once, without a drain. Nothing acknowledged is lost.
func (r *Runtime) Close() error {
	r.draining.Store(true)
	err := r.closeNow()
	return errors.Join(err, r.closeStore())
}

// closeNow ends attendants and activations without a drain.
func (r *Runtime) closeNow() error {
	atOnce, cancel := context.WithCancel(context.Background())
	cancel()
	r.attendants.stop(atOnce, r.classes)
	return r.directory.Close()
}

func (r *Runtime) closeStore() error {
	r.closing.Do(func() { r.closeErr = r.store.Close() })
	return r.closeErr
}

// CheckName holds a namespace's name to [a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?.
func CheckName(name string) error {
	if err := storage.ValidName(name); err != nil {
		return api.Errorf(api.InvalidNamespace,
			"a namespace's name is 1 to 63 of a-z, 0-9, '.', '_', '-', and begins and ends with a letter or digit").Wrapping(err)
	}
	return nil
}

func errNoNamespace() error { return api.Errorf(api.NotFound, "there is no such namespace") }

// trouble turns an error of the layers below into one to show, and logs what
// must not be shown.
func (r *Runtime) trouble(verb, name string, err error) error {
	shown := publicError(err)
	switch {
	case errors.Is(err, storage.ErrNotExist):
		shown = errNoNamespace()
	case errors.Is(err, actors.ErrShuttingDown):
		shown = errShuttingDown(err)
	case errors.Is(err, storage.ErrNewerSchema):
		shown = unavailable("the namespace's file was written by a newer version").Wrapping(err)
	case errors.Is(err, storage.ErrCorrupt):
		shown = unavailable("the namespace's file cannot be read").Wrapping(err)
	}
	if e := api.AsError(shown); e.Code.Status() >= 500 && e.Code != api.ShuttingDown {
		r.log.Error("namespace trouble", slog.String("during", verb), slog.String("namespace", name), slog.Any("error", err))
	}
	if api.AsError(shown).Code == api.Internal {
		return fmt.Errorf("%s namespace: %w", verb, err)
	}
	return shown
}
