package actors

import (
	"container/heap"
	"time"
)

// agenda holds keys with the times they fall due, the earliest first. It is not
// safe for concurrent use.
type agenda[K comparable] struct {
	heap  agendaHeap[K]
	items map[K]*agendaItem[K]
}

type agendaItem[K comparable] struct {
	key   K
	at    time.Time
	index int // in the heap
}

// set makes key due at the given time, whatever it was before.
func (a *agenda[K]) set(key K, at time.Time) {
	if item, ok := a.items[key]; ok {
		item.at = at
		heap.Fix(&a.heap, item.index)
		return
	}
	if a.items == nil {
		a.items = make(map[K]*agendaItem[K])
	}
	item := &agendaItem[K]{key: key, at: at}
	a.items[key] = item
	heap.Push(&a.heap, item)
}

func (a *agenda[K]) has(key K) bool {
	_, ok := a.items[key]
	return ok
}

// remove forgets key.
func (a *agenda[K]) remove(key K) {
	if item, ok := a.items[key]; ok {
		heap.Remove(&a.heap, item.index)
		delete(a.items, key)
	}
}

// next returns the earliest time in the agenda.
func (a *agenda[K]) next() (time.Time, bool) {
	if len(a.heap) == 0 {
		return time.Time{}, false
	}
	return a.heap[0].at, true
}

// due returns the key that is due first, if it is due by now.
func (a *agenda[K]) due(now time.Time) (key K, ok bool) {
	if len(a.heap) == 0 || a.heap[0].at.After(now) {
		return key, false
	}
	return a.heap[0].key, true
}

// agendaHeap implements heap.Interface.
type agendaHeap[K comparable] []*agendaItem[K]

func (h agendaHeap[K]) Len() int           { return len(h) }
func (h agendaHeap[K]) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

func (h agendaHeap[K]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *agendaHeap[K]) Push(x any) {
	item := x.(*agendaItem[K])
	item.index = len(*h)
	*h = append(*h, item)
}

func (h *agendaHeap[K]) Pop() any {
	old := *h
	last := len(old) - 1
	item := old[last]
	old[last] = nil // or the array keeps what it pointed to alive
	*h = old[:last]
	return item
}
