package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/skerryhq/skerry/cmd/skerry/internal/config"
)

// load reads a configuration from a file's text (none if empty), variables and
// arguments.
func load(t *testing.T, file string, environ []string, args ...string) (config.Loaded, error) {
	t.Helper()
	if file != "" {
		path := filepath.Join(t.TempDir(), "skerry.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	config.Bind(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return config.Load(flags, environ)
}

// value finds a setting among the effective values.
func value(t *testing.T, l config.Loaded, name string) config.Value {
	t.Helper()
	at := slices.IndexFunc(l.Values, func(v config.Value) bool { return v.Name == name })
	if at < 0 {
		t.Fatalf("there is no setting %s", name)
	}
	return l.Values[at]
}

func TestFlagWinsOverVariableOverFileOverDefault(t *testing.T) {
	t.Parallel()
	const file = "lease_ms: 2000\nmode: paused\nclaims_per_minute: 3\n"
	l, err := load(t, file, []string{"SKERRY_LEASE=3s", "SKERRY_MODE=shadow"}, "--lease", "4s")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, value, source string }{
		{"lease_ms", "4s", "flag --lease"},
		{"mode", "shadow", "environment SKERRY_MODE"},
		{"claims_per_minute", "3", "file"},
		{"durability", "full", "default"},
	} {
		got := value(t, l, tt.name)
		if got.Value != tt.value || !strings.HasPrefix(got.Source, tt.source) {
			t.Errorf("%s: got %s from %s, want %s from %s", tt.name, got.Value, got.Source, tt.value, tt.source)
		}
	}
	if got, want := l.Config.Settings.LeaseMs, int64(4000); got != want {
		t.Errorf("got lease_ms %d, want %d", got, want)
	}
}

func TestBadValueIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file string
		env  string
		args []string
		want string
	}{
		{args: []string{"--lease", "1ms"}, want: "--lease"},
		{args: []string{"--lease", "5"}, want: "--lease"},
		{args: []string{"--mode", "off"}, want: "--mode"},
		{args: []string{"--listen", ""}, want: "--listen"},
		{args: []string{"--data", ""}, want: "--data"},
		{args: []string{"--namespace", "Acme"}, want: "--namespace"},
		{args: []string{"--max-active", "0"}, want: "--max-active"},
		{args: []string{"--claim-max-concurrency", "10"}, want: "claim_initial_concurrency"},
		{args: []string{"--anonymous", `{"claims_per_hour":1,"leases":1}}`}, want: "--anonymous"},
		{args: []string{"--anonymous", `{"claims_per_hour":1,"leases":1,"more":1}`}, want: "--anonymous"},
		{args: []string{"--anonymous", `{"claims_per_hour":1}`}, want: "anonymous"},
		{args: []string{"--tls-cert", "x"}, want: "tls_key"},
		{args: []string{"--kinds", `{`}, want: "--kinds: must be JSON"},
		{args: []string{"--kinds", `{"k":{}}`}, want: "kinds.k.pool"},
		{args: []string{"--kinds", `{"k":{"pool":"durable","prio":1}}`}, want: "kinds.k"},
		{args: []string{"--kinds", `{"k":{"pool":"durable"},"k":{"pool":"durable"}}`}, want: "--kinds"},
		{args: []string{"--kinds", `{"k":{"pool":"durable","timeout_ms":60001}}`}, want: "kinds.k.timeout_ms"},
		{args: []string{"--budgets", `{"runs":-1}`}, want: "budgets.runs"},
		{args: []string{"--budgets", `{"rnus":1}`}, want: "--budgets"},
		{args: []string{"--tenants", `{"t":{"budgets":{"items":-1}}}`}, want: "tenants.t.budgets.items"},
		{args: []string{"--tenants", `[]`}, want: "--tenants"},
		{args: []string{"--quantum-items", "0"}, want: "--quantum-items"},
		{args: []string{"--quantum-cost", "-1"}, want: "--quantum-cost"},
		{args: []string{"--batch-items", "1001"}, want: "batch_items (from flag --batch-items)"},
		{args: []string{"--quantum-lease", "60000"}, want: "--quantum-lease"},
		{env: "SKERRY_INVOKE_WAIT=31s", want: "invoke_wait_ms (from environment SKERRY_INVOKE_WAIT)"},
		{env: "SKERRY_KINDS=k", want: "SKERRY_KINDS"},
		{file: "kinds:\n  k: {pol: durable}", want: "1: kinds"},
		{file: "quantum_lease_ms: 60s", want: "1: quantum_lease_ms"},
		{env: "SKERRY_CLAIM_TARGET=fast", want: "SKERRY_CLAIM_TARGET"},
		{file: "no_such: 1", want: `1: there is no setting "no_such"`},
		{file: "lease_ms: 1\nlease_ms: 2", want: "lease_ms"},
		{file: "lease_ms: 5s", want: "1: lease_ms"},
		{file: "lease_ms: 50", want: "setting lease_ms (from file"},
		{file: "lease_ms:", want: "1: lease_ms"},
		{file: "data:", want: "1: data"},
		{file: "namespace: [a]", want: "1: namespace"},
		{file: "mode: {a: 1}", want: "1: mode"},
		{file: "mode: off", want: "1: mode"},
		{file: "- a", want: "keys and values"},
		{file: "{", want: "skerry.yaml"},
	} {
		var environ []string
		if tt.env != "" {
			environ = []string{tt.env}
		}
		if _, err := load(t, tt.file, environ, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q %q %q: got error %v, want one that names %s", tt.file, tt.env, tt.args, err, tt.want)
		}
	}
}

