package storage

import (
	"errors"
	"runtime/debug"
	"time"
)

// run is the writer goroutine. Its owner is the File: Close and Abort wait for
// it. While one commit is synced, the next group forms in the queue; nothing is
// ever waited for to make a group larger.
func (f *File) run() {
	defer close(f.done)
	var failure error
	for {
		w := f.queue.next(f.batch[:0], f.opts.MaxBatch)
		f.batch = w.ops
		switch {
		case w.refusal != nil:
			f.refuse(w.ops, w.refusal)
		case len(w.ops) > 0:
			f.commit(w.ops)
		}
		clear(f.batch)
		if w.failure != nil {
			failure = w.failure
			f.announce(failure)
		}
		if w.stop {
			f.err = f.shut(failure == nil && !f.queue.discarding())
			f.store.remember(f.name, nil, damaged(failure) || damaged(f.err))
			return
		}
	}
}

// refuse settles commands that were queued when the file failed or was aborted.
func (f *File) refuse(ops []Op, why error) {
	for _, op := range ops {
		f.settle(op, why)
	}
	if len(ops) > 0 {
		f.notify(f.opts.Flushed)
	}
}

// announce tells the owner that the file has failed.
func (f *File) announce(failure error) {
	f.meter.failed()
	f.store.opts.Logger.Error("file failed", "file", f.name, "error", failure)
	if f.opts.Failed != nil {
		f.notify(func() { f.opts.Failed(failure) })
	}
}

// fail makes the file refuse everything from now on. The writer tells the owner
// when what is queued has been settled.
func (f *File) fail(err error) {
	refusal := err
	if p := (*PanicError)(nil); errors.As(err, &p) {
		refusal = ErrAborted // the others did not panic
	}
	f.queue.fail(refusal, err)
}

// commit runs ops in one transaction, settles them, and looks after the WAL.
func (f *File) commit(ops []Op) {
	start := f.now()
	results := append(f.results[:0], make([]error, len(ops))...)
	f.results = results
	err := f.attempt(ops, results)
	if errors.Is(err, ErrDiskFull) {
		err = f.retry(ops, results)
	}
	f.meter.committed(len(ops), err == nil, f.now().Sub(start))
	if fatal(err) {
		f.fail(err)
	}
	for i, op := range ops {
		f.settle(op, results[i])
	}
	clear(results)
	f.notify(f.opts.Flushed)
	if err == nil {
		f.tend()
	}
}

// retry comes after a full disk. It lets the WAL start over and tries once more
// the commands that keep things alive or end work: they need little room, and
// ending work is what makes room. If there is not even that, they get the
// reserve. They stand first in ops.
func (f *File) retry(ops []Op, results []error) error {
	n := 0
	for n < len(ops) && essential(ops[n]) {
		n++
	}
	for {
		if err := f.tx.conn.makeRoom(); fatal(err) {
			return err
		}
		if n == 0 {
			return ErrDiskFull
		}
		err := f.attempt(ops[:n], results[:n])
		if !errors.Is(err, ErrDiskFull) || !f.store.reserve.give() {
			return err
		}
	}
}

// essential reports whether op may use the reserve.
func essential(op Op) bool { return op.Lane() <= LaneFinish }

// now returns the time if commits are to be measured.
func (f *File) now() time.Time {
	if f.store.opts.Now == nil {
		return time.Time{}
	}
	return f.store.opts.Now()
}

// settle settles op. A panic fails the file; the command has been answered.
func (f *File) settle(op Op, err error) {
	if p := guard(func() { op.Settle(err) }); p != nil {
		f.fail(p)
	}
}

// notify calls a function of the owner, if there is one.
func (f *File) notify(fn func()) {
	if fn == nil {
		return
	}
	if p := guard(fn); p != nil {
		f.fail(p)
	}
}

// guard turns a panic of fn into an error.
func guard(fn func()) (p *PanicError) {
	defer func() {
		if v := recover(); v != nil {
			p = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	fn()
	return nil
}
