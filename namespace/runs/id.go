package runs

import (
	"crypto/subtle"
	"encoding/base32"
	"strconv"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Prefixes of the ids.
const (
	runPrefix     = "run_"
	quantumPrefix = "qt_"
)

const (
	// numberWidth is what namespace.ID makes of a number.
	numberWidth = 11
	// proofWidth digits hold the 80 bits of a signature exactly.
	proofWidth = 16
)

var proofEncoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// runID is the id by which a run's tenant knows it. It proves itself: it ends with
// a signature over the number and the tenant, so that an id of another tenant's run
// is like one that was never given, and one of a run long gone is known to be that.
func runID(v *namespace.View, number int64, tenant string) string {
	proof := v.Sign("run", strconv.FormatInt(number, 10), tenant)
	return string(proofEncoding.AppendEncode([]byte(namespace.ID(runPrefix, number)), proof[:]))
}

// openRunID reads the id of a run of v's caller's tenant.
func openRunID(v *namespace.View, s string) (int64, error) {
	if at := len(runPrefix) + numberWidth; len(s) == at+proofWidth {
		number, ok := namespace.ParseID(runPrefix, s[:at])
		if ok && subtle.ConstantTimeCompare([]byte(s), []byte(runID(v, number, v.Caller().Tenant))) == 1 {
			return number, nil
		}
	}
	return 0, errNoRun()
}

func errNoRun() error { return api.Errorf(api.NotFound, "there is no such run of this tenant") }

// quantumID is what a quantum's id says: its fence and its run, 0 for a singular
// call. It proves itself like a run's, for the principal that holds it.
type quantumID struct{ fence, run int64 }

func (q quantumID) format(v *namespace.View, principal string) string {
	proof := v.Sign("quantum", strconv.FormatInt(q.fence, 10), strconv.FormatInt(q.run, 10), principal)
	b := []byte(namespace.ID(quantumPrefix, q.fence) + namespace.ID("", q.run))
	return string(proofEncoding.AppendEncode(b, proof[:]))
}

// openQuantumID reads the id of a quantum that was granted to v's caller. Every
// other id is not_found.
func openQuantumID(v *namespace.View, s string) (quantumID, error) {
	var q quantumID
	if at := len(quantumPrefix) + numberWidth; len(s) == at+numberWidth+proofWidth {
		var fenced, ran bool
		q.fence, fenced = namespace.ParseID(quantumPrefix, s[:at])
		q.run, ran = namespace.ParseID("", s[at:at+numberWidth])
		if fenced && ran && subtle.ConstantTimeCompare([]byte(s), []byte(q.format(v, v.Caller().Principal))) == 1 {
			return q, nil
		}
	}
	return q, api.Errorf(api.NotFound, "there is no such quantum of this caller")
}
