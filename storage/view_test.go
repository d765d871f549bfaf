package storage_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/skerryhq/skerry/storage"
)

// endless is a query that never returns a row.
const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0"

func TestViewSeesEverySettledWrite(t *testing.T) {
	t.Parallel()
	f := create(t, openStore(t, t.TempDir(), storage.Options{MaxReaders: 3}), "blue")
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 50 {
				id := worker*1000 + i
				if err := insert(f, id); err != nil {
					t.Error(err)
				}
				if got := items(t, f); !slices.Contains(got, id) {
					t.Errorf("view after the write of %d: not there", id)
				}
			}
		})
	}
	wg.Wait()
}

func TestViewIsOneStateOfTheFile(t *testing.T) {
	t.Parallel()
	f := create(t, openStore(t, t.TempDir(), storage.Options{}), "blue")
	mustInsert(t, f, 1)
	err := f.View(t.Context(), func(tx *storage.Tx) error {
		for range 2 {
			var n int
			if _, err := tx.QueryRow("SELECT count(*) FROM item", nil, &n); err != nil {
				return err
			}
			if n != 1 {
				t.Errorf("count: got %d, want 1", n)
			}
			mustInsert(t, f, 2+len(items(t, f)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestViewCannotWrite(t *testing.T) {
	t.Parallel()
	f := create(t, openStore(t, t.TempDir(), storage.Options{}), "blue")
	err := f.View(t.Context(), func(tx *storage.Tx) error {
		_, err := tx.Exec("INSERT INTO item VALUES (1, 'x')")
		return err
	})
	if err == nil {
		t.Error("INSERT in a view: got no error")
	}
	mustInsert(t, f, 1)
}

func TestViewIsInterruptedByItsContext(t *testing.T) {
	t.Parallel()
	f := create(t, openStore(t, t.TempDir(), storage.Options{MaxReaders: 1}), "blue")
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan struct{})
	go func() {
		<-running
		cancel()
	}()
	err := f.View(ctx, func(tx *storage.Tx) error {
		close(running)
		_, err := tx.QueryRow(endless, nil, new(int))
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted view: got %v, want context.Canceled", err)
	}
	if got := items(t, f); len(got) != 0 {
		t.Errorf("next view: got %v", got)
	}
}

func TestAbortInterruptsViews(t *testing.T) {
	t.Parallel()
	f := create(t, openStore(t, t.TempDir(), storage.Options{}), "blue")
	running, viewed := make(chan struct{}), make(chan error)
	go func() {
		viewed <- f.View(context.Background(), func(tx *storage.Tx) error {
			close(running)
			_, err := tx.QueryRow(endless, nil, new(int))
			return err
		})
	}()
	<-running
	if err := f.Abort(); err != nil {
		t.Fatal(err)
	}
	if err := <-viewed; !errors.Is(err, storage.ErrClosed) {
		t.Errorf("view: got %v, want ErrClosed", err)
	}
}

func TestViewWaitsForAReader(t *testing.T) {
	t.Parallel()
	f := create(t, openStore(t, t.TempDir(), storage.Options{MaxReaders: 1}), "blue")
	err := f.View(t.Context(), func(tx *storage.Tx) error {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := f.View(ctx, func(*storage.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("second view: got %v, want context.Canceled", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPanicInAViewIsTheCallers(t *testing.T) {
	t.Parallel()
	f := create(t, openStore(t, t.TempDir(), storage.Options{MaxReaders: 1}), "blue")
	func() {
		defer func() {
			if v := recover(); v != "secret" {
				t.Errorf("recovered %v", v)
			}
		}()
		_ = f.View(t.Context(), func(tx *storage.Tx) error {
			if _, err := tx.Query("SELECT 1 UNION SELECT 2"); err != nil {
				t.Error(err)
			}
			panic("secret")
		})
	}()
	mustInsert(t, f, 1)
	if got := items(t, f); len(got) != 1 {
		t.Errorf("items: got %v", got)
	}
}

func TestDescriptorsAreGivenBack(t *testing.T) {
	t.Parallel()
	s := openStore(t, t.TempDir(), storage.Options{})
	f := create(t, s, "blue")
	none := s.Descriptors()
	items(t, f)
	with := s.Descriptors()
	if with <= none {
		t.Errorf("descriptors: %d, and %d with a reader", none, with)
	}
	closeFile(t, f)
	if got := s.Descriptors(); got != none-3 {
		t.Errorf("descriptors after closing: got %d, want %d", got, none-3)
	}
}
