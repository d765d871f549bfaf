package runs

import (
	"context"

	"github.com/skerryhq/skerry/api"
)

// ClaimQuanta asks for work for a free slot of a pool, and waits for it as long as
// spec.WaitMs says.
func (s Service) ClaimQuanta(ctx context.Context, spec api.QuantumSpec) (api.Quanta, error) {
	q, err := newClaimQuanta(s.base(), spec)
	if err != nil {
		return api.Quanta{}, err
	}
	return do[api.Quanta](ctx, s, q)
}

// HeartbeatQuantum renews the lease of a quantum.
func (s Service) HeartbeatQuantum(ctx context.Context, quantum string, spec api.HeartbeatSpec) (api.Heartbeat, error) {
	h, err := newHeartbeat(quantum, spec)
	if err != nil {
		return api.Heartbeat{}, err
	}
	return do[api.Heartbeat](ctx, s, h)
}

// CommitQuantum reports what came of items of a quantum.
func (s Service) CommitQuantum(ctx context.Context, quantum string, spec api.CommitSpec) (api.Committed, error) {
	k, err := newCommit(s.base(), quantum, spec)
	if err != nil {
		return api.Committed{}, err
	}
	return do[api.Committed](ctx, s, k)
}

// ReleaseQuantum gives the open items of a quantum back.
func (s Service) ReleaseQuantum(ctx context.Context, quantum string, spec api.QuantumReleaseSpec) (api.QuantumReleased, error) {
	return do[api.QuantumReleased](ctx, s, &release{s.base(), quantum, spec.Fence})
}

// Invoke makes one singular call and waits for what comes of it.
func (s Service) Invoke(ctx context.Context, spec api.InvokeSpec) (api.Invoked, error) {
	v, err := newInvoke(spec)
	if err != nil {
		return api.Invoked{}, err
	}
	return do[api.Invoked](ctx, s, v)
}
