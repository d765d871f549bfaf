package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/api"
)

// finished makes a tenant one of whose items ended in each of the given ms. Its run was
// created in the first and ended in the last.
func finished(name string, times ...int) *tenant {
	first, last := at(times[0]), at(times[len(times)-1])
	te := &tenant{name: name, run: &api.Run{ID: "run_" + name, CreatedAt: first, EndedAt: &last}}
	for i, ms := range times[1:] {
		when, id := at(ms), fmt.Sprint(i)
		te.rows = append(te.rows, row{id: id})
		te.items = append(te.items, api.RunItem{ID: id})
		te.events = append(te.events, api.RunEvent{Type: eventSucceeded, ItemID: id, At: &when})
	}
	return te
}

func TestQuantaAreToldApartByWorkersAndElseByCommits(t *testing.T) {
	t.Parallel()
	a, b := finished("A", 0, 1, 1, 3, 3, 5, 5, 9), finished("B", 2, 4, 4, 4)
	worked := make(map[itemOf]string)
	out := writeFile(t, "worker.out", `{"run":"run_A","item":"0","quantum":"q1","try":1,"result":"succeeded"}
{"run":"run_A","item":"1","quantum":"q2","try":1,"result":"succeeded"}
{"run":"run_A","item":"2","quantum":"q2","try":1,"result":"succeeded"}
{"run":"run_A","item":"3","quantum":"q3","try":1,"result":"lost"}
{"run":"run_B","item":"0","quantum":"q4","try":1,"result":"succeeded"}
{"run":"run_B","item":"1","quantum":"q5","try":1,"result":"succeeded"}
{"run":"run_B","item":"2","quan`)
	if err := readWorked(out, worked); err != nil || len(worked) != 5 {
		t.Fatalf("got %v and %v", worked, err)
	}
	quanta := quantaOf([]*tenant{a, b}, worked)
	// Two quanta in 1, then what is left of 3, 4 and 5, whose items nobody has told of.
	if got, want := order(quanta), "A A A B B B A A"; got != want {
		t.Errorf("got the order %q, want %q", got, want)
	}
	if both := contested(quanta, []*tenant{a, b}); count(both, "A") != 1 || count(both, "B") != 3 {
		t.Errorf("while both had work: got %v", both)
	}
	if readWorked(out+"no", worked) == nil {
		t.Error("no output of a worker is not told")
	}
}

func TestOrderIsShort(t *testing.T) {
	t.Parallel()
	for letters, want := range map[string]string{
		"": "", "A": "A", "AAAB": "A A A B", "AAAABBA": "A×4 B B A", "ABBBBB": "A B×5",
	} {
		var quanta []quantum
		for _, l := range letters {
			quanta = append(quanta, quantum{tenant: string(l)})
		}
		if got := order(quanta); got != want {
			t.Errorf("order of %s is %q, want %q", letters, got, want)
		}
	}
}

func TestReportTellsWhatEachTenantGot(t *testing.T) {
	t.Parallel()
	tenants := []*tenant{finished("A", 0, 100, 200, 300, 400, 500), finished("B", 150, 250, 350)}
	var out bytes.Buffer
	quanta := quantaOf(tenants, nil)
	if err := report(&out, tenants, quanta, map[itemOf]int{{"run_A", "1"}: 1}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"A       5      5       100ms               500ms      2 of 4 (50 %)               0\n",
		"B       2      2       100ms               200ms      2 of 4 (50 %)               0\n",
		"Order of the quanta: A A B A B A A\n",
		"all granted again: 1\n",
		"Results: 7, each once",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, &out)
		}
	}
}

func TestShareOfNothing(t *testing.T) {
	t.Parallel()
	if got := share(0, 0); got != "none" {
		t.Errorf("got %q", got)
	}
	if got := share(2, 3); got != "2 of 3 (67 %)" {
		t.Errorf("got %q", got)
	}
}
