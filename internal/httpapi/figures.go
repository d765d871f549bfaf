package httpapi

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/skerryhq/skerry/namespace"
)

// figure is a metric with one value.
type figure[T any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(*T) float64
}

func gauge[T any](name, help string, read func(*T) float64, labels ...string) figure[T] {
	return figure[T]{prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue, read}
}

func counter[T any](name, help string, read func(*T) float64, labels ...string) figure[T] {
	return figure[T]{prometheus.NewDesc(name, help, labels, nil), prometheus.CounterValue, read}
}

var nodeFigures = [...]figure[namespace.NodeStats]{
	gauge("skerry_namespaces", "Namespaces on disk.",
		func(s *namespace.NodeStats) float64 { return float64(s.Namespaces) }),
	gauge("skerry_namespaces_active", "Namespaces that are active.",
		func(s *namespace.NodeStats) float64 { return float64(s.Active) }),
	gauge("skerry_namespaces_active_max", "Namespaces that may be active at once.",
		func(s *namespace.NodeStats) float64 { return float64(s.MaxActive) }),
	gauge("skerry_namespaces_stuck", "Namespaces whose actor does not come to an end with a message.",
		func(s *namespace.NodeStats) float64 { return float64(len(s.Stuck)) }),
	counter("skerry_activations_total", "Activations of namespaces.",
		func(s *namespace.NodeStats) float64 { return float64(s.Activations) }),
	counter("skerry_passivations_total", "Passivations of namespaces.",
		func(s *namespace.NodeStats) float64 { return float64(s.Passivations) }),
	gauge("skerry_storage_descriptors", "File descriptors held by open namespaces.",
		func(s *namespace.NodeStats) float64 { return float64(s.Descriptors) }),
}

var namespaceFigures = [...]figure[namespace.Stats]{
	gauge("skerry_admission_limit", "Admitted commands that may run at once.",
		func(s *namespace.Stats) float64 { return s.Limit }, "namespace"),
	gauge("skerry_admission_in_flight", "Admitted commands that run.",
		func(s *namespace.Stats) float64 { return float64(s.InFlight) }, "namespace"),
	gauge("skerry_admission_pending", "Commands that wait for admission.",
		func(s *namespace.Stats) float64 { return float64(s.Pending) }, "namespace"),
	gauge("skerry_parked", "Commands that wait for work outside admission.",
		func(s *namespace.Stats) float64 { return float64(s.Parked) }, "namespace"),
	counter("skerry_admission_admitted_total", "Commands let in by admission.",
		func(s *namespace.Stats) float64 { return float64(s.Admitted) }, "namespace"),
	counter("skerry_admission_would_wait_total", "Commands that shadow mode let in and enforcing would have made wait.",
		func(s *namespace.Stats) float64 { return float64(s.WouldWait) }, "namespace"),
	counter("skerry_commits_total", "Transactions committed.",
		func(s *namespace.Stats) float64 { return float64(s.Storage.Commits) }, "namespace"),
	counter("skerry_commits_aborted_total", "Transactions rolled back.",
		func(s *namespace.Stats) float64 { return float64(s.Storage.Aborted) }, "namespace"),
	counter("skerry_commit_seconds_total", "Time in transactions, from the first command to the end of the sync.",
		func(s *namespace.Stats) float64 { return s.Storage.CommitTime.Seconds() }, "namespace"),
	gauge("skerry_storage_failed", "1 once the namespace's file has failed.",
		func(s *namespace.Stats) float64 { return float64(s.Storage.Failures) }, "namespace"),
	gauge("skerry_wal_bytes", "Part of the write-ahead log in use.",
		func(s *namespace.Stats) float64 { return float64(s.Storage.WALBytes) }, "namespace"),
}

// Metrics with a reason, and histograms.
var (
	refusedDesc = prometheus.NewDesc("skerry_admission_refused_total",
		"Commands refused, by reason.", []string{"namespace", "reason"}, nil)
	wouldRefuseDesc = prometheus.NewDesc("skerry_admission_would_refuse_total",
		"Commands that shadow mode let in and enforcing would have refused, by reason.", []string{"namespace", "reason"}, nil)
	serviceDesc = prometheus.NewDesc("skerry_service_seconds",
		"Time from admission to durable completion.", []string{"namespace"}, nil)
	batchDesc = prometheus.NewDesc("skerry_commit_operations",
		"Commands in a committed transaction.", []string{"namespace"}, nil)
)
