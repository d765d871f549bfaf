package namespace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/skerryhq/skerry/actors"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/storage"
)

// Namespace is a handle on one namespace of a runtime. It is a small value, safe
// for concurrent use, and holds nothing open: each method activates the
// namespace if need be.
type Namespace struct {
	runtime *Runtime
	name    string
}

// Name is the namespace's name.
func (n Namespace) Name() string { return n.name }

// pin holds the namespace active until it is released.
func (n Namespace) pin(ctx context.Context, verb string) (actors.Pin[*instance], error) {
	if err := CheckName(n.name); err != nil {
		return actors.Pin[*instance]{}, err
	}
	pin, err := n.runtime.directory.Pin(ctx, n.name)
	if err == nil {
		return pin, nil
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return pin, context.Cause(ctx)
	}
	var own *api.Error
	if shown := n.runtime.trouble(verb, n.name, err); errors.As(shown, &own) {
		return pin, shown
	}
	return pin, unavailable("the namespace cannot be opened").Wrapping(err)
}

// Do carries out a command and answers when its commit is durable. Cancelling
// ctx abandons the wait, not a commit that has begun. The outcome may hold
// something also beside an error.
func (n Namespace) Do(ctx context.Context, c Call) (Outcome, error) {
	if err := context.Cause(ctx); err != nil {
		return Outcome{}, err
	}
	pin, err := n.pin(ctx, "command")
	if err != nil {
		return Outcome{}, err
	}
	// Held until the answer, so that the idle timeout begins there.
	defer pin.Release()
	k := newCall(c)
	pin.Tell(k)
	return k.await(ctx, pin.Instance())
}

// core carries out one of the runtime's own commands.
func (n Namespace) core(ctx context.Context, c Command) (Outcome, error) {
	return n.Do(ctx, Call{Class: coreClass, Caller: Caller{Principal: Operator}, Command: c})
}

// Read answers a query of a class from a snapshot that holds every acknowledged
// write. A [Watching] query waits as long as it says.
func (n Namespace) Read(ctx context.Context, class string, caller Caller, q Query) (Answer, error) {
	pin, err := n.pin(ctx, "query")
	if err != nil {
		return Answer{}, err
	}
	defer pin.Release()
	i := pin.Instance()
	if caller, err = i.known(caller); err != nil {
		return Answer{}, err
	}
	host, err := i.classOf(class)
	if err != nil {
		return Answer{}, err
	}
	if w, ok := q.(Watching); ok && w.Wait() > 0 {
		return i.readWatching(ctx, host, caller, w)
	}
	return i.read(ctx, host, caller, q)
}

// known is the caller as this incarnation of the namespace knows it.
func (i *instance) known(c Caller) (Caller, error) {
	if c.incarnation != "" && c.incarnation != i.meta.incarnation {
		return c, errUnauthorized()
	}
	c.Tenant = cmp.Or(c.Tenant, c.Principal)
	return c, nil
}

// classOf finds a class by name.
func (i *instance) classOf(name string) (*classHost, error) {
	if host := i.writer.host(name); host != nil {
		return host, nil
	}
	return nil, api.Errorf(api.NotFound, "this node has no class %q", name)
}

// read answers a query once.
func (i *instance) read(ctx context.Context, host *classHost, caller Caller, q Query) (answer Answer, err error) {
	err = i.look(ctx, host, caller, func(v *View) (err error) {
		answer, err = q.Read(ctx, v)
		return err
	})
	return answer, err
}

// look runs f on a snapshot for a caller.
func (i *instance) look(ctx context.Context, host *classHost, caller Caller, f func(*View) error) error {
	if !i.keys.Load().admits(caller) {
		return errUnauthorized()
	}
	err := i.file.View(ctx, func(tx *storage.Tx) error {
		v := i.view(tx, host, caller)
		return f(&v)
	})
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return publicError(err)
}

