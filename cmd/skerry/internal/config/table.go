package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/skerryhq/skerry"
	"github.com/skerryhq/skerry/api"
)

// entry is one setting: its key in the file, its flag, and how it is read and
// shown. The environment variable is SKERRY_ and the flag's name in capitals.
type entry struct {
	key, flag, help string
	secret          bool
	field           func(c *Config) field
}

// field reads and shows one value of a Config. text is how flags and the
// environment write it, file how the file does where that differs.
type field struct {
	set     func(text string) error
	setFile func(text string) error
	show    func() string
	// document says that the value is a JSON document, which the file may write
	// as a mapping or null.
	document bool
}

// env is the entry's environment variable.
func (e entry) env() string { return "SKERRY_" + strings.ToUpper(strings.ReplaceAll(e.flag, "-", "_")) }

// entries is the table of all settings.
func entries() []entry {
	return []entry{
		{key: "data", flag: "data", help: "data directory", field: func(c *Config) field { return required(&c.Data) }},
		{key: "listen", flag: "listen", help: "address to serve", field: func(c *Config) field { return required(&c.Listen) }},
		{key: "metrics_listen", flag: "metrics-listen", help: "separate address for /metrics", field: func(c *Config) field { return text(&c.MetricsListen) }},
		{key: "namespace", flag: "namespace", help: "serve this namespace at /api/v2 too, created if absent", field: func(c *Config) field { return namespace(&c.Namespace) }},
		{key: "tls_cert", flag: "tls-cert", help: "certificate file (PEM)", field: func(c *Config) field { return text(&c.TLSCert) }},
		{key: "tls_key", flag: "tls-key", help: "private key file (PEM)", field: func(c *Config) field { return text(&c.TLSKey) }},
		{key: "operator_key", flag: "operator-key", help: "operator's key; otherwise the one in DATA/operator.key", secret: true, field: func(c *Config) field { return text(&c.OperatorKey) }},
		{key: "max_active", flag: "max-active", help: "most namespaces active at once", field: func(c *Config) field { return number(&c.MaxActive, 1) }},
		{key: "max_connections", flag: "max-connections", help: "most connections open at once", field: func(c *Config) field { return number(&c.MaxConnections, 1) }},
		{key: "shutdown_timeout", flag: "shutdown-timeout", help: "longest drain after SIGTERM", field: func(c *Config) field { return duration(&c.ShutdownTimeout) }},
		{key: "log_level", flag: "log-level", help: "debug, info, warn or error", field: func(c *Config) field { return choice(&c.LogLevel, "debug", "info", "warn", "error") }},
		{key: "log_format", flag: "log-format", help: "text or json", field: func(c *Config) field { return choice(&c.LogFormat, "text", "json") }},

		{key: "claim_initial_concurrency", flag: "claim-initial-concurrency", help: "claims in flight at first", field: func(c *Config) field { return number(&c.Settings.ClaimInitialConcurrency, 1) }},
		{key: "claim_max_concurrency", flag: "claim-max-concurrency", help: "most claims in flight", field: func(c *Config) field { return number(&c.Settings.ClaimMaxConcurrency, 1) }},
		{key: "claim_max_pending", flag: "claim-max-pending", help: "most claims waiting for admission", field: func(c *Config) field { return number(&c.Settings.ClaimMaxPending, 0) }},
		{key: "claim_max_wait_ms", flag: "claim-max-wait", help: "longest wait for admission", field: func(c *Config) field { return millis(&c.Settings.ClaimMaxWaitMs) }},
		{key: "claim_target_ms", flag: "claim-target", help: "service time above which the limit falls", field: func(c *Config) field { return millis(&c.Settings.ClaimTargetMs) }},
		{key: "claims_per_minute", flag: "claims-per-minute", help: "legacy quota per principal; 0 is off", field: func(c *Config) field { return number(&c.Settings.ClaimsPerMinute, 0) }},
		{key: "mode", flag: "mode", help: "admission: enforce, shadow or paused", field: func(c *Config) field { return choice(&c.Settings.Mode, "enforce", "shadow", "paused") }},
		{key: "anonymous", flag: "anonymous", help: "what callers without a key may do: " + anonymousForm + ", or null", field: func(c *Config) field {
			return document(&c.Settings, "anonymous", anonymousForm, func(s *skerry.Settings) **api.AnonymousQuota { return &s.Anonymous })
		}},
		{key: "lease_ms", flag: "lease", help: "length of a lease where none is asked for", field: func(c *Config) field { return millis(&c.Settings.LeaseMs) }},
		{key: "max_lease_lifetime_ms", flag: "max-lease-lifetime", help: "longest a lease can be renewed", field: func(c *Config) field { return millis(&c.Settings.MaxLeaseLifetimeMs) }},
		{key: "durability", flag: "durability", help: "full (survives power loss) or relaxed (survives a killed process)", field: func(c *Config) field { return choice(&c.Settings.Durability, "full", "relaxed") }},
		{key: "idle_timeout_ms", flag: "idle-timeout", help: "rest after which a namespace is passivated", field: func(c *Config) field { return millis(&c.Settings.IdleTimeoutMs) }},
		{key: "retention_ms", flag: "retention", help: "life of idempotency records, and of runs from their end", field: func(c *Config) field { return millis(&c.Settings.RetentionMs) }},
		{key: "verb_retention_ms", flag: "verb-retention", help: "life of verbs that have ended; 0 is for ever", field: func(c *Config) field { return millis(&c.Settings.VerbRetentionMs) }},

		{key: "kinds", flag: "kinds", help: "kinds of items, by name: " + kindsForm, field: func(c *Config) field {
			return document(&c.Settings, "kinds", kindsForm, func(s *skerry.Settings) *map[string]api.Kind { return &s.Kinds })
		}},
		{key: "budgets", flag: "budgets", help: "what each tenant may have in flight: " + budgetsForm, field: func(c *Config) field {
			return document(&c.Settings, "budgets", budgetsForm, func(s *skerry.Settings) *api.Budgets { return &s.Budgets })
		}},
		{key: "tenants", flag: "tenants", help: "what is different for some tenants, by name: " + tenantsForm, field: func(c *Config) field {
			return document(&c.Settings, "tenants", tenantsForm, func(s *skerry.Settings) *map[string]api.TenantSettings { return &s.Tenants })
		}},
		{key: "quantum_items", flag: "quantum-items", help: "most items of a run that a worker is given at once", field: func(c *Config) field { return number(&c.Settings.QuantumItems, 1) }},
		{key: "quantum_cost", flag: "quantum-cost", help: "most estimated cost that a worker is given at once; 0 is no bound", field: func(c *Config) field { return number(&c.Settings.QuantumCost, 0) }},
		{key: "batch_items", flag: "batch-items", help: "how many results workers commit at once", field: func(c *Config) field { return number(&c.Settings.BatchItems, 1) }},
		{key: "quantum_lease_ms", flag: "quantum-lease", help: "length of a quantum's lease where none is asked for", field: func(c *Config) field { return millis(&c.Settings.QuantumLeaseMs) }},
		{key: "invoke_wait_ms", flag: "invoke-wait", help: "longest wait of a singular call for a free slot", field: func(c *Config) field { return millis(&c.Settings.InvokeWaitMs) }},
	}
}

