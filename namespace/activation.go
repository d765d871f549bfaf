package namespace

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/skerryhq/skerry/actors"
	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/storage"
)

// coreClass is the name under which the runtime's own tables, alarm and commands
// go. No class can have it, because it is no valid table prefix of one.
const coreClass = "ns"

// meta is what makes a namespace this one and no other.
type meta struct {
	incarnation string
	secret      []byte
	epoch       int64
	created     time.Time
}

// lines are the migrations of the runtime and its classes.
func (r *Runtime) lines() ([]storage.Line, error) {
	core, err := coreMigrations()
	if err != nil {
		return nil, err
	}
	lines := []storage.Line{{Name: coreClass, FS: core}}
	for _, c := range r.classes {
		if c.Migrations != nil {
			lines = append(lines, storage.Line{Name: c.Name, FS: c.Migrations})
		}
	}
	return lines, nil
}

// createFile makes a namespace's file with its identity in it.
func (r *Runtime) createFile(ctx context.Context, name string) error {
	file, err := r.store.OpenFile(ctx, name, storage.FileOptions{Create: true, Lines: r.migrations})
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	err = file.Write(ctx, r.writeIdentity)
	if err != nil {
		err = fmt.Errorf("write identity: %w", err)
		return errors.Join(err, file.Abort(), r.store.Remove(context.WithoutCancel(ctx), name))
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("close new file: %w", err)
	}
	return nil
}

// writeIdentity makes the namespace of a new file this one and no other.
func (r *Runtime) writeIdentity(tx *storage.Tx) error {
	var incarnation [16]byte
	var secret [32]byte
	rand.Read(incarnation[:]) // never fails
	rand.Read(secret[:])
	_, err := tx.Exec(sqlCreateMeta, hex.EncodeToString(incarnation[:]), secret[:], r.clock.Now().UnixMilli())
	return err
}

// activate opens a namespace: migrations, a new epoch, settings, keys, and each
// class's memory.
func (r *Runtime) activate(ctx context.Context, name string, self *actors.Self) (*instance, error) {
	i := &instance{
		runtime: r, name: name, self: self,
		live: map[*call]struct{}{}, admitted: map[admission.ID]*call{}, keysBusy: inFlight{},
		lot: newLot(), alarming: map[*classHost]bool{}, tally: newTally(),
	}
	w := &i.writer
	w.instance = i
	for _, c := range r.hosted {
		h := &classHost{writer: w, class: c}
		if c.New != nil {
			h.state = c.New()
		}
		if s, ok := h.state.(Sharer); ok {
			h.shared = s.Shared()
		}
		w.hosts = append(w.hosts, h)
	}
	file, err := r.store.OpenFile(ctx, name, storage.FileOptions{
		Lines: r.migrations, Flushed: w.flushed, RolledBack: w.rolledBack, Failed: i.fail,
	})
	if err != nil {
		return nil, fmt.Errorf("open namespace %s: %w", name, err)
	}
	i.file = file
	if err := i.load(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("load namespace %s: %w", name, err), file.Abort())
	}
	r.activations.Add(1)
	self.Tell(awake{}) // the first turn sets the timer for the alarms
	return i, nil
}

// load reads the namespace in the transaction that raises its epoch.
func (i *instance) load(ctx context.Context) error {
	defaults := i.runtime.defaults
	settings := defaults
	var ignored []string
	// On a full disk too, or nothing could be read from or ended in a namespace
	// that was passive.
	err := i.file.WriteIn(ctx, storage.LaneUrgent, func(tx *storage.Tx) error {
		if err := i.readMeta(tx); err != nil {
			return err
		}
		var err error
		if settings, ignored, err = readSettings(tx, defaults); err != nil {
			return err
		}
		i.settings.Store(&settings)
		keys, err := readKeys(tx)
		if err != nil {
			return err
		}
		i.keys.Store(keys)
		i.writer.tx = tx
		if err := i.writer.readAlarms(tx); err != nil {
			return err
		}
		return i.writer.activateClasses(tx)
	})
	if err != nil {
		return err
	}
	for _, s := range ignored {
		i.runtime.log.Warn("stored setting ignored: this build does not know it or its value",
			slog.String("namespace", i.name), slog.String("setting", s))
	}
	i.writer.publishAlarm()
	return i.openGate(settings)
}

