package httpapi

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/skerryhq/skerry/namespace"
)

const (
	// maxSeries is how many namespaces have series of their own; the others are
	// summed, so that a node with many namespaces does not drown its monitor.
	maxSeries = 1000
	// otherNamespaces is the label of the sum. It is also a valid name, so the
	// namespace that has it always counts among the others.
	otherNamespaces = "other"
)

// MetricsHandler serves rt's metrics in Prometheus' formats at whatever path it
// is mounted: figures of the node, of each active namespace, of Go and of the
// process. Figures of a namespace begin anew at each activation.
func MetricsHandler(rt *namespace.Runtime) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{rt: rt},
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

func serveMetrics(metrics http.Handler) func(*exchange, *http.Request) error {
	return func(x *exchange, r *http.Request) error {
		metrics.ServeHTTP(x, r)
		return nil
	}
}

// collector reads the runtime's figures whenever it is scraped and keeps none.
type collector struct{ rt *namespace.Runtime }

// Describe announces every series that Collect may give.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range nodeFigures {
		ch <- f.desc
	}
	for _, f := range namespaceFigures {
		ch <- f.desc
	}
	for _, desc := range []*prometheus.Desc{refusedDesc, wouldRefuseDesc, serviceDesc, batchDesc} {
		ch <- desc
	}
}

// Collect gives the figures of this moment.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	node := c.rt.NodeStats()
	for _, f := range nodeFigures {
		ch <- prometheus.MustNewConstMetric(f.desc, f.kind, f.read(&node))
	}
	all := slices.Collect(c.rt.Stats())
	for _, s := range busiest(all) {
		collectNamespace(ch, &s)
	}
}

// busiest keeps the namespaces that have done most and sums the others.
func busiest(all []namespace.Stats) []namespace.Stats {
	slices.SortFunc(all, func(a, b namespace.Stats) int {
		return cmp.Or(cmp.Compare(b.Storage.Ops, a.Storage.Ops), cmp.Compare(a.Namespace, b.Namespace))
	})
	var shown []namespace.Stats
	other := namespace.Stats{Namespace: otherNamespaces}
	summed := false
	for _, s := range all {
		if s.Namespace != otherNamespaces && len(shown) < maxSeries {
			shown = append(shown, s)
			continue
		}
		add(&other, s)
		summed = true
	}
	if summed {
		shown = append(shown, other)
	}
	return shown
}

// add adds the figures of s to sum, which shares no memory with it.
func add(sum *namespace.Stats, s namespace.Stats) {
	sum.Limit += s.Limit
	sum.InFlight += s.InFlight
	sum.Pending += s.Pending
	sum.Parked += s.Parked
	sum.Admitted += s.Admitted
	sum.WouldWait += s.WouldWait
	sum.Refused = addCounts(sum.Refused, s.Refused)
	sum.WouldRefuse = addCounts(sum.WouldRefuse, s.WouldRefuse)
	if sum.Service.Counts == nil {
		sum.Service.Counts = make([]uint64, len(s.Service.Counts))
	}
	for i, n := range s.Service.Counts {
		sum.Service.Counts[i] += n
	}
	sum.Service.Sum += s.Service.Sum
	sum.Storage.Commits += s.Storage.Commits
	sum.Storage.Aborted += s.Storage.Aborted
	sum.Storage.Ops += s.Storage.Ops
	sum.Storage.Failures += s.Storage.Failures
	sum.Storage.CommitTime += s.Storage.CommitTime
	sum.Storage.WALBytes += s.Storage.WALBytes
	for i, n := range s.Storage.Batches {
		sum.Storage.Batches[i] += n
	}
}

func addCounts(sum, counts map[string]int64) map[string]int64 {
	if sum == nil {
		sum = make(map[string]int64, len(counts))
	}
	for name, n := range counts {
		sum[name] += n
	}
	return sum
}

// collectNamespace gives the series of one namespace, or of the others' sum.
func collectNamespace(ch chan<- prometheus.Metric, s *namespace.Stats) {
	for _, f := range namespaceFigures {
		ch <- prometheus.MustNewConstMetric(f.desc, f.kind, f.read(s), s.Namespace)
	}
	for reason, n := range s.Refused {
		ch <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(n), s.Namespace, reason)
	}
	for reason, n := range s.WouldRefuse {
		ch <- prometheus.MustNewConstMetric(wouldRefuseDesc, prometheus.CounterValue, float64(n), s.Namespace, reason)
	}
	bounds := make([]float64, 0, len(s.Service.Counts))
	for _, d := range s.Service.Bounds() {
		bounds = append(bounds, d.Seconds())
	}
	ch <- histogram(serviceDesc, bounds, s.Service.Counts, s.Service.Sum.Seconds(), s.Namespace)

	batches := make([]uint64, len(s.Storage.Batches))
	sizes := make([]float64, len(batches)-1)
	for i, n := range s.Storage.Batches {
		batches[i] = uint64(n)
	}
	for i := range sizes {
		sizes[i] = float64(int64(1) << i)
	}
	ch <- histogram(batchDesc, sizes, batches, float64(s.Storage.Ops), s.Namespace)
}

// histogram makes a metric of counts per bucket, the last above all bounds.
// Prometheus wants them added up.
func histogram(desc *prometheus.Desc, bounds []float64, counts []uint64, sum float64, labels ...string) prometheus.Metric {
	buckets := make(map[float64]uint64, len(bounds))
	var total uint64
	for i, n := range counts {
		total += n
		if i < len(bounds) {
			buckets[bounds[i]] = total
		}
	}
	return prometheus.MustNewConstHistogram(desc, total, sum, buckets, labels...)
}
