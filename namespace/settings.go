package namespace

import (
	"time"

	"github.com/skerryhq/skerry/api"
)

// Settings are what can be set per namespace. The node has a value for each, and
// a namespace may store its own, which wins. Durations are milliseconds.
type Settings struct {
	ClaimInitialConcurrency int                 `json:"claim_initial_concurrency"`
	ClaimMaxConcurrency     int                 `json:"claim_max_concurrency"`
	ClaimMaxPending         int                 `json:"claim_max_pending"`
	ClaimMaxWaitMs          int64               `json:"claim_max_wait_ms"`
	ClaimTargetMs           int64               `json:"claim_target_ms"`
	ClaimsPerMinute         int                 `json:"claims_per_minute"`
	Mode                    string              `json:"mode"`
	Anonymous               *api.AnonymousQuota `json:"anonymous"`
	LeaseMs                 int64               `json:"lease_ms"`
	MaxLeaseLifetimeMs      int64               `json:"max_lease_lifetime_ms"`
	Durability              string              `json:"durability"`
	IdleTimeoutMs           int64               `json:"idle_timeout_ms"`
	RetentionMs             int64               `json:"retention_ms"`
	VerbRetentionMs         int64               `json:"verb_retention_ms"`

	// Kinds and Tenants are merged by name: a namespace's own entries stand beside
	// those of the node and win.
	Kinds          map[string]api.Kind           `json:"kinds"`
	Budgets        api.Budgets                   `json:"budgets"`
	Tenants        map[string]api.TenantSettings `json:"tenants"`
	QuantumItems   int                           `json:"quantum_items"`
	QuantumCost    int64                         `json:"quantum_cost"` // 0 is no bound
	BatchItems     int                           `json:"batch_items"`
	QuantumLeaseMs int64                         `json:"quantum_lease_ms"`
	InvokeWaitMs   int64                         `json:"invoke_wait_ms"`
}

// DefaultSettings are the node's values where nothing else is said.
func DefaultSettings() Settings {
	return Settings{
		ClaimInitialConcurrency: 32,
		ClaimMaxConcurrency:     1024,
		ClaimMaxPending:         2048,
		ClaimMaxWaitMs:          10_000,
		ClaimTargetMs:           500,
		Mode:                    "enforce",
		LeaseMs:                 60_000,
		MaxLeaseLifetimeMs:      (24 * time.Hour).Milliseconds(),
		Durability:              "full",
		IdleTimeoutMs:           60_000,
		RetentionMs:             (30 * 24 * time.Hour).Milliseconds(),
		Kinds:                   map[string]api.Kind{},
		Budgets:                 api.Budgets{Runs: 8, Items: 4_000, ResultCells: 400_000, InputBytes: 20 << 20},
		Tenants:                 map[string]api.TenantSettings{},
		QuantumItems:            4,
		BatchItems:              4,
		QuantumLeaseMs:          60_000,
		InvokeWaitMs:            1_000,
	}
}

// BudgetsOf are the budgets of a tenant.
func (s *Settings) BudgetsOf(tenant string) api.Budgets {
	return s.Tenants[tenant].Budgets.Over(s.Budgets)
}