func TestFileTakesADocumentWhereTheSettingIsOne(t *testing.T) {
	t.Parallel()
	const kind = `{"k":{"pool":{"*":"default","deep":"slow"},"cost":{"field":"/n","default":2},"timeout_ms":500}}`
	for _, tt := range []struct{ name, file, want string }{
		{"anonymous", "anonymous: {claims_per_hour: 5, leases: 2}", `{"claims_per_hour":5,"leases":2}`},
		{"anonymous", "anonymous: null", "null"},
		{"kinds", "kinds:\n  k:\n    pool: {'*': default, deep: slow}\n    cost: {field: /n, default: 2}\n    timeout_ms: 500\n", kind},
		{"kinds", "kinds: null", "{}"},
		{"budgets", "budgets: {items: 5}", `{"runs":8,"items":5,"result_cells":400000,"input_bytes":20971520}`},
		{"tenants", "tenants:\n  acme: {budgets: {runs: 1}, coalesce: true}\n", `{"acme":{"budgets":{"runs":1},"coalesce":true}}`},
	} {
		l, err := load(t, tt.file, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := value(t, l, tt.name).Value; got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.file, got, tt.want)
		}
	}
}

// What is shown of a setting, given again as its flag, is the same setting.
func TestShownValuesCanBeGivenAgain(t *testing.T) {
	t.Parallel()
	first, err := load(t, "kinds: {k: {pool: default, result_cells: {field: /a/b}}, s: {pool: durable, single: true}}\n"+
		"tenants: {t: {budgets: {input_bytes: 1}}}\nbudgets: {runs: 2}\nanonymous: {claims_per_hour: 5, leases: 2}\n"+
		"quantum_cost: 9000000000\nquantum_lease_ms: 1500\ninvoke_wait_ms: 0\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, v := range first.Values {
		if v.Value != "" && !v.Secret && v.Name != "max_active" {
			args = append(args, v.Flag, v.Value)
		}
	}
	again, err := load(t, "", nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(again.Config, first.Config); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

func TestALaterSourceReplacesADocumentWhole(t *testing.T) {
	t.Parallel()
	l, err := load(t, "kinds: {a: {pool: durable}}", []string{`SKERRY_KINDS={"b":{"pool":"durable"}}`})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := value(t, l, "kinds").Value, `{"b":{"pool":"durable"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestVariablesThatNoSettingReadsAreListedButForTheOrchestrators(t *testing.T) {
	t.Parallel()
	l, err := load(t, "", []string{
		"SKERRY_PORT=tcp://10.0.0.1:80", "SKERRY_PORT_80_TCP=x", "SKERRY_SERVICE_HOST=10.0.0.1",
		"SKERRY_SERVER=http://x", "SKERRY_LEAS=3s", "SKERRY_PORTX=1", "PATH=/bin",
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l.Unknown, []string{"SKERRY_LEAS", "SKERRY_PORTX"}); diff != "" {
		t.Errorf("unknown variables (-got +want):\n%s", diff)
	}
	for _, v := range l.Values {
		if v.Env == "SKERRY_PORT" || strings.HasPrefix(v.Env, "SKERRY_PORT_") || strings.HasPrefix(v.Env, "SKERRY_SERVICE_") {
			t.Errorf("setting %s has the variable %s, which orchestrators set", v.Name, v.Env)
		}
	}
}

func TestOperatorKeyIsNeverShown(t *testing.T) {
	t.Parallel()
	l, err := load(t, "operator_key: sesame", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := value(t, l, "operator_key").Value; l.Config.OperatorKey != "sesame" || strings.Contains(got, "sesame") {
		t.Errorf("got key %q, shown as %q; want sesame, hidden", l.Config.OperatorKey, got)
	}
}