// readWatching reads until the query has seen what it waits for. The watch
// begins before the first read, so that no change is missed between the two.
func (i *instance) readWatching(ctx context.Context, host *classHost, caller Caller, q Watching) (Answer, error) {
	w := i.hub.watch(host.class.Name, q.Topics())
	defer w.close()
	over := make(chan struct{})
	timer := i.runtime.clock.AfterFunc(q.Wait(), func() { close(over) })
	defer timer.Stop()
	for {
		answer, err := i.read(ctx, host, caller, q)
		if err != nil || !answer.Await {
			return answer, err
		}
		select {
		case <-w.changed:
		case <-over:
			return answer, nil
		case <-i.self.Draining():
			return answer, nil
		case <-ctx.Done():
			return Answer{}, context.Cause(ctx)
		}
	}
}

// Authenticate finds who bears an API key. An empty secret is the anonymous
// caller, where the namespace's settings let one in. A key that is not right,
// and a namespace that does not exist, are both unauthorized.
func (n Namespace) Authenticate(ctx context.Context, secret string) (Caller, error) {
	pin, err := n.pin(ctx, "authenticate")
	if api.IsCode(err, api.NotFound) {
		return Caller{}, errUnauthorized()
	}
	if err != nil {
		return Caller{}, err
	}
	defer pin.Release()
	i := pin.Instance()
	if secret == "" {
		if i.settings.Load().Anonymous == nil {
			return Caller{}, errUnauthorized()
		}
		return Caller{Principal: Anonymous, Tenant: Anonymous, incarnation: i.meta.incarnation}, nil
	}
	key, ok := i.keys.Load().find(secret)
	if !ok {
		return Caller{}, errUnauthorized()
	}
	return Caller{Principal: key.Principal, Tenant: key.Tenant, Roles: key.Roles, incarnation: i.meta.incarnation, key: key.ID}, nil
}

// CreateKey makes an API key. The answer is the only place where its secret ever
// stands.
func (n Namespace) CreateKey(ctx context.Context, spec api.KeySpec) (api.Key, error) {
	c, err := newCreateKey(spec)
	if err != nil {
		return api.Key{}, err
	}
	out, err := n.core(ctx, c)
	if err != nil {
		return api.Key{}, err
	}
	return Document[api.Key](out.Answer)
}

// RevokeKey ends a key: the next request that bears it is refused.
func (n Namespace) RevokeKey(ctx context.Context, id string) error {
	row, ok := ParseID("key_", id)
	if !ok {
		return api.Errorf(api.NotFound, "there is no such key")
	}
	_, err := n.core(ctx, revokeKey{id, row})
	return err
}

// Keys lists up to limit live keys in order of creation, behind the key with the
// number after (0: from the beginning), and reports whether there are more.
func (n Namespace) Keys(ctx context.Context, after int64, desc bool, limit int) ([]api.Key, bool, error) {
	q := listKeys{after: after, desc: desc, limit: limit}
	answer, err := n.Read(ctx, coreClass, Caller{Principal: Operator}, q)
	if err != nil {
		return nil, false, err
	}
	keys, err := Document[[]api.Key](answer)
	if err != nil {
		return nil, false, err
	}
	more := len(keys) > limit
	return keys[:min(len(keys), limit)], more, nil
}

// KeyNumber is the number of a key in the order of creation, as [Namespace.Keys]
// takes it.
func KeyNumber(k api.Key) int64 {
	row, _ := ParseID("key_", k.ID)
	return row
}

// listKeys reads one more than limit, to tell whether there are more.
type listKeys struct {
	after int64
	desc  bool
	limit int
}

// Read lists the keys.
func (q listKeys) Read(_ context.Context, v *View) (Answer, error) {
	sql, args := sqlListKeys, []any{q.after, q.limit + 1}
	if q.desc {
		sql, args = sqlListKeysDesc, []any{q.after, q.after, q.limit + 1}
	}
	rows, err := v.Query(sql, args...)
	if err != nil {
		return Answer{}, fmt.Errorf("list keys: %w", err)
	}
	defer rows.Close()
	keys := []api.Key{}
	for rows.Next() {
		key, err := scanKey(rows)
		if err != nil {
			return Answer{}, err
		}
		keys = append(keys, key)
	}
	return Answer{Body: keys}, rows.Err()
}

