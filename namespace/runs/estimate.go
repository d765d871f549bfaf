package runs

import (
	"context"
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// estimate says what a run would cost, and whether it would be admitted now.
type estimate struct{ body []byte }

// Read judges the run as its admission would.
func (e *estimate) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	d, err := readDocument(e.body)
	if err != nil {
		return namespace.Answer{}, err
	}
	p, refused, err := planRun(d, v.Settings())
	if err != nil {
		return namespace.Answer{}, err
	}
	if refused == nil {
		used, err := readUsed(v)
		if err != nil {
			return namespace.Answer{}, err
		}
		refused = checkBudget(v.Settings().BudgetsOf(v.Caller().Tenant), used, p.needs())
	}
	doc := &api.RunEstimate{Admissible: refused == nil, Work: p.work(v.Settings())}
	if refused != nil {
		why := api.AsError(refused)
		doc.Reason = string(why.Code)
		if why.Code == api.RunExceedsBudget || why.Code == api.TenantRunQuotaExceeded {
			doc.Budget = why.Reason
		}
	}
	return namespace.Answer{Body: doc}, nil
}

// readUsed reads what the caller's tenant has in flight.
func readUsed(v *namespace.View) (api.Budgets, error) {
	var u api.Budgets
	_, err := v.QueryRow(sqlReadUsed, []any{v.Caller().Tenant}, &u.Runs, &u.Items, &u.ResultCells, &u.InputBytes)
	if err != nil {
		return u, fmt.Errorf("read what is in flight: %w", err)
	}
	return u, nil
}