// The forms of the settings that are JSON documents, for help and errors.
const (
	anonymousForm = `{"claims_per_hour":N,"leases":N}`
	kindsForm     = `{"NAME":{"pool":"durable"|{"*":"default","SCORER":"slow"},"cost":N,"result_cells":N,"timeout_ms":N,"max_attempts":N,"single":B}}`
	budgetsForm   = `{"runs":N,"items":N,"result_cells":N,"input_bytes":N}`
	tenantsForm   = `{"NAME":{"budgets":{...},"coalesce":B}}`
)

func text(p *string) field {
	set := func(s string) error { *p = s; return nil }
	return field{set: set, setFile: set, show: func() string { return *p }}
}

// required is text that means nothing when it is empty.
func required(p *string) field {
	f := text(p)
	f.set = func(s string) error {
		if s == "" {
			return errors.New("must not be empty")
		}
		*p = s
		return nil
	}
	f.setFile = f.set
	return f
}

// namespace is a namespace's name, or nothing.
func namespace(p *string) field {
	f := text(p)
	f.set = func(s string) error {
		var bad *api.Error
		if err := skerry.CheckName(s); s != "" && errors.As(err, &bad) {
			return errors.New(bad.Message)
		}
		*p = s
		return nil
	}
	f.setFile = f.set
	return f
}

func choice(p *string, allowed ...string) field {
	set := func(s string) error {
		for _, a := range allowed {
			if s == a {
				*p = s
				return nil
			}
		}
		return fmt.Errorf("must be one of %s", strings.Join(allowed, ", "))
	}
	return field{set: set, setFile: set, show: func() string { return *p }}
}

func number[T int | int64](p *T, least T) field {
	set := func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || int64(T(n)) != n {
			return errors.New("must be a whole number")
		}
		if T(n) < least {
			return fmt.Errorf("must be at least %d", least)
		}
		*p = T(n)
		return nil
	}
	return field{set: set, setFile: set, show: func() string { return strconv.FormatInt(int64(*p), 10) }}
}

func duration(p *time.Duration) field {
	set := func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			return errors.New("must be a positive duration such as 10s or 1m30s")
		}
		*p = d
		return nil
	}
	return field{set: set, setFile: set, show: func() string { return p.String() }}
}

// millis is a duration that the file, like the HTTP interface, writes as a whole
// number of milliseconds.
func millis(p *int64) field {
	set := func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 || d%time.Millisecond != 0 {
			return errors.New("must be a duration in whole milliseconds, such as 500ms or 10s")
		}
		*p = d.Milliseconds()
		return nil
	}
	setFile := func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 {
			return errors.New("must be a whole number of milliseconds")
		}
		*p = n
		return nil
	}
	return field{set: set, setFile: setFile, show: func() string { return (time.Duration(*p) * time.Millisecond).String() }}
}

// document is a JSON document or null, read as a namespace reads it when the
// setting is changed there: strictly, and what it does not say is the default.
func document[T any](settings *skerry.Settings, name, form string, at func(*skerry.Settings) *T) field {
	set := func(s string) error {
		if !json.Valid([]byte(s)) {
			return fmt.Errorf("must be JSON: %s", form)
		}
		defaults := skerry.DefaultSettings()
		read, err := defaults.With(defaults, map[string]json.RawMessage{name: json.RawMessage(s)})
		var bad *api.Error
		if errors.As(err, &bad) {
			return fmt.Errorf("must be %s or null: %s: %s", form, bad.Field, bad.Message)
		}
		if err != nil {
			return err
		}
		*at(settings) = *at(&read)
		return nil
	}
	show := func() string { return string(settings.JSON()[name]) }
	return field{set: set, setFile: set, show: show, document: true}
}
