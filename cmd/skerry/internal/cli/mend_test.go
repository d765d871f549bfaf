package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
)

func TestRefusalsOfRunsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		refusal *api.Error
		want    string
		code    int
	}{
		{api.Errorf(api.RunExpired, "m"), "; it is removed for good", exitNotFound},
		{api.Errorf(api.NotFound, "m"), "; check the id or name, and --ns", exitNotFound},
		{api.Errorf(api.UnknownKind, "m"), "; register it with skerry ns settings set 'kinds={…}'", exitError},
		{api.Errorf(api.RunTerminal, "m").With("status", "failed"), "; it is failed, and stays so", exitConflict},
		{api.Errorf(api.TenantRunQuotaExceeded, "m").After(5 * time.Second), "; try again in 5s", exitTryAgain},
		{api.Errorf(api.ItemTimeout, "m"), "; try again in 1s", exitTryAgain},
	} {
		e, _, _ := newEnv(nil)
		e.began = true
		if line, code := e.mend(nil, tt.refusal); !strings.Contains(line, tt.want) || code != tt.code {
			t.Errorf("%s: got %d and %q, want %d and %q", tt.refusal.Code, code, line, tt.code, tt.want)
		}
	}
}
