package namespace

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/storage"
)

// writer is the part of an activation that belongs to the file's writer
// goroutine: fencing tokens, and each class's memory and alarm.
type writer struct {
	instance *instance
	fences   fences
	hosts    []*classHost
	// tx is the transaction in course, or the last one.
	tx *storage.Tx
	// lost is why memory no longer mirrors the file: nothing is carried out any
	// more.
	lost error
	// next is the earliest alarm in ms, 0 if none: the writer stores it before
	// the actor is told of the commit.
	next atomic.Int64

	mu      sync.Mutex
	settled []*call // what the actor has not yet been told of
}

// classHost is one class in one activation.
type classHost struct {
	writer *writer
	class  *Class
	state  any
	// shared is the part of state that queries may see.
	shared any
	// attending and attendAgain belong to the actor; see [Class.Attend].
	attending, attendAgain bool
	// alarm is what the class has set, stored what its row says.
	alarm, stored time.Time
}

// begin fills in the call's turn. A command may be applied more than once,
// when a batch falls back or a commit is tried again, so everything is reset.
func (h *classHost) begin(c *call, tx *storage.Tx) {
	w := h.writer
	w.tx = tx
	// A command that wrote nothing is not rolled back when it fails, and may have
	// moved the alarm.
	h.alarm = h.stored
	c.turn = Turn{View: w.instance.view(tx, h, c.Caller), host: h, call: c, idem: c.Idempotency, received: api.Time(c.arrived)}
}

// setAlarm moves the alarm; it is stored when the command concludes. Alarms are
// stored in whole milliseconds, so never early.
func (h *classHost) setAlarm(at time.Time) {
	if !at.IsZero() {
		at = time.UnixMilli(ceilMilli(at)).UTC()
	}
	h.alarm = at
}

func ceilMilli(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return ms
}

// writeAlarm stores the class's alarm if it has moved.
func (h *classHost) writeAlarm(t *Turn) error {
	if h.alarm.Equal(h.stored) {
		return nil
	}
	var err error
	if h.alarm.IsZero() {
		_, err = t.Exec(sqlDeleteAlarm, h.class.Name)
	} else {
		_, err = t.Exec(sqlWriteAlarm, h.class.Name, h.alarm.UnixMilli())
	}
	if err != nil {
		return fmt.Errorf("store alarm: %w", err)
	}
	h.stored = h.alarm
	return nil
}

// settle collects what a commit has decided, in the order of its commands.
func (w *writer) settle(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settled = append(w.settled, c)
}

// take hands over what was settled since the last take.
func (w *writer) take() []*call {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.settled
	w.settled = nil
	return calls
}

// flushed tells the actor of a commit, once for all its commands.
func (w *writer) flushed() {
	w.publishAlarm()
	w.instance.self.Tell(flushed{})
}

// publishAlarm makes the earliest stored alarm known to the actor.
func (w *writer) publishAlarm() {
	var next int64
	for _, h := range w.hosts {
		if !h.stored.IsZero() && (next == 0 || h.stored.UnixMilli() < next) {
			next = h.stored.UnixMilli()
		}
	}
	w.next.Store(next)
}

// wake is the earliest stored alarm; zero if there is none.
func (w *writer) wake() time.Time {
	if at := w.next.Load(); at != 0 {
		return time.UnixMilli(at)
	}
	return time.Time{}
}

// rolledBack brings memory back in line with the file.
func (w *writer) rolledBack() {
	if err := w.reread(); err != nil {
		err = fmt.Errorf("read state again after a rollback: %w", err)
		w.lost = errRestarting(err)
		w.instance.self.Fail(err)
	}
}

func (w *writer) reread() error {
	if w.tx == nil {
		return nil
	}
	if err := w.fences.reread(w.tx); err != nil {
		return err
	}
	if err := w.readAlarms(w.tx); err != nil {
		return err
	}
	for _, h := range w.hosts {
		r, ok := h.state.(Rereader)
		if !ok {
			continue
		}
		v := w.instance.view(w.tx, h, Caller{Principal: Operator})
		if err := r.RolledBack(&v); err != nil {
			return fmt.Errorf("class %s: %w", h.class.Name, err)
		}
	}
	return nil
}

// readAlarms reads every class's alarm from its row.
func (w *writer) readAlarms(tx *storage.Tx) error {
	for _, h := range w.hosts {
		h.alarm, h.stored = time.Time{}, time.Time{}
	}
	rows, err := tx.Query(sqlReadAlarms)
	if err != nil {
		return fmt.Errorf("read alarms: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var at int64
		if err := rows.Scan(&name, &at); err != nil {
			return fmt.Errorf("read alarms: %w", err)
		}
		// The alarm of a class that this build does not have stays in the file.
		if h := w.host(name); h != nil {
			h.alarm = time.UnixMilli(at).UTC()
			h.stored = h.alarm
		}
	}
	return rows.Err()
}

// host finds a class by name, or nil.
func (w *writer) host(name string) *classHost {
	for _, h := range w.hosts {
		if h.class.Name == name {
			return h
		}
	}
	return nil
}

// isRefusal reports whether err is a class's own answer rather than trouble
// with the file.
func isRefusal(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && !errors.Is(err, storage.ErrUnavailable)
}

// publicError gives the error that a caller is shown for trouble of any layer.
func publicError(err error) error {
	var own *api.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	var panicked *storage.PanicError
	switch {
	case errors.As(err, &panicked):
		return api.Errorf(api.Internal, "the command failed unexpectedly; the server's log has it under the request id").Wrapping(err)
	case errors.Is(err, storage.ErrDiskFull):
		return api.Errorf(api.StorageUnavailable, "the disk is full; reads, releases and deletions still work").
			Because("disk full").After(time.Second).Wrapping(err)
	case errors.Is(err, storage.ErrAborted), errors.Is(err, storage.ErrClosed):
		return errRestarting(err)
	case errors.Is(err, storage.ErrUnavailable):
		return api.Errorf(api.StorageUnavailable, "the namespace's storage did not answer as it must").
			After(time.Second).Wrapping(err)
	}
	return err
}

// errRestarting answers what an activation that ends leaves behind.
func errRestarting(err error) *api.Error {
	return unavailable("the namespace is starting again from its file").Wrapping(err)
}

// unavailable is a namespace_unavailable error that advises a second's wait.
func unavailable(message string) *api.Error {
	return api.Errorf(api.NamespaceUnavailable, "%s", message).After(time.Second)
}
