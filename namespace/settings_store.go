package namespace

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/storage"
)

// SettingNames are the names of all settings, in the order of [Settings].
func SettingNames() []string {
	t := reflect.TypeFor[Settings]()
	names := make([]string, t.NumField())
	for n := range names {
		names[n] = t.Field(n).Tag.Get("json")
	}
	return names
}

// With gives the settings with some replaced, by name and as JSON; null puts a
// setting back to its value in defaults. An unknown name or a bad value is an
// invalid_field error, and the result of several is checked as a whole.
func (s Settings) With(defaults Settings, patch map[string]json.RawMessage) (Settings, error) {
	known := SettingNames()
	for name, value := range patch {
		field := slices.Index(known, name)
		if field < 0 {
			return s, api.Invalid(name, "there is no setting of this name")
		}
		switch {
		case string(value) == "null":
			value = defaults.JSON()[name]
		case isMerged(name):
			var err error
			if value, err = mergeNames(name, s.JSON()[name], defaults.JSON()[name], value); err != nil {
				return s, err
			}
		case name == "budgets":
			var err error
			if value, err = wholeBudgets(defaults.Budgets, value); err != nil {
				return s, err
			}
		}
		// Decoded by itself, because decoding into s would change in place what a
		// pointer in it shares with other settings.
		var one Settings
		document := slices.Concat([]byte(`{"`+name+`":`), value, []byte(`}`))
		if err := Decode(document, &one); err != nil {
			return s, misshapen(name, err)
		}
		reflect.ValueOf(&s).Elem().Field(field).Set(reflect.ValueOf(one).Field(field))
	}
	// Who lowers the maximum alone means the initial value too, which acts only
	// at the next activation anyway.
	_, max := patch["claim_max_concurrency"]
	_, initial := patch["claim_initial_concurrency"]
	if max && !initial && s.ClaimMaxConcurrency > 0 {
		s.ClaimInitialConcurrency = min(s.ClaimInitialConcurrency, s.ClaimMaxConcurrency)
	}
	return s, s.Validate()
}

// JSON is each setting's value by name.
func (s Settings) JSON() map[string]json.RawMessage {
	document, err := Encode(s)
	if err != nil {
		panic("settings do not encode: " + err.Error()) // a struct of plain values always does
	}
	values := map[string]json.RawMessage{}
	if err := json.Unmarshal(document, &values); err != nil {
		panic("settings do not decode: " + err.Error())
	}
	return values
}

// Validate names the first setting whose value means nothing.
func (s Settings) Validate() error {
	if err := s.admission().Validate(); err != nil {
		var c *admission.ConfigError
		if errors.As(err, &c) {
			return api.Invalid(c.Field, "%s", c.Error())
		}
		return err
	}
	if _, err := admission.ParseMode(s.Mode); err != nil {
		return api.Invalid("mode", "mode must be enforce, shadow or paused")
	}
	if s.Durability != "full" && s.Durability != "relaxed" {
		return api.Invalid("durability", "durability must be full or relaxed")
	}
	if s.ClaimsPerMinute < 0 || s.ClaimsPerMinute > 1_000_000 {
		return api.Invalid("claims_per_minute", "claims_per_minute must be between 0 (off) and 1,000,000")
	}
	if a := s.Anonymous; a != nil && (a.ClaimsPerHour < 1 || a.ClaimsPerHour > 1_000_000 || a.Leases < 1 || a.Leases > 1_000_000) {
		return api.Invalid("anonymous", "claims_per_hour and leases must be between 1 and 1,000,000; null closes the namespace to callers without a key")
	}
	const year = int64(365 * 24 * time.Hour / time.Millisecond)
	for _, b := range []struct {
		name               string
		value, least, most int64
	}{
		{"lease_ms", s.LeaseMs, 100, 3_600_000},
		{"max_lease_lifetime_ms", s.MaxLeaseLifetimeMs, 100, year},
		{"idle_timeout_ms", s.IdleTimeoutMs, 100, year},
		{"retention_ms", s.RetentionMs, 1000, 100 * year},
		{"verb_retention_ms", s.VerbRetentionMs, 0, 100 * year},
		{"quantum_items", int64(s.QuantumItems), 1, 1000},
		{"quantum_cost", s.QuantumCost, 0, 1000 * maxMeasure},
		{"batch_items", int64(s.BatchItems), 1, 1000},
		{"quantum_lease_ms", s.QuantumLeaseMs, 100, 3_600_000},
		{"invoke_wait_ms", s.InvokeWaitMs, 0, 30_000},
	} {
		if b.value < b.least || b.value > b.most {
			return api.Invalid(b.name, "%s must be between %d and %d", b.name, b.least, b.most).With("actual", b.value)
		}
	}
	return s.validateRuns()
}

