package skerry

import (
	"log/slog"

	"github.com/skerryhq/skerry/actors"
	"github.com/skerryhq/skerry/namespace"
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
)

// DefaultSettings are the settings where nothing else is said.
func DefaultSettings() Settings { return namespace.DefaultSettings() }

// Options configure a runtime. The zero value is a runtime with the claims
// service, default settings, and no operator key (so that no HTTP request has
// the operator's powers).
type Options struct {
	// Classes are services besides claims.
	Classes []Class
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
