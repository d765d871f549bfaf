package figure

// Summary is what came of a scenario: the document summary.json. It holds no wall time
// and no path, and lists are in the order of the scenario, so that the same scenario and
// seeds give the same bytes.
type Summary struct {
	// Scenario is the scenario's name, Title and About what it says of itself.
	Scenario string `json:"scenario"`
	Title    string `json:"title"`
	About    string `json:"about,omitempty"`
	// Seeds are those it was run with.
	Seeds []uint64 `json:"seeds"`
	// DurationMs is how long arrivals went on in virtual time, and WarmupMs how much of
	// the beginning the figures leave out.
	DurationMs int64 `json:"duration_ms"`
	WarmupMs   int64 `json:"warmup_ms"`
	// Policies are those that were compared.
	Policies []Policy `json:"policies"`
	// Comparisons are the paired differences between policies, if there is more than
	// one seed.
	Comparisons []Comparison `json:"comparisons,omitempty"`
}

// Policy is what came of the scenario under one policy.
type Policy struct {
	Name       string      `json:"name"`
	Namespaces []Namespace `json:"namespaces"`
}

// Namespace holds the figures of one namespace, and of those who use it.
type Namespace struct {
	Name       string  `json:"name"`
	Figures    Figures `json:"figures"`
	Principals []Party `json:"principals,omitempty"`
	Tenants    []Party `json:"tenants,omitempty"`
}

// Party is one principal, or one tenant of runs.
type Party struct {
	Name    string  `json:"name"`
	Figures Figures `json:"figures"`
}

// Figures are figures over all seeds; those that mean nothing here are left out.
type Figures = Set[Value]

// Sample holds the figures of one seed. Those that mean nothing are Absent.
type Sample = Set[float64]

// Set is everything that is measured of a namespace, a principal or a tenant. Measures
// says what each is, and its unit.
type Set[T any] struct {
	Offered      T           `json:"offered,omitzero"`
	Started      T           `json:"started,omitzero"`
	Completed    T           `json:"completed,omitzero"`
	Failed       T           `json:"failed,omitzero"`
	RefusedTotal T           `json:"refused_total,omitzero"`
	Refused      []Reason[T] `json:"refused,omitempty"`
	GoodputPerS  T           `json:"goodput_per_s,omitzero"`
	Wait         Waits[T]    `json:"wait,omitzero"`
	ServiceMean  T           `json:"service_mean_ms,omitzero"`
	ResponseP50  T           `json:"response_p50_ms,omitzero"`
	ResponseP99  T           `json:"response_p99_ms,omitzero"`
	Share        T           `json:"share,omitzero"`
	FairShare    T           `json:"fair_share,omitzero"`
	Jain         T           `json:"jain,omitzero"`
	LargestShare T           `json:"largest_share,omitzero"`
	Starvation   T           `json:"longest_starvation_ms,omitzero"`
	Recovery     T           `json:"recovery_ms,omitzero"`
	Unrecovered  T           `json:"unrecovered,omitzero"`
	Wasted       T           `json:"wasted_ms,omitzero"`
	Limit        Range[T]    `json:"limit,omitzero"`
	InFlight     T           `json:"in_flight_mean,omitzero"`
	Pending      T           `json:"pending_mean,omitzero"`
}

// Reason is how many requests were refused for one reason. Lists are sorted by it.
type Reason[T any] struct {
	Reason string `json:"reason"`
	Count  T      `json:"count"`
}

// Waits are times between asking and being started, in milliseconds.
type Waits[T any] struct {
	P50  T `json:"p50_ms,omitzero"`
	P99  T `json:"p99_ms,omitzero"`
	P999 T `json:"p999_ms,omitzero"`
	Max  T `json:"max_ms,omitzero"`
	Mean T `json:"mean_ms,omitzero"`
}

// Range is something that changes over time.
type Range[T any] struct {
	Mean T `json:"mean,omitzero"`
	Min  T `json:"min,omitzero"`
	Max  T `json:"max,omitzero"`
}

// Comparison is one figure of a namespace under a policy less the same under another,
// seed by seed, in the unit of the figure.
type Comparison struct {
	Namespace string `json:"namespace"`
	Policy    string `json:"policy"`
	Against   string `json:"against"`
	Figure    string `json:"figure"`
	// Difference is the mean with its interval.
	Difference Value `json:"difference"`
	// Verdict is better, worse, or even if 0 is inside the interval: chance may have
	// made the difference.
	Verdict string `json:"verdict"`
}

// Verdicts of a comparison.
const (
	Better = "better"
	Worse  = "worse"
	Even   = "even"
)
