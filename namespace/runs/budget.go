package runs

import (
	"time"

	"github.com/skerryhq/skerry/api"
)

// quotaRetry is when a tenant over its budget may try again.
const quotaRetry = 5 * time.Second

// checkBudget says whether a tenant that has used so much of its budgets may have
// needs as well.
func checkBudget(budgets, used, needs api.Budgets) error {
	rows := []struct {
		name                string
		budget, used, needs int64
	}{
		{"runs", budgets.Runs, used.Runs, needs.Runs},
		{"items", budgets.Items, used.Items, needs.Items},
		{"result_cells", budgets.ResultCells, used.ResultCells, needs.ResultCells},
		{"input_bytes", budgets.InputBytes, used.InputBytes, needs.InputBytes},
	}
	for _, r := range rows {
		if r.needs > r.budget {
			return api.Errorf(api.RunExceedsBudget, "the run needs more of the budget %s than its tenant has", r.name).
				Because(r.name).With("budget", r.name).With("limit", r.budget).With("actual", r.needs)
		}
	}
	for _, r := range rows {
		if r.used+r.needs > r.budget {
			return api.Errorf(api.TenantRunQuotaExceeded, "the tenant's budget %s is in use by its runs in flight", r.name).
				Because(r.name).After(quotaRetry).With("budget", r.name).With("limit", r.budget).
				With("used", r.used).With("requested", r.needs).With("actual", r.used+r.needs)
		}
	}
	return nil
}
