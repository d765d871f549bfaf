package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// errNothing says that there was no work to claim.
var errNothing = errors.New("nothing to claim now")

// mend puts an error into one line that ends with what to do about it, and
// chooses the exit code.
func (e *env) mend(cmd *cobra.Command, err error) (line string, code int) {
	var misuse *usageError
	var refusal *api.Error
	var status *client.StatusError
	var request *url.Error
	var network *net.OpError
	switch {
	case errors.Is(err, errNothing):
		return err.Error(), exitTryAgain
	case errors.As(err, &misuse) || !e.began:
		return oneLine(err.Error()) + " (see " + cmd.CommandPath() + " --help)", exitUsage
	case errors.As(err, &refusal):
		return e.mendRefusal(err, refusal)
	case errors.As(err, &status):
		return oneLine(err.Error()) + "; does a Skerry server listen at " + e.server + "? (--server or SKERRY_SERVER)", exitError
	case errors.Is(err, context.DeadlineExceeded):
		return "no success within --timeout " + e.timeout.String() + ": " + oneLine(err.Error()), exitTryAgain
	case errors.Is(err, context.Canceled):
		return "interrupted", exitError
	case errors.Is(err, client.ErrNoAnswer), errors.As(err, &request), errors.As(err, &network):
		return "no server answers at " + e.server + "; is one running there? Start it with skerry serve, or set --server or SKERRY_SERVER", exitTryAgain
	}
	return oneLine(err.Error()), exitError
}

func (e *env) mendRefusal(err error, refusal *api.Error) (line string, code int) {
	what := oneLine(err.Error())
	if refusal.Field != "" {
		what += " [" + oneLine(refusal.Field) + "]"
	}
	if entries := badEntries(refusal); entries != "" {
		what += ": " + entries
	}
	status := refusal.Code.Status()
	switch {
	case refusal.Code == api.Unauthorized:
		return what + "; " + e.mendIdentity(), exitError
	case refusal.Code == api.Forbidden:
		return what + "; use a key whose roles allow this: skerry key create --role producer, worker or admin", exitError
	case refusal.Code == api.RunExpired:
		return what + "; it is removed for good (retention_ms says when)", exitNotFound
	case refusal.Code == api.UnknownKind:
		return what + "; register it with skerry ns settings set 'kinds={…}'", exitError
	case status == 404:
		return what + "; check the id or name, and --ns", exitNotFound
	case refusal.Code.Retryable():
		return what + "; try again in " + max(refusal.RetryAfter, time.Second).String(), exitTryAgain
	case status == 409:
		return what + mendConflict(refusal), exitConflict
	case status >= 500:
		return what + "; the server's log has more under request " + oneLine(refusal.RequestID), exitError
	}
	return what, exitError
}

func (e *env) mendIdentity() string {
	switch {
	case e.operatorKey != "":
		return "the operator key is not this node's: check --operator-key or SKERRY_OPERATOR_KEY"
	case e.key == "":
		return "set --key or SKERRY_KEY (make one with skerry key create), or for namespaces and keys --operator-key or SKERRY_OPERATOR_KEY"
	}
	return "a key works in its own namespace only, until it is revoked: check --ns and --key"
}

// mendConflict says what a worker or producer does about a conflict.
func mendConflict(refusal *api.Error) string {
	switch refusal.Code {
	case api.StaleFence:
		return "; the verb was granted anew, this work is void"
	case api.LeaseExpired:
		return "; the lease is over: submit what is done, or claim again"
	case api.ClaimOver:
		return "; this claim was reported on before, there is nothing left to do"
	case api.VerbTerminal:
		return itIs(refusal, "state") + ", and stays so"
	case api.VerbNotFailed:
		return itIs(refusal, "state")
	case api.RunTerminal:
		return itIs(refusal, "status") + ", and stays so"
	}
	return ""
}

// itIs is what the refusal says of the state of a verb or the status of a run.
func itIs(refusal *api.Error, detail string) string {
	return oneLine(fmt.Sprintf("; it is %v", refusal.Details[detail]))
}

// badEntries names the first bad entry of a batch that was refused.
func badEntries(refusal *api.Error) string {
	list, _ := refusal.Details["errors"].([]any)
	if len(list) == 0 {
		return ""
	}
	first, _ := list[0].(map[string]any)
	line := fmt.Sprintf("entry %v: %v", first["index"], first["message"])
	if len(list) > 1 {
		line += fmt.Sprintf(" (and %d more)", len(list)-1)
	}
	return oneLine(line)
}

// oneLine makes text from elsewhere safe for a terminal: one line, no control
// character.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || slices.Contains(directions, r) {
			return -1
		}
		return r
	}, s)
}

// directions are characters that turn text around, so that it reads as what it is
// not.
var directions = []rune{'\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'}
