package runs

import (
	"fmt"
	"unicode/utf8"

	"github.com/skerryhq/skerry/api"
)

// Bounds of what workers and callers say.
const (
	minLeaseMs       = 100
	maxLeaseMs       = 24 * 60 * 60_000
	maxKindsAsked    = 100
	maxScorerBytes   = 200
	maxCost          = 1_000_000_000_000
	maxFailureBytes  = 16 << 10
	maxCodeBytes     = 64
	maxCommitResults = maxItems
)

// within refuses a number outside its bounds.
func within[T int | int64](field string, n, least, most T) error {
	if n >= least && n <= most {
		return nil
	}
	limit := most
	if n < least {
		limit = least
	}
	return api.Invalid(field, "%s must be between %d and %d", field, least, most).With("limit", limit).With("actual", n)
}

// optional is the value of a field, or its default if it is absent.
func optional[T int | int64](field string, value *T, otherwise, least, most T) (T, error) {
	if value == nil {
		return otherwise, nil
	}
	return *value, within(field, *value, least, most)
}

func checkPool(pool string) error {
	switch pool {
	case api.PoolDefault, api.PoolSlow, api.PoolDurable:
		return nil
	}
	return api.Invalid("pool", "pool must be %s, %s or %s", api.PoolDefault, api.PoolSlow, api.PoolDurable)
}

func checkKinds(kinds []string) error {
	if len(kinds) > maxKindsAsked {
		return api.Invalid("kinds", "a request may name %d kinds", maxKindsAsked).
			With("limit", maxKindsAsked).With("actual", len(kinds))
	}
	for i, kind := range kinds {
		if kind == "" || len(kind) > maxCodeBytes {
			return api.Invalid(fmt.Sprintf("kinds[%d]", i), "a kind has 1 to %d bytes", maxCodeBytes)
		}
	}
	return nil
}

// checkFailure bounds what a worker says went wrong; field is where it stands.
func checkFailure(field string, f *api.Failure) error {
	switch {
	case f.Message == "":
		return api.Invalid(field+".message", "a failure must say what went wrong")
	case !utf8.ValidString(f.Message) || !utf8.ValidString(f.Code):
		return api.Invalid(field, "a failure must be UTF-8")
	case len(f.Message) > maxFailureBytes:
		return api.Invalid(field+".message", "the message is too long").With("limit", maxFailureBytes).With("actual", len(f.Message))
	case len(f.Code) > maxCodeBytes:
		return api.Invalid(field+".code", "the code is too long").With("limit", maxCodeBytes).With("actual", len(f.Code))
	}
	return nil
}