// admission are the settings as the controller takes them, in nanoseconds.
func (s Settings) admission() admission.Config {
	return admission.Config{
		Initial: s.ClaimInitialConcurrency, Max: s.ClaimMaxConcurrency, Pending: s.ClaimMaxPending,
		Target: s.ClaimTargetMs * int64(time.Millisecond), MaxWait: s.ClaimMaxWaitMs * int64(time.Millisecond),
	}
}

// anonymousPerHour is the quota of callers without a key.
func (s Settings) anonymousPerHour() int {
	if s.Anonymous == nil {
		return 0
	}
	return s.Anonymous.ClaimsPerHour
}

// readSettings lays the settings stored in a file over the node's. A stored
// setting that this build does not know, or finds bad, is left alone and named.
func readSettings(tx *storage.Tx, defaults Settings) (s Settings, ignored []string, err error) {
	rows, err := tx.Query(sqlReadSettings)
	if err != nil {
		return s, nil, fmt.Errorf("read settings: %w", err)
	}
	defer rows.Close()
	stored := map[string]json.RawMessage{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return s, nil, fmt.Errorf("read settings: %w", err)
		}
		if slices.Contains(SettingNames(), name) {
			stored[name] = json.RawMessage(value)
		} else {
			ignored = append(ignored, name)
		}
	}
	if err := rows.Err(); err != nil {
		return s, nil, fmt.Errorf("read settings: %w", err)
	}
	if s, err = defaults.With(defaults, stored); err == nil {
		return s, ignored, nil
	}
	// Together they do not stand; take those that stand one after another.
	s = defaults
	for _, name := range SettingNames() {
		value, ok := stored[name]
		if !ok {
			continue
		}
		next, err := s.With(defaults, map[string]json.RawMessage{name: value})
		if err != nil {
			ignored = append(ignored, name)
			continue
		}
		s = next
	}
	slices.Sort(ignored)
	return s, ignored, nil
}

// patchSettings is the command that changes settings stored in the namespace.
type patchSettings struct {
	patch    map[string]json.RawMessage
	defaults Settings
	next     Settings
}

// Apply checks the whole before it stores any. In force is then what the file
// gives, as after the next activation: the settings of before may hold a value
// that only followed from one that the patch replaces.
func (c *patchSettings) Apply(t *Turn) (Answer, error) {
	current, _, err := readSettings(t.tx, c.defaults)
	if err != nil {
		return Answer{}, err
	}
	if _, err = current.With(c.defaults, c.patch); err != nil {
		return Answer{}, err
	}
	for name, value := range c.patch {
		if err := storeSetting(t, name, value); err != nil {
			return Answer{}, err
		}
	}
	c.next, _, err = readSettings(t.tx, c.defaults)
	return Answer{}, err
}

// storeSetting keeps what a patch says of one setting: of one that is merged by
// name, what the namespace's own entries are now.
func storeSetting(t *Turn, name string, value json.RawMessage) error {
	if isMerged(name) && string(value) != "null" {
		own := "{}"
		if _, err := t.QueryRow(sqlReadSetting, []any{name}, &own); err != nil {
			return fmt.Errorf("read setting: %w", err)
		}
		var err error
		if value, err = mergeNames(name, json.RawMessage(own), nil, value); err != nil {
			return err
		}
		if string(value) == "{}" {
			value = json.RawMessage("null")
		}
	}
	var err error
	if string(value) == "null" {
		_, err = t.Exec(sqlDeleteSetting, name)
	} else {
		_, err = t.Exec(sqlWriteSetting, name, strings.TrimSpace(string(value)))
	}
	if err != nil {
		return fmt.Errorf("store setting: %w", err)
	}
	return nil
}

// turned puts the settings into force.
func (c *patchSettings) turned(i *instance) { i.configure(c.next) }

// configure puts settings into force in the turn.
func (i *instance) configure(s Settings) {
	old := i.settings.Swap(&s)
	if old.IdleTimeoutMs != s.IdleTimeoutMs {
		i.self.IdleTimeoutChanged()
	}
	now := i.now().UnixNano()
	decisions, err := i.gate.Reconfigure(now, s.admission())
	if err != nil {
		i.runtime.log.Error("validated settings were refused", "namespace", i.name, "error", err)
		return
	}
	i.decide(decisions)
	mode, err := admission.ParseMode(s.Mode)
	if err == nil && mode != i.gate.Mode() {
		i.decide(i.gate.SetMode(now, mode))
	}
	if mode == admission.Pause {
		for _, c := range i.lot.drain(true) {
			i.tally.refused[admission.Paused.String()]++
			i.answer(c, refusal(admission.Paused, pausedRetry))
		}
	}
	if err := i.quotas.set(s); err != nil {
		i.runtime.log.Error("validated quotas were refused", "namespace", i.name, "error", err)
	}
	i.file.SetRelaxed(s.Durability == "relaxed")
}

// pausedRetry is the advice, in seconds, of a namespace that takes no claims.
const pausedRetry = 30
