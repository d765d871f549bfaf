package api

import (
	"encoding/json"
	"time"
)

// Role is what a key may do in its namespace. Roles do not include each other,
// except that admin may do all that the other two may.
type Role string

// The roles.
const (
	RoleWorker   Role = "worker"
	RoleProducer Role = "producer"
	RoleAdmin    Role = "admin"
)

// KeySpec asks for a new API key.
type KeySpec struct {
	Principal string `json:"principal"`
	// Tenant is the principal's tenant, by default one of the principal's own
	// name.
	Tenant string `json:"tenant,omitempty"`
	Roles  []Role `json:"roles"`
}

// Key is an API key. Secret is present only in the answer that created it.
type Key struct {
	ID        string    `json:"id"`
	Secret    string    `json:"key,omitempty"`
	Principal string    `json:"principal"`
	Tenant    string    `json:"tenant"`
	Roles     []Role    `json:"roles"`
	CreatedAt time.Time `json:"created_at"`
}

// Revoked is the answer to the revocation of a key.
type Revoked struct {
	ID      string `json:"id"`
	Revoked bool   `json:"revoked"`
}

// Namespace describes one namespace to its operator.
type Namespace struct {
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
	// Epoch counts activations.
	Epoch int64 `json:"epoch"`
	// Settings holds each effective setting and Origins where it came from:
	// "namespace" (stored in it), or "node".
	Settings map[string]json.RawMessage `json:"settings"`
	Origins  map[string]string          `json:"origins"`
}

// NamespaceRef is a namespace in a list.
type NamespaceRef struct {
	Name   string `json:"name"`
	Active bool   `json:"active"`
}

// Deleted is the answer to the deletion of a namespace.
type Deleted struct {
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"`
}

// AdmissionStatus tells how claims are admitted at this moment.
type AdmissionStatus struct {
	Mode        string  `json:"mode"`
	Limit       float64 `json:"limit"`
	Concurrency int     `json:"concurrency"`
	InFlight    int     `json:"in_flight"`
	Pending     int     `json:"pending"`
	// Parked counts the claims that wait for work outside admission.
	Parked       int   `json:"parked"`
	OldestWaitMs int64 `json:"oldest_wait_ms"`
	// AverageMs is the moving average of the service time; absent before the
	// first sample.
	AverageMs *float64 `json:"average_ms,omitempty"`
	TargetMs  int64    `json:"target_ms"`
	// Admitted and Refused count decisions since the activation. WouldWait and
	// WouldRefuse count what shadow mode let through.
	Admitted    int64            `json:"admitted"`
	Refused     map[string]int64 `json:"refused"`
	WouldWait   int64            `json:"would_wait"`
	WouldRefuse map[string]int64 `json:"would_refuse"`
	// Principals holds the caller's own row, or for an admin those of the
	// thousand busiest.
	Principals []PrincipalStatus `json:"principals"`
}

// PrincipalStatus is one principal's part in admission.
type PrincipalStatus struct {
	Principal    string `json:"principal"`
	InFlight     int    `json:"in_flight"`
	Pending      int    `json:"pending"`
	Parked       int    `json:"parked"`
	OldestWaitMs int64  `json:"oldest_wait_ms"`
}

// Catalog is the machine-readable authority on what the namespace offers and
// the limits that it enforces.
type Catalog struct {
	Version string `json:"version"`
	// Kinds, Pools and Budgets belong to durable runs and are empty where none
	// are configured.
	Kinds        map[string]Kind   `json:"kinds"`
	Pools        map[string]Pool   `json:"pools"`
	Limits       map[string]int64  `json:"limits"`
	Budgets      Budgets           `json:"budgets"`
	QuantumItems int               `json:"quantum_items"`
	QuantumCost  int64             `json:"quantum_cost"`
	BatchItems   int               `json:"batch_items"`
	RetentionMs  int64             `json:"retention_ms"`
	Admission    AdmissionSettings `json:"admission"`
	// Services names the classes of the namespace.
	Services []string `json:"services"`
}

// AdmissionSettings are the admission settings in force.
type AdmissionSettings struct {
	Mode               string          `json:"mode"`
	InitialConcurrency int             `json:"claim_initial_concurrency"`
	MaxConcurrency     int             `json:"claim_max_concurrency"`
	MaxPending         int             `json:"claim_max_pending"`
	MaxWaitMs          int64           `json:"claim_max_wait_ms"`
	TargetMs           int64           `json:"claim_target_ms"`
	ClaimsPerMinute    int             `json:"claims_per_minute"`
	Anonymous          *AnonymousQuota `json:"anonymous"`
}

// AnonymousQuota opens a namespace to requests without a key, as one principal.
type AnonymousQuota struct {
	// ClaimsPerHour bounds the claim commands in any 60 minutes.
	ClaimsPerHour int `json:"claims_per_hour"`
	// Leases bounds the leases held at once.
	Leases int `json:"leases"`
}

// Health is the answer of the health routes.
type Health struct {
	Status  string `json:"status"`
	Version string `json:"version,omitempty"`
	// Checks names what a readiness check found wrong.
	Checks map[string]string `json:"checks,omitempty"`
}
