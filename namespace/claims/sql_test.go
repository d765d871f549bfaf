package claims

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/namespace"
)

// queryPlan reads how SQLite means to carry out a statement.
type queryPlan struct {
	sql string
	see func(detail string)
}

func (p queryPlan) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	rows, err := v.Query(`EXPLAIN QUERY PLAN `+p.sql, make([]any, parameters(p.sql))...)
	if err != nil {
		return namespace.Answer{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int64
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return namespace.Answer{}, err
		}
		p.see(detail)
	}
	return namespace.Answer{}, rows.Err()
}

var numberedParameter = regexp.MustCompile(`\?\d+`)

// parameters is how many arguments a statement takes.
func parameters(sql string) int {
	most := 0
	for _, p := range numberedParameter.FindAllString(sql, -1) {
		n, _ := strconv.Atoi(p[1:])
		most = max(most, n)
	}
	if most > 0 {
		return most
	}
	return strings.Count(sql, "?")
}

// What every command or sweep does again and again must neither scan a table nor
// sort, or it slows down as finished verbs pile up.
func TestHotStatementsAreFlat(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	rt, err := namespace.Open(ctx, t.TempDir(), namespace.Options{Classes: []namespace.Class{Class()}})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	if _, err := rt.Create(ctx, "n"); err != nil {
		t.Fatal(err)
	}
	for name, sql := range map[string]string{
		"insert noun": sqlInsertNoun, "newest noun": sqlNewestNoun, "noun version": sqlNounVersion, "noun": sqlReadNoun,
		"count end": sqlCountEnd, "attempts": sqlReadAttempts, "alternatives": sqlReadAlternatives, "makers": sqlMakers,
		"verb": sqlSelectVerb + `WHERE s.id = ?`, "held verb": sqlSelectHeld + `WHERE s.id = ?`,
		"verbs": sqlListVerbs, "verbs desc": sqlListVerbsDesc, "group": sqlListGroup, "group desc": sqlListGroupDesc,
		"nouns": sqlListNouns, "nouns desc": sqlListNounsDesc, "versions": sqlNounVersions, "versions desc": sqlNounVersionsDesc,
		"count ahead": sqlCountAhead, "inputs": sqlReadInputs, "waiting for noun": sqlWaitingForNoun,
		"waiting for group": sqlWaitingForGroup, "stop inputs": sqlStopInputs, "ready kind": sqlReadyKind, "shelf": sqlShelf,
		"anonymous leases": sqlAnonymousLeases, "due leases": sqlDueLeases, "due gates": sqlDueGates,
		"next check": sqlNextCheck, "next gate": sqlNextGate, "receipts": sqlListReceipts, "receipts desc": sqlListReceiptsDesc, "next receipts": sqlNextReceipts,
		"old unmade": sqlOldUnmade, "next unmade": sqlNextUnmade, "grant": grantStatements[0],
		"cut leases": sqlCutLeases,
	} {
		see := func(detail string) {
			scans := strings.HasPrefix(detail, "SCAN ") && !strings.Contains(detail, "USING") &&
				!strings.Contains(detail, "VALUES") && !strings.Contains(detail, "subquery")
			if scans || strings.Contains(detail, "TEMP B-TREE") {
				t.Errorf("%s: %s", name, detail)
			}
		}
		if _, err := rt.Namespace("n").Read(ctx, className, namespace.Caller{Principal: "p"}, queryPlan{sql, see}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
