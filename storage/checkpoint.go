package storage

import (
	"context"
	"fmt"
)

// walState is what PRAGMA wal_checkpoint reports.
type walState struct {
	busy    int   // 1 if a reader or another process was in the way
	frames  int64 // in the WAL
	written int64 // of them, copied into the main file
}

// checkpoint runs one checkpoint in a mode of SQLite's: NOOP only looks, PASSIVE
// copies what no view is in the way of, RESTART and TRUNCATE wait for views.
func (c *conn) checkpoint(mode string) (walState, error) {
	var w walState
	_, err := c.tx(context.Background()).QueryRow("PRAGMA wal_checkpoint("+mode+")", nil, &w.busy, &w.frames, &w.written)
	if err != nil {
		return w, fmt.Errorf("checkpoint: %w", err)
	}
	return w, nil
}

// checkpointAll copies the whole WAL into the main file, syncs it and empties
// the WAL.
func (c *conn) checkpointAll() error {
	w, err := c.checkpoint("TRUNCATE")
	if err == nil && w.busy != 0 {
		err = fmt.Errorf("checkpoint: %w", ErrBusy)
	}
	return err
}

// makeRoom lets the WAL start over, so that its space can be used again on a
// full disk. It does not wait long for views: the commands that need the room
// are the urgent ones.
func (c *conn) makeRoom() error {
	if err := c.script("PRAGMA busy_timeout=100"); err != nil {
		return err
	}
	_, err := c.checkpoint("RESTART")
	if restored := c.script("PRAGMA busy_timeout=" + busyTimeout); err == nil {
		err = restored
	}
	return err
}