// readMeta reads who the namespace is and raises its epoch.
func (i *instance) readMeta(tx *storage.Tx) error {
	tx.RequireSync()
	raised, err := tx.QueryRow(sqlRaiseEpoch, nil, &i.writer.fences.epoch)
	if err == nil && !raised {
		// Whoever made the file died before it had an identity: nobody has used it.
		if err := i.runtime.writeIdentity(tx); err != nil {
			return fmt.Errorf("write identity: %w", err)
		}
		_, err = tx.QueryRow(sqlRaiseEpoch, nil, &i.writer.fences.epoch)
	}
	if err != nil {
		return fmt.Errorf("raise epoch: %w", err)
	}
	var created int64
	if _, err := tx.QueryRow(sqlReadMeta, nil, &i.meta.incarnation, &i.meta.secret, &i.meta.epoch, &created); err != nil {
		return fmt.Errorf("read identity: %w", err)
	}
	i.meta.created = time.UnixMilli(created).UTC()
	return nil
}

// activateClasses fills each class's memory.
func (w *writer) activateClasses(tx *storage.Tx) error {
	for _, h := range w.hosts {
		a, ok := h.state.(Activator)
		if !ok {
			continue
		}
		t := &Turn{View: w.instance.view(tx, h, Caller{Principal: Operator}), host: h, call: newCall(Call{Class: h.class.Name})}
		if err := a.Activate(t); err != nil {
			return fmt.Errorf("activate class %s: %w", h.class.Name, err)
		}
		if err := h.writeAlarm(t); err != nil {
			return err
		}
	}
	return nil
}

// openGate makes the controller and the quotas from the settings.
func (i *instance) openGate(s Settings) error {
	mode, err := admission.ParseMode(s.Mode)
	if err != nil {
		return fmt.Errorf("open gate: %w", err)
	}
	if i.gate, err = admission.NewGate(s.admission(), mode); err != nil {
		return fmt.Errorf("open gate: %w", err)
	}
	kept, ok := i.runtime.quotas.take(i.name)
	if ok {
		i.quotas, err = kept, kept.set(s)
	} else {
		i.quotas, err = newQuotas(s)
	}
	if err != nil {
		return fmt.Errorf("open gate: %w", err)
	}
	i.file.SetRelaxed(s.Durability == "relaxed")
	i.publish()
	return nil
}

// Drain answers what is parked. Work under way goes on; what waits in admission
// goes on too, unless there will be no namespace to do it.
func (i *instance) Drain(why actors.Reason) {
	i.draining = true
	switch why {
	case actors.ReasonShutdown:
		i.shutdown = errShuttingDown(nil)
	case actors.ReasonRemoved:
		i.shutdown = errors.Join(errUnauthorized(), errRemoved)
	case actors.ReasonIdle, actors.ReasonEvicted:
	}
	for _, c := range i.lot.drain(false) {
		c.outcome.Answer = c.idle
		i.answer(c, nil)
	}
	for c := range i.live {
		switch {
		case c.stage == stageDeferred:
			i.answer(c, cmp.Or(i.shutdown, error(errRestarting(nil))))
		case c.stage == stageQueued && i.shutdown != nil:
			i.decide(i.gate.Cancel(i.now().UnixNano(), c.id))
			i.answer(c, i.shutdown)
		}
	}
}

// fail ends the activation: its file, or its memory, serves no more.
func (i *instance) fail(err error) {
	i.logPanic(err)
	i.self.Fail(err)
}

