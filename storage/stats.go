package storage

import (
	"math/bits"
	"sync"
	"time"
)

// batchBuckets are the upper bounds 1, 2, 4 ... 64 and one bucket for the rest.
const batchBuckets = 8

// frameSize is what one page takes in a WAL.
const frameSize = 4096 + 24

// Stats are counters of one open [File].
type Stats struct {
	Commits  int64 // transactions committed
	Aborted  int64 // transactions rolled back
	Ops      int64 // commands in committed transactions, also those rolled back alone
	Failures int64 // 1 once the file has failed
	// Batches counts committed transactions by their number of commands: at most
	// 1, 2, 4, 8, 16, 32, 64, and more.
	Batches [batchBuckets]int64
	// CommitTime is the time all transactions took, from the first command to the
	// end of the sync; zero without [Options].Now.
	CommitTime time.Duration
	// WALBytes is the part of the WAL in use after the latest commit.
	WALBytes int64
}

// meter collects Stats. It is safe for concurrent use.
type meter struct {
	mu    sync.Mutex
	stats Stats
}

func (m *meter) read() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stats
}

func (m *meter) committed(ops int, ok bool, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.CommitTime += took
	if !ok {
		m.stats.Aborted++
		return
	}
	m.stats.Commits++
	m.stats.Ops += int64(ops)
	m.stats.Batches[min(bits.Len(uint(ops-1)), batchBuckets-1)]++
}

func (m *meter) failed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Failures++
}

func (m *meter) wal(frames int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.WALBytes = frames * frameSize
}
