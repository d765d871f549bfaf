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
	}
}
