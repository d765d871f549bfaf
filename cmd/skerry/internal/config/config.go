// Package config gathers the settings of a node from flags, the environment, a
// YAML file and defaults, in that order of precedence, and remembers where each
// value came from.
//
// One table ([entries]) names every setting; flags, variables, file keys, help
// and the listing of effective values are all made from it, so none can know a
// setting that the others do not.
package config

import (
	"time"

	"github.com/skerryhq/skerry"
)

// Config is what a node needs to know before it starts.
type Config struct {
	// Data is the data directory; Listen the address served.
	Data, Listen string
	// MetricsListen is an address for /metrics alone; empty leaves it on Listen.
	MetricsListen string
	// Namespace names the namespace of the one-service shape; empty is none.
	Namespace string
	// TLSCert and TLSKey are PEM files; both or neither.
	TLSCert, TLSKey string
	// OperatorKey is the operator's secret; empty means that of the key file.
	OperatorKey     string
	MaxActive       int
	MaxConnections  int
	ShutdownTimeout time.Duration
	// LogLevel is debug, info, warn or error; LogFormat text or json.
	LogLevel, LogFormat string
	// Settings are the node's values of what can be set per namespace.
	Settings skerry.Settings
}

// Default is the configuration where nothing is said.
func Default() Config {
	return Config{
		Data: "skerry-data", Listen: "127.0.0.1:7480", MaxActive: 10_000, MaxConnections: 16_384,
		ShutdownTimeout: 15 * time.Second, LogLevel: "info", LogFormat: "text", Settings: skerry.DefaultSettings(),
	}
}

// Value is one effective value, as it would be written, and where it came from.
type Value struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
	Flag   string `json:"flag"`
	Env    string `json:"env"`
	Help   string `json:"help"`
	// Secret values are never shown.
	Secret bool `json:"secret,omitempty"`
}
