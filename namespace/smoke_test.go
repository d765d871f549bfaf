package namespace_test

import (
	"context"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

type add struct {
	n    int
	wait time.Duration
}

func (a add) Apply(t *namespace.Turn) (namespace.Answer, error) {
	var v int64
	if _, err := t.QueryRow(`UPDATE c_v SET v = v + ? RETURNING v`, []any{a.n}, &v); err != nil {
		return namespace.Answer{}, err
	}
	t.Signal("more", 1)
	return namespace.Answer{Status: 201, Body: v}, nil
}

type take struct{ wait time.Duration }

func (a take) Wait() time.Duration { return a.wait }
func (a take) Apply(t *namespace.Turn) (namespace.Answer, error) {
	var v int64
	ok, err := t.QueryRow(`UPDATE c_v SET v = v - 1 WHERE v > 0 RETURNING v`, nil, &v)
	if err != nil {
		return namespace.Answer{}, err
	}
	if !ok {
		t.Park("more")
		return namespace.Answer{Body: int64(-1), NoEffect: true}, nil
	}
	f, err := t.Fence()
	return namespace.Answer{Body: f}, err
}

func TestSmoke(t *testing.T) {
	class := namespace.Class{Name: "c", Migrations: fstest.MapFS{"001_c.sql": {Data: []byte(`CREATE TABLE c_v (v INTEGER NOT NULL) STRICT; INSERT INTO c_v VALUES (0);`)}}}
	ctx := context.Background()
	dir := t.TempDir()
	r, err := namespace.Open(ctx, dir, namespace.Options{Classes: []namespace.Class{class}})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Create(ctx, "a"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	n := r.Namespace("a")
	me := namespace.Caller{Principal: "me"}
	out, err := n.Do(ctx, namespace.Call{Class: "c", Caller: me, Command: add{n: 1}, Idempotency: namespace.Idempotency{Key: "k", Scope: "x"}})
	t.Log(out, err)
	out, err = n.Do(ctx, namespace.Call{Class: "c", Caller: me, Command: add{n: 1}, Idempotency: namespace.Idempotency{Key: "k", Scope: "x"}})
	t.Log(out, err)
	for range 2 {
		out, err = n.Do(ctx, namespace.Call{Class: "c", Caller: me, Command: take{}})
		t.Log(out, err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		out, err := n.Do(ctx, namespace.Call{Class: "c", Caller: me, Command: take{wait: 10 * time.Second}, Idempotency: namespace.Idempotency{Key: "k2", Scope: "x"}})
		t.Log(out, err)
	})
	st, err := n.Admission(ctx, namespace.Caller{Principal: "me", Roles: []api.Role{api.RoleAdmin}})
	t.Log(st, err)
	out, err = n.Do(ctx, namespace.Call{Class: "c", Caller: me, Command: add{n: 1}})
	t.Log(out, err)
	wg.Wait()
	k, err := n.CreateKey(ctx, api.KeySpec{Principal: "p", Roles: []api.Role{api.RoleWorker}})
	t.Log(k, err)
	t.Log(n.Authenticate(ctx, k.Secret))
	t.Log(n.Authenticate(ctx, "x"))
	t.Log(n.Describe(ctx))
	t.Log(r.Ready(ctx))
	if err := r.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	r, err = namespace.Open(ctx, dir, namespace.Options{Classes: []namespace.Class{class}})
	if err != nil {
		t.Fatal(err)
	}
	n = r.Namespace("a")
	t.Log(n.Authenticate(ctx, k.Secret))
	t.Log(n.Catalog(ctx))
	t.Log(r.Delete(ctx, "a"))
	t.Log(n.Authenticate(ctx, k.Secret))
	t.Log(r.Close())
}
