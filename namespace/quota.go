package namespace

import (
	"fmt"
	"sync"
	"time"

	"github.com/skerryhq/skerry/admission"
)

// quotas are the operator's switches that count commands before admission.
type quotas struct {
	legacy    *admission.Quota // per principal and minute
	anonymous *admission.Quota // of all callers without a key, per hour
}

func newQuotas(s Settings) (quotas, error) {
	legacy, err := admission.NewQuota(admission.QuotaConfig{Limit: s.ClaimsPerMinute, Window: int64(time.Minute)})
	if err != nil {
		return quotas{}, fmt.Errorf("make legacy quota: %w", err)
	}
	anonymous, err := admission.NewQuota(admission.QuotaConfig{Limit: s.anonymousPerHour(), Window: int64(time.Hour)})
	if err != nil {
		return quotas{}, fmt.Errorf("make anonymous quota: %w", err)
	}
	return quotas{legacy, anonymous}, nil
}

// set puts the limits of settings into force. What was used up so far counts.
func (q quotas) set(s Settings) error {
	if err := q.legacy.SetLimit(s.ClaimsPerMinute); err != nil {
		return fmt.Errorf("set legacy quota: %w", err)
	}
	if err := q.anonymous.SetLimit(s.anonymousPerHour()); err != nil {
		return fmt.Errorf("set anonymous quota: %w", err)
	}
	return nil
}

// quotaShelf keeps the quotas of passive namespaces, so that an hour's quota is
// not new after a minute's rest. Only a restart of the process, which resets
// everything in memory, and deletion forget them. It is safe for concurrent use;
// what is on it belongs to nobody until it is taken.
type quotaShelf struct {
	mu     sync.Mutex
	byName map[string]quotas
}

// put keeps the quotas of a namespace that is being passivated, if its settings
// have any.
func (s *quotaShelf) put(name string, q quotas, settings *Settings) {
	if settings.ClaimsPerMinute == 0 && settings.Anonymous == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = map[string]quotas{}
	}
	s.byName[name] = q
}

// take hands over a namespace's quotas, if they were kept.
func (s *quotaShelf) take(name string) (quotas, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, ok := s.byName[name]
	delete(s.byName, name)
	return q, ok
}
