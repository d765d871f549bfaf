package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/spf13/pflag"

	"github.com/skerryhq/skerry"
	"github.com/skerryhq/skerry/api"
)

// FileFlag and FileEnv name the file to read, if any.
const (
	FileFlag = "config"
	FileEnv  = "SKERRY_CONFIG"
)

// Bind adds a flag for every setting to flags.
func Bind(flags *pflag.FlagSet) {
	flags.String(FileFlag, "", "YAML file of settings ("+FileEnv+")")
	c := Default()
	for _, e := range entries() {
		shown := e.field(&c).show()
		if e.secret {
			shown = ""
		}
		flags.String(e.flag, shown, e.help+" ("+e.env()+")")
	}
}

// Loaded is a configuration with its history.
type Loaded struct {
	Config Config
	Values []Value
	// Unknown are SKERRY_ variables that no setting reads.
	Unknown []string
}

// Load reads the file, then the environment, then the flags, each over what came
// before. A bad value, an unknown key of the file, and values that do not fit
// together are errors that name the setting and its source.
func Load(flags *pflag.FlagSet, environ []string) (Loaded, error) {
	l := Loaded{Config: Default()}
	env := variables(environ)
	sources := map[string]string{}
	path, from := env[FileEnv], FileEnv
	if f := flags.Lookup(FileFlag); f != nil && f.Changed {
		path, from = f.Value.String(), "--"+FileFlag
	}
	if path != "" {
		if err := l.readFile(path, sources); err != nil {
			return l, fmt.Errorf("read the file that %s names: %w", from, err)
		}
	}
	for _, e := range entries() {
		if s, ok := env[e.env()]; ok {
			if err := e.field(&l.Config).set(s); err != nil {
				return l, fmt.Errorf("environment variable %s: %w", e.env(), err)
			}
			sources[e.key] = "environment " + e.env()
		}
		if f := flags.Lookup(e.flag); f != nil && f.Changed {
			if err := e.field(&l.Config).set(f.Value.String()); err != nil {
				return l, fmt.Errorf("flag --%s: %w", e.flag, err)
			}
			sources[e.key] = "flag --" + e.flag
		}
	}
	l.Unknown = unknown(env)
	l.Values = values(&l.Config, sources)
	return l, l.check(sources)
}

// check holds the values against each other.
func (l *Loaded) check(sources map[string]string) error {
	if (l.Config.TLSCert == "") != (l.Config.TLSKey == "") {
		return errors.New("tls_cert and tls_key go together: give both or neither")
	}
	err := l.Config.Settings.Validate()
	var bad *api.Error
	if errors.As(err, &bad) {
		source := sources[bad.Field]
		if source == "" {
			source = "default"
		}
		return fmt.Errorf("setting %s (from %s): %s", bad.Field, source, bad.Message)
	}
	return err
}

// readFile reads a YAML file of plain keys and values.
func (l *Loaded) readFile(path string, sources map[string]string) error {
	document, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := parser.ParseBytes(document, 0)
	if err != nil {
		return fmt.Errorf("%s: %s", path, yaml.FormatError(err, false, false))
	}
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.NullType {
			continue
		}
		mapping, ok := doc.Body.(*ast.MappingNode)
		if !ok {
			return fmt.Errorf("%s: the file must hold keys and values", path)
		}
		for _, pair := range mapping.Values {
			if err := l.readPair(path, pair, sources); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *Loaded) readPair(path string, pair *ast.MappingValueNode, sources map[string]string) error {
	key := pair.Key.GetToken().Value
	line := pair.Key.GetToken().Position.Line
	at := slices.IndexFunc(entries(), func(e entry) bool { return e.key == key })
	if at < 0 {
		return fmt.Errorf("%s:%d: there is no setting %q", path, line, key)
	}
	e := entries()[at]
	var value any
	if err := yaml.NodeToValue(pair.Value, &value); err != nil {
		return fmt.Errorf("%s:%d: %s: not a value", path, line, key)
	}
	target := e.field(&l.Config)
	written, ok := value.(string)
	if !ok {
		switch value.(type) {
		case nil, []any, map[string]any:
			if !target.document {
				return fmt.Errorf("%s:%d: %s must be one value", path, line, key)
			}
		}
		document, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("%s:%d: %s: not a value", path, line, key)
		}
		written = string(document)
	}
	if err := target.setFile(written); err != nil {
		return fmt.Errorf("%s:%d: %s %w", path, line, key, err)
	}
	sources[key] = fmt.Sprintf("file %s:%d", path, line)
	return nil
}

// values lists every setting.
func values(c *Config, sources map[string]string) []Value {
	var all []Value
	for _, e := range entries() {
		v := Value{Name: e.key, Value: e.field(c).show(), Source: sources[e.key], Flag: "--" + e.flag, Env: e.env(), Help: e.help, Secret: e.secret}
		if v.Source == "" {
			v.Source = "default"
		}
		if e.secret && v.Value != "" {
			v.Value = "(hidden)"
		}
		if allowed := skerry.MaxActive(c.MaxActive); e.key == "max_active" && allowed < c.MaxActive {
			v.Source += fmt.Sprintf("; lowered from %d to what the limit of open descriptors allows", c.MaxActive)
			v.Value = strconv.Itoa(allowed)
		}
		all = append(all, v)
	}
	return all
}

// variables are those of the environment that begin with SKERRY_, but for those
// that orchestrators set of their own accord for a service of this name.
func variables(environ []string) map[string]string {
	found := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "SKERRY_") && name != "SKERRY_PORT" &&
			!strings.HasPrefix(name, "SKERRY_PORT_") && !strings.HasPrefix(name, "SKERRY_SERVICE_") {
			found[name] = value
		}
	}
	return found
}

// ClientVariables are the variables of commands that talk to a node.
func ClientVariables() []string { return []string{"SKERRY_SERVER", "SKERRY_NS", "SKERRY_KEY"} }

// unknown are the variables that nothing reads.
func unknown(env map[string]string) []string {
	known := append(ClientVariables(), FileEnv)
	for _, e := range entries() {
		known = append(known, e.env())
	}
	var names []string
	for name := range env {
		if !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
