package namespace_test

import (
	"context"
	"testing/fstest"
	"time"

	"github.com/skerryhq/skerry/namespace"
)

// act is a command that does what a test says.
type act func(t *namespace.Turn) (namespace.Answer, error)

func (a act) Apply(t *namespace.Turn) (namespace.Answer, error) { return a(t) }

// admitted is a command that passes admission and may be parked.
type admitted struct {
	wait time.Duration
	act
}

func (a admitted) Wait() time.Duration { return a.wait }

func (admitted) PassesAdmission() {}

// laned is a command with a lane of its own.
type laned struct {
	lane namespace.Lane
	act
}

func (l laned) Lane() namespace.Lane { return l.lane }

// ask is a query that does what a test says.
type ask func(ctx context.Context, v *namespace.View) (namespace.Answer, error)

func (a ask) Read(ctx context.Context, v *namespace.View) (namespace.Answer, error) { return a(ctx, v) }

// memory is the memory of the class depot, with the powers that a test gives it.
type memory struct{ powers *powers }

type powers struct {
	activate, alarm func(*namespace.Turn) error
	rolledBack      func(*namespace.View) error
}

func (m *memory) Activate(t *namespace.Turn) error {
	if m.powers.activate == nil {
		return nil
	}
	return m.powers.activate(t)
}

func (m *memory) Alarm(t *namespace.Turn) error {
	if m.powers.alarm == nil {
		return nil
	}
	return m.powers.alarm(t)
}

func (m *memory) RolledBack(v *namespace.View) error {
	if m.powers.rolledBack == nil {
		return nil
	}
	return m.powers.rolledBack(v)
}

// depot is the class of these tests: items of some kind, which are put in and
// taken out, oldest first.
func depot(p *powers) namespace.Class {
	if p == nil {
		p = &powers{}
	}
	return namespace.Class{
		Name: "depot",
		Migrations: fstest.MapFS{"001_depot.sql": {Data: []byte(`CREATE TABLE depot_item (
			id INTEGER PRIMARY KEY, kind TEXT NOT NULL, holder TEXT, fence INTEGER) STRICT;`)}},
		New:    func() any { return &memory{p} },
		Limits: map[string]int64{"items": 7},
	}
}

// put stores n items, tells of them, and answers with the number of the last.
func put(kind string, n int) act {
	return func(t *namespace.Turn) (namespace.Answer, error) {
		var id int64
		for range n {
			if _, err := t.QueryRow(`INSERT INTO depot_item (kind) VALUES (?) RETURNING id`, []any{kind}, &id); err != nil {
				return namespace.Answer{}, err
			}
		}
		t.Signal(kind, n)
		return namespace.Answer{Status: 201, Body: id}, nil
	}
}

// nothing is what take answers if there was nothing.
const nothing = int64(-1)

// take takes the oldest item of a kind and answers with its number, or waits
// for one.
func take(kind string, wait time.Duration) admitted {
	return admitted{wait, func(t *namespace.Turn) (namespace.Answer, error) {
		var id int64
		found, err := t.QueryRow(`SELECT id FROM depot_item WHERE kind = ? AND holder IS NULL ORDER BY id LIMIT 1`, []any{kind}, &id)
		if err != nil {
			return namespace.Answer{}, err
		}
		if !found {
			t.Park(kind)
			return namespace.Answer{Body: nothing, NoEffect: true}, nil
		}
		fence, err := t.Fence()
		if err != nil {
			return namespace.Answer{}, err
		}
		_, err = t.Exec(`UPDATE depot_item SET holder = ?, fence = ? WHERE id = ?`, t.Caller().Principal, fence, id)
		return namespace.Answer{Body: id}, err
	}}
}

// item is a row of the depot.
type item struct {
	ID     int64
	Kind   string
	Holder string
	Fence  int64
}

func items(v *namespace.View) ([]item, error) {
	rows, err := v.Query(`SELECT id, kind, coalesce(holder, ''), coalesce(fence, 0) FROM depot_item ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []item{}
	for rows.Next() {
		var i item
		if err := rows.Scan(&i.ID, &i.Kind, &i.Holder, &i.Fence); err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, rows.Err()
}
