package storage_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/skerryhq/skerry/storage"
	"github.com/skerryhq/skerry/storage/storagetest"
)

// BenchmarkGroupCommit has W callers insert one row each, over and over.
func BenchmarkGroupCommit(b *testing.B) {
	for _, relaxed := range []bool{false, true} {
		for _, callers := range []int{1, 16, 64, 256} {
			mode := "full"
			if relaxed {
				mode = "relaxed"
			}
			b.Run(fmt.Sprintf("%s/W=%d", mode, callers), func(b *testing.B) {
				vfs := storagetest.NewVFS(b, "bench")
				f := create(b, openStore(b, b.TempDir(), storage.Options{VFS: vfs.Name()}), "blue")
				f.SetRelaxed(relaxed)
				insertFrom(b, f, callers, vfs)
			})
		}
	}
}

func insertFrom(b *testing.B, f *storage.File, callers int, vfs *storagetest.VFS) {
	b.ReportAllocs()
	before := vfs.Syncs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for w := range callers {
		wg.Go(func() {
			c := &command{settled: make(chan error, 1), lane: storage.LaneNormal}
			var id int
			c.apply = func(tx *storage.Tx) error {
				_, err := tx.Exec("INSERT INTO item (id, body) VALUES (?, ?)", id, "a body of some length")
				return err
			}
			for id = w; id < b.N; id += callers {
				f.Submit(c)
				if err := <-c.settled; err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(vfs.Syncs()-before)/float64(b.N), "fsyncs/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

func BenchmarkView(b *testing.B) {
	f := create(b, openStore(b, b.TempDir(), storage.Options{}), "blue")
	mustInsert(b, f, 1)
	b.ReportAllocs()
	for b.Loop() {
		err := f.View(b.Context(), func(tx *storage.Tx) error {
			var body string
			_, err := tx.QueryRow("SELECT body FROM item WHERE id = ?", []any{1}, &body)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenClose(b *testing.B) {
	s := openStore(b, b.TempDir(), storage.Options{})
	closeFile(b, create(b, s, "blue"))
	b.ReportAllocs()
	for b.Loop() {
		f, err := s.OpenFile(b.Context(), "blue", storage.FileOptions{Lines: []storage.Line{itemLine()}})
		if err != nil {
			b.Fatal(err)
		}
		closeFile(b, f)
	}
}

func BenchmarkCreate(b *testing.B) {
	s := openStore(b, b.TempDir(), storage.Options{})
	n := 0
	for b.Loop() {
		n++
		closeFile(b, create(b, s, fmt.Sprint("n", n)))
	}
}
