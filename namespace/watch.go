package namespace

import "sync"

// hub tells waiting reads of changes. It is safe for concurrent use; with nobody
// waiting, publishing costs one lock.
type hub struct {
	mu     sync.Mutex
	topics map[string]map[*watch]struct{}
}

// watch is one waiting read. changed holds at most one token: the reader reads
// again once however often its topics were signalled meanwhile.
type watch struct {
	hub     *hub
	topics  []string
	changed chan struct{}
}

// watch registers for topics of a class. It must be closed.
func (h *hub) watch(class string, topics []string) *watch {
	w := &watch{hub: h, changed: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics == nil {
		h.topics = map[string]map[*watch]struct{}{}
	}
	for _, t := range topics {
		t = class + "/" + t
		w.topics = append(w.topics, t)
		if h.topics[t] == nil {
			h.topics[t] = map[*watch]struct{}{}
		}
		h.topics[t][w] = struct{}{}
	}
	return w
}

func (w *watch) close() {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	for _, t := range w.topics {
		delete(w.hub.topics[t], w)
		if len(w.hub.topics[t]) == 0 {
			delete(w.hub.topics, t)
		}
	}
}

// publish tells the watches of the signals' topics.
func (h *hub) publish(class string, signals []signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.topics) == 0 {
		return
	}
	for _, s := range signals {
		for w := range h.topics[class+"/"+s.topic] {
			select {
			case w.changed <- struct{}{}:
			default:
			}
		}
	}
}
