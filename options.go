package skerry

import (
	"log/slog"
	"maps"

	"github.com/skerryhq/skerry/actors"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs"
)

// Names of package namespace that an embedder needs in nearly every program.
type (
	// Settings are what can be set per namespace, with the node's value for each.
	Settings = namespace.Settings
	// Caller is who makes a request in process.
	Caller = namespace.Caller
	// Namespace is a handle on one namespace.
	Namespace = namespace.Namespace
	// Class is a service that every namespace of a runtime has.
	Class = namespace.Class
	// Item is what a handler works on.
	Item = runs.Item
	// Handler works on one item inside the process.
	Handler = runs.Handler
)

// Kind registers a kind of items of runs, or of singular calls, and says who works on
// them.
type Kind struct {
	// Kind is how the items are treated. It stands in the node's settings, so a
	// namespace can have another of the name.
	api.Kind
	// Handler works on them inside the process; nil leaves them to workers over HTTP.
	Handler Handler
}

// DefaultSettings are the settings where nothing else is said.
func DefaultSettings() Settings { return namespace.DefaultSettings() }

// Options configure a runtime. The zero value is a runtime with the claims and the
// runs service, default settings, and no operator key (so that no HTTP request has
// the operator's powers).
type Options struct {
	// Classes are services besides claims and runs.
	Classes []Class
	// Kinds are registered by name, beside those of Settings.
	Kinds map[string]Kind
	// RunSlots is how many quanta of runs handlers work on at once, in all namespaces
	// together; 0 means 1.
	RunSlots int
	// Settings are the node's settings; nil means [DefaultSettings].
	Settings *Settings
	// MaxActive bounds the namespaces that are active at once; 0 means 10,000.
	// It is lowered to what the process's limit of open descriptors allows.
	MaxActive int
	// OperatorKey opens the operator's HTTP routes.
	OperatorKey string
	// Single names a namespace whose routes stand at /api/v2 too, without the
	// prefix /ns/NAME.
	Single string
	// HideMetrics leaves /metrics out of [Runtime.Handler]; see
	// [Runtime.MetricsHandler].
	HideMetrics bool
	// Logger gets what an operator should know; nil discards it. Audit gets one
	// record per operator request; nil means Logger.
	Logger, Audit *slog.Logger
	// Clock is the one source of time; nil means the system's.
	Clock actors.Clock
	// Version is shown in the catalog and by the health routes.
	Version string
	// VFS names a registered SQLite VFS; empty means the default one.
	VFS string
}

// MaxActive is how many namespaces this process may have active at once when
// want are asked for (0 means 10,000).
func MaxActive(want int) int { return namespace.MaxActive(want) }

// CheckName says what is wrong with a namespace's name, if anything.
func CheckName(name string) error { return namespace.CheckName(name) }

// settings are the node's, with the kinds of the options.
func (o *Options) settings() *Settings {
	s := DefaultSettings()
	if o.Settings != nil {
		s = *o.Settings
	}
	s.Kinds = maps.Clone(s.Kinds)
	if s.Kinds == nil {
		s.Kinds = map[string]api.Kind{}
	}
	for name, kind := range o.Kinds {
		s.Kinds[name] = kind.Kind
	}
	return &s
}

// handlers are those of the kinds that have one.
func (o *Options) handlers() map[string]Handler {
	handlers := map[string]Handler{}
	for name, kind := range o.Kinds {
		if kind.Handler != nil {
			handlers[name] = kind.Handler
		}
	}
	return handlers
}
