package namespace

import (
	"fmt"

	"github.com/skerryhq/skerry/storage"
)

// counterBits is how much of a fencing token counts grants within an epoch; the
// rest, up to 53 bits in all, is the epoch.
const counterBits = 22

// fences hands out fencing tokens. A token is the epoch, raised durably at each
// activation, followed by a counter in memory, so that tokens rise across
// crashes without any write beyond the lease itself.
//
// It belongs to the writer. A token drawn by a command that was rolled back is
// simply never used.
type fences struct {
	epoch   int64
	counter int64
}

// next draws a token. When the counter is used up the epoch is raised in the
// same transaction, which is synced whatever the namespace's durability: a lost
// raise would give the same tokens twice.
func (f *fences) next(tx *storage.Tx) (int64, error) {
	if f.counter == 1<<counterBits-1 {
		tx.RequireSync()
		if _, err := tx.QueryRow(sqlRaiseEpoch, nil, &f.epoch); err != nil {
			return 0, fmt.Errorf("raise epoch: %w", err)
		}
		f.counter = 0
	}
	f.counter++
	return f.epoch<<counterBits | f.counter, nil
}

// reread brings the epoch back in line with the file after a rollback. If the
// rollback undid a raise, the counter of the old epoch is spent, so that the
// next token raises it again.
func (f *fences) reread(tx *storage.Tx) error {
	var epoch int64
	if _, err := tx.QueryRow(sqlReadEpoch, nil, &epoch); err != nil {
		return fmt.Errorf("read epoch: %w", err)
	}
	if epoch != f.epoch {
		f.epoch, f.counter = epoch, 1<<counterBits-1
	}
	return nil
}
