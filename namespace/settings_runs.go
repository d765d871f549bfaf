package namespace

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
)

// Bounds of the settings of runs.
const (
	// maxMeasure is small enough that the costs of all the items of many runs add
	// up.
	maxMeasure     = 1_000_000_000_000
	maxPointer     = 200
	maxTimeoutMs   = 60_000
	maxItemTries   = 100
	maxKinds       = 1_000
	maxTenants     = 10_000
	maxTenantName  = 200
	maxBudget      = 1 << 50
	maxPoolScorers = 100
)

var kindName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// isMerged reports whether a setting holds entries by name, of which a patch
// names some.
func isMerged(name string) bool { return name == "kinds" || name == "tenants" }

// mergeNames lays the entries of patch over those of base, name by name; null
// returns to the entry of defaults, or to none.
func mergeNames(setting string, base, defaults, patch json.RawMessage) (json.RawMessage, error) {
	merged, otherwise, given := map[string]json.RawMessage{}, map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := Decode(base, &merged); err != nil {
		return nil, err
	}
	if err := Decode(defaults, &otherwise); err != nil {
		return nil, err
	}
	if err := Decode(patch, &given); err != nil {
		return nil, misshapen(setting, err)
	}
	for name, value := range given {
		switch entry, ok := otherwise[name]; {
		case string(value) != "null":
			merged[name] = value
		case ok:
			merged[name] = entry
		default:
			delete(merged, name)
		}
	}
	return Encode(merged)
}

// wholeBudgets completes the budgets that a patch names with those of the node; null
// is the node's too.
func wholeBudgets(defaults api.Budgets, patch json.RawMessage) (json.RawMessage, error) {
	var own api.TenantSettings // whose budgets may be absent one by one
	if err := Decode(slices.Concat([]byte(`{"budgets":`), patch, []byte(`}`)), &own); err != nil {
		return nil, misshapen("budgets", err)
	}
	return Encode(own.Budgets.Over(defaults))
}

// misshapen says where in a setting's value the wrong type or form is.
func misshapen(setting string, err error) error {
	field := setting
	if e := api.AsError(err); strings.HasPrefix(e.Field, setting+".") {
		field = e.Field
	}
	return api.Invalid(field, "the value of %s has the wrong type or form", field)
}

// validateRuns names the first setting of runs whose value means nothing.
func (s Settings) validateRuns() error {
	if len(s.Kinds) > maxKinds {
		return api.Invalid("kinds", "there may be %d kinds", maxKinds).With("actual", len(s.Kinds))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Kinds)) {
		if !kindName.MatchString(name) {
			return api.Invalid("kinds", "a kind is 1 to 64 letters, digits, dots, underscores and hyphens, the first a letter or digit")
		}
		if err := validateKind("kinds."+name, s.Kinds[name]); err != nil {
			return err
		}
	}
	b := s.Budgets
	if err := validateBudgets("budgets", &b.Runs, &b.Items, &b.ResultCells, &b.InputBytes); err != nil {
		return err
	}
	if len(s.Tenants) > maxTenants {
		return api.Invalid("tenants", "there may be %d tenants with settings", maxTenants).With("actual", len(s.Tenants))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Tenants)) {
		if name == "" || len(name) > maxTenantName {
			return api.Invalid("tenants", "a tenant's name has 1 to %d bytes", maxTenantName)
		}
		if own := s.Tenants[name].Budgets; own != nil {
			if err := validateBudgets("tenants."+name+".budgets", own.Runs, own.Items, own.ResultCells, own.InputBytes); err != nil {
				return err
			}
		}
	}
	return nil
}

func validateKind(field string, k api.Kind) error {
	if !k.Pool.Durable && len(k.Pool.PerScorer) == 0 {
		return api.Invalid(field+".pool", `a kind needs a pool: "durable", or for singular calls {"*":"default","SCORER":"slow"}`)
	}
	if len(k.Pool.PerScorer) > maxPoolScorers {
		return api.Invalid(field+".pool", "a kind may name %d scorers", maxPoolScorers)
	}
	for _, pool := range k.Pool.PerScorer {
		if pool != api.PoolDefault && pool != api.PoolSlow {
			return api.Invalid(field+".pool", "the pool of a scorer is default or slow")
		}
	}
	if k.Single && !k.Pool.Durable {
		return api.Invalid(field+".single", "only kinds of the pool durable can be single")
	}
	if err := validateMeasure(field+".cost", k.Cost); err != nil {
		return err
	}
	if err := validateMeasure(field+".result_cells", k.ResultCells); err != nil {
		return err
	}
	if ms := k.TimeoutMs; ms != nil && (*ms < 1 || *ms > maxTimeoutMs) {
		return api.Invalid(field+".timeout_ms", "timeout_ms must be between 1 and %d", maxTimeoutMs)
	}
	if n := k.MaxAttempts; n != nil && (*n < 1 || *n > maxItemTries) {
		return api.Invalid(field+".max_attempts", "max_attempts must be between 1 and %d", maxItemTries)
	}
	return nil
}

func validateMeasure(field string, m api.Measure) error {
	if m.Value < 0 || m.Value > maxMeasure {
		return api.Invalid(field, "a measure must be between 0 and %d", int64(maxMeasure))
	}
	if m.Field != "" && (!jsontext.Pointer(m.Field).IsValid() || len(m.Field) > maxPointer) {
		return api.Invalid(field, "a field is a JSON pointer of up to %d bytes, such as /a/b", maxPointer)
	}
	return nil
}

// validateBudgets checks those of a tenant or of the namespace; nil is absent.
func validateBudgets(field string, runs, items, cells, bytes *int64) error {
	for _, b := range []struct {
		name  string
		value *int64
	}{{"runs", runs}, {"items", items}, {"result_cells", cells}, {"input_bytes", bytes}} {
		if b.value != nil && (*b.value < 0 || *b.value > maxBudget) {
			return api.Invalid(field+"."+b.name, "a budget must be between 0 and %d", int64(maxBudget))
		}
	}
	return nil
}
