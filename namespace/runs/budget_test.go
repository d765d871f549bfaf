package runs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// within sets budgets of the namespace.
func within(b api.Budgets) func(*namespace.Settings) {
	return func(s *namespace.Settings) { s.Budgets = b }
}

func TestEachBudgetHoldsAtItsBoundAndOneOver(t *testing.T) {
	t.Parallel()
	// Two items, eight cells, this many bytes.
	body := itemsOf("cells", `{"cells":4}`, `{"cells":4}`)
	size := int64(len(body))
	two := api.Budgets{Runs: 2, Items: 4, ResultCells: 16, InputBytes: 2 * size}
	for name, c := range map[string]struct {
		lower  func(*api.Budgets)
		limit  int64
		one    int64
		itself bool // one less than a single run needs
	}{
		"runs":         {func(b *api.Budgets) { b.Runs-- }, 1, 1, false},
		"items":        {func(b *api.Budgets) { b.Items-- }, 3, 2, false},
		"result_cells": {func(b *api.Budgets) { b.ResultCells-- }, 15, 8, false},
		"input_bytes":  {func(b *api.Budgets) { b.InputBytes-- }, 2*size - 1, size, false},

		"runs alone":         {func(b *api.Budgets) { b.Runs = 0 }, 0, 1, true},
		"items alone":        {func(b *api.Budgets) { b.Items = 1 }, 1, 2, true},
		"result_cells alone": {func(b *api.Budgets) { b.ResultCells = 7 }, 7, 8, true},
		"input_bytes alone":  {func(b *api.Budgets) { b.InputBytes = size - 1 }, size - 1, size, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wide := newDesk(t, measured, within(two))
			wide.must(post(body))
			wide.must(post(body))
			if got := wide.used("a"); got != two {
				t.Errorf("got reservation %+v, want %+v", got, two)
			}

			budgets := two
			c.lower(&budgets)
			w := newDesk(t, measured, within(budgets))
			budget, _, _ := strings.Cut(name, " ")
			if c.itself {
				_, err := w.send(post(body))
				e := code(t, err, api.RunExceedsBudget)
				figures(t, e, map[string]any{"budget": budget, "limit": c.limit, "actual": c.one})
				if e.Code.Retryable() || e.Reason != budget || e.RetryAfter != 0 {
					t.Errorf("got error %+v, want one that is final and names the budget", e)
				}
				w.nothingStored()
				return
			}
			w.must(post(body))
			before, used := w.stored(), w.used("a")
			_, err := w.send(post(body))
			e := code(t, err, api.TenantRunQuotaExceeded)
			figures(t, e, map[string]any{"budget": budget, "limit": c.limit, "used": c.one, "requested": c.one})
			if !e.Code.Retryable() || e.Reason != budget || e.RetryAfter != 5*time.Second {
				t.Errorf("got error %+v, want one to try again after 5 s that names the budget", e)
			}
			if after := w.stored(); after != before || w.used("a") != used {
				t.Errorf("the refusal left %d rows and %+v, want %d and %+v", after, w.used("a"), before, used)
			}
		})
	}
}

func TestCancelledRunFreesItsBudgetWholeAndOnce(t *testing.T) {
	t.Parallel()
	body := itemsOf("cells", `{"cells":4}`, `{"cells":4}`)
	size := int64(len(body))
	w := newDesk(t, measured, within(api.Budgets{Runs: 2, Items: 4, ResultCells: 16, InputBytes: 2 * size}))
	one := api.Budgets{Runs: 1, Items: 2, ResultCells: 8, InputBytes: size}
	var first, second api.Run
	w.must(post(body)).into(t, &first)
	w.must(post(body)).into(t, &second)
	w.cancel("a", first.ID)
	if got := w.used("a"); got != one {
		t.Errorf("got reservation %+v, want that of one run, %+v", got, one)
	}
	w.cancel("a", first.ID)
	if got := w.used("a"); got != one {
		t.Errorf("got reservation %+v after a second cancellation, want still %+v", got, one)
	}
	w.reopen(time.Second)
	if got := w.used("a"); got != one {
		t.Errorf("got reservation %+v after a restart, want %+v", got, one)
	}
	w.must(post(body))
	_, err := w.send(post(body))
	code(t, err, api.TenantRunQuotaExceeded)
	w.cancel("a", second.ID)
	w.must(post(body))
}

func TestBudgetsAreOfTheTenant(t *testing.T) {
	t.Parallel()
	w := newDesk(t, measured, within(api.Budgets{Runs: 1, Items: 10, ResultCells: 10, InputBytes: 1 << 20}), func(s *namespace.Settings) {
		three := int64(3)
		s.Tenants["rich"] = api.TenantSettings{Budgets: &api.TenantBudgets{Runs: &three}}
	})
	submit := func(tenant string) error {
		_, err := w.send(request{tenant: tenant, call: "POST /runs", body: itemsOf("work", `{}`)})
		return err
	}
	for _, tenant := range []string{"a", "b", "rich", "rich", "rich"} {
		if err := submit(tenant); err != nil {
			t.Fatalf("submission of %s: %v", tenant, err)
		}
	}
	for _, tenant := range []string{"a", "rich"} {
		code(t, submit(tenant), api.TenantRunQuotaExceeded)
	}
	// Principals of one tenant share its budget.
	_, err := w.ns.Do(w.ctx(), namespace.Call{
		Class: "runs", Caller: namespace.Caller{Principal: "other", Tenant: "b"}, Command: w.command(post(itemsOf("work", `{}`))),
	})
	code(t, err, api.TenantRunQuotaExceeded)
	w.patch("budgets", `{"runs":2}`)
	if err := submit("a"); err != nil {
		t.Errorf("the budget was raised, and a run is refused: %v", err)
	}
}

// command is the command that the route makes of a request.
func (w *desk) command(q request) namespace.Command {
	w.t.Helper()
	route, r := w.route(q)
	c, err := route.Command(r)
	if err != nil {
		w.t.Fatalf("%s: %v", q.call, err)
	}
	return c
}

// A run that cannot fit is refused for good, even while another budget is in use.
func TestRunThatExceedsABudgetIsNotToldToTryAgain(t *testing.T) {
	t.Parallel()
	w := newDesk(t, within(api.Budgets{Runs: 1, Items: 3, ResultCells: 10, InputBytes: 1 << 20}))
	w.must(post(itemsOf("work", `{}`)))
	_, err := w.send(post(itemsOf("work", repeated(4, `{}`)...)))
	if e := code(t, err, api.RunExceedsBudget); fmt.Sprint(e.Details["budget"]) != "items" {
		t.Errorf("got budget %v, want items", e.Details["budget"])
	}
}