// PatchSettings changes what is named and returns the whole; null returns a
// setting to the node's value. An unknown name or bad value changes nothing.
func (n Namespace) PatchSettings(ctx context.Context, patch map[string]json.RawMessage) (api.Namespace, error) {
	if _, err := n.core(ctx, &patchSettings{patch: patch, defaults: n.runtime.defaults}); err != nil {
		return api.Namespace{}, err
	}
	return n.Describe(ctx)
}

// Describe tells what the namespace is and how it is set.
func (n Namespace) Describe(ctx context.Context) (api.Namespace, error) {
	pin, err := n.pin(ctx, "describe")
	if err != nil {
		return api.Namespace{}, err
	}
	defer pin.Release()
	i := pin.Instance()
	doc := api.Namespace{
		Name: n.name, CreatedAt: i.meta.created, Epoch: i.meta.epoch,
		Settings: i.settings.Load().JSON(), Origins: map[string]string{},
	}
	for _, name := range SettingNames() {
		doc.Origins[name] = "node"
	}
	err = i.file.View(ctx, func(tx *storage.Tx) error {
		rows, err := tx.Query(sqlReadSettings)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name, value string
			if err := rows.Scan(&name, &value); err != nil {
				return err
			}
			if _, known := doc.Origins[name]; known {
				doc.Origins[name] = "namespace"
			}
		}
		return rows.Err()
	})
	if err != nil {
		return api.Namespace{}, publicError(fmt.Errorf("read settings: %w", err))
	}
	return doc, nil
}

// Catalog is the machine-readable authority on what the namespace offers to the
// caller.
func (n Namespace) Catalog(ctx context.Context, caller Caller) (api.Catalog, error) {
	pin, err := n.pin(ctx, "catalog")
	if err != nil {
		return api.Catalog{}, err
	}
	defer pin.Release()
	s := pin.Instance().settings.Load()
	doc := api.Catalog{
		Version: n.runtime.version, Kinds: map[string]api.Kind{}, Pools: map[string]api.Pool{},
		Limits: map[string]int64{}, RetentionMs: s.RetentionMs, Services: []string{},
		Admission: api.AdmissionSettings{
			Mode: s.Mode, InitialConcurrency: s.ClaimInitialConcurrency, MaxConcurrency: s.ClaimMaxConcurrency,
			MaxPending: s.ClaimMaxPending, MaxWaitMs: s.ClaimMaxWaitMs, TargetMs: s.ClaimTargetMs,
			ClaimsPerMinute: s.ClaimsPerMinute, Anonymous: s.Anonymous,
		},
	}
	for _, c := range n.runtime.classes {
		doc.Services = append(doc.Services, c.Name)
		for name, limit := range c.Limits {
			doc.Limits[name] = limit
		}
		if c.Describe != nil {
			c.Describe(s, cmp.Or(caller.Tenant, caller.Principal), &doc)
		}
	}
	return doc, nil
}

// Backup writes a copy of the namespace's file, as of now, to path, which must
// not exist. Work goes on meanwhile. Put in the place of the file of a node that
// does not run, the copy is the namespace as it was; fencing tokens granted
// after it was made are not known to it.
func (n Namespace) Backup(ctx context.Context, path string) error {
	pin, err := n.pin(ctx, "back up")
	if err != nil {
		return err
	}
	defer pin.Release()
	if err := pin.Instance().file.Backup(ctx, path); err != nil {
		return publicError(fmt.Errorf("back up namespace: %w", err))
	}
	return nil
}

// inspect runs f in the namespace's turn.
func (n Namespace) inspect(ctx context.Context, f func(*instance)) error {
	pin, err := n.pin(ctx, "inspect")
	if err != nil {
		return err
	}
	i := pin.Instance()
	m := inspect{look: func() { f(i) }, done: make(chan error, 1)}
	pin.Tell(m)
	pin.Release()
	select {
	case err := <-m.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// milliseconds of a span in nanoseconds.
func milliseconds(ns int64) int64 { return ns / int64(time.Millisecond) }