// logPanic logs where a panic of a class happened, but not what it was called
// with, which may hold a caller's data.
func (i *instance) logPanic(err error) {
	if p := (*storage.PanicError)(nil); errors.As(err, &p) {
		i.runtime.log.Error("command panicked", slog.String("namespace", i.name),
			slog.String("value", fmt.Sprintf("%T", p.Value)), slog.String("stack", string(p.Stack)))
	}
}

// Idle reports that nobody waits for an answer, or holds what may still be held.
func (i *instance) Idle() bool { return len(i.live) == 0 && (i.draining || i.holds.Load() == 0) }

// IdleTimeout is the namespace's setting.
func (i *instance) IdleTimeout() time.Duration {
	return time.Duration(i.settings.Load().IdleTimeoutMs) * time.Millisecond
}

// Refuse answers a message that will not be received.
func (i *instance) Refuse(msg any, err error) {
	switch m := msg.(type) {
	case *call:
		m.err = refused(err)
		close(m.done)
	case inspect:
		m.done <- refused(err)
	}
}

// Panicked answers the one whose message caused a panic.
func (i *instance) Panicked(msg, _ any, _ []byte) {
	c, ok := msg.(*call)
	if !ok || c.stage == stageDone {
		return
	}
	c.stage = stageDone
	delete(i.live, c)
	c.err = api.Errorf(api.Internal, "the command failed unexpectedly; the server's log has it under the request id")
	close(c.done)
}

// Close closes the file and answers whoever is left.
func (i *instance) Close(err error) {
	i.closed, i.draining = true, true
	closing := i.file.Abort
	if err == nil {
		closing = i.file.Close
		i.reclaim()
	}
	i.file.SetWake(i.writer.wake())
	if cerr := closing(); cerr != nil {
		i.runtime.log.Error("close namespace", slog.String("namespace", i.name), slog.Any("error", cerr))
	}
	i.self.WakeAt(i.writer.wake()) // a last commit may have moved it
	i.answerAll(err)
	i.runtime.quotas.put(i.name, i.quotas, i.settings.Load())
	i.runtime.passivations.Add(1)
}

// reclaim gives file space that deletions have freed back to the file system, so
// far as that takes little time.
func (i *instance) reclaim() {
	const pages, steps = 256, 16
	for range steps {
		freed, err := i.file.Reclaim(context.Background(), pages)
		if err != nil {
			i.runtime.log.Warn("reclaim file space", slog.String("namespace", i.name), slog.Any("error", err))
		}
		if freed < pages {
			return
		}
	}
}

// answerAll answers whoever is left when an activation that was closed because
// of err ends.
func (i *instance) answerAll(err error) {
	why := i.shutdown
	switch {
	case why != nil:
	case errors.Is(err, actors.ErrShuttingDown):
		why = errShuttingDown(err)
	default:
		why = errRestarting(err)
	}
	calls := i.writer.take()
	for _, c := range calls {
		switch {
		case c.stage == stageDone:
			// Its message caused a panic after it had gone to the writer.
		case errors.Is(c.turn.err, storage.ErrClosed):
			i.answer(c, why)
		case c.turn.err == nil && c.stage == stageLookup && !c.turn.replayed:
			i.answer(c, why) // it has not even begun
		case c.turn.err == nil && c.turn.deferred != nil && !c.turn.replayed:
			c.stage = stageDeferred
		default:
			// What was committed was committed, also if its actor is gone.
			c.outcome.Answer, c.outcome.Replayed = c.turn.answer, c.turn.replayed
			i.cutShort(c, why)
		}
	}
	for _, c := range calls {
		if c.turn.err == nil {
			for _, r := range c.turn.rulings {
				if r.until.IsZero() { // there is no later
					i.rule(r)
				}
			}
		}
	}
	for c := range i.live {
		if c.stage != stageChained { // it is answered with the command it carries
			i.answer(c, why)
		}
	}
}
