package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/skerryhq/skerry/sim/scenarios"
)

// ending is that of the names of scenario files.
const ending = ".yaml"

// maxFile bounds a scenario file; traces may be as large as memory.
const maxFile = 1 << 20

// Load reads the scenario file at a path, and the traces that it names, which must be
// in the file's folder or below it. A bad file gives all that is wrong with it, joined,
// each as an [*Error].
func Load(file string) (*Scenario, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	// A root follows no link that leads out of the folder.
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, fmt.Errorf("open the scenario's folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	return Parse(file, text, root.ReadFile)
}

// Parse reads a scenario from the text of a file. The name is for errors, and its last
// part without the ending is the scenario's. Traces are read through read, by names
// with slashes that never lead out of the scenario's folder; nil is for scenarios
// without traces. What the file leaves out has its default in the result. The errors
// are those of [Load].
func Parse(name string, text []byte, read func(file string) ([]byte, error)) (*Scenario, error) {
	if read == nil {
		read = func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	}
	r := &reading{file: name, documents: documents(), lines: map[string]int{}}
	s := &Scenario{Name: strings.TrimSuffix(filepath.Base(name), ending)}
	if len(text) > maxFile {
		r.fail(1, "", "must be at most %d bytes", maxFile)
		return nil, r.err()
	}
	r.document(text, reflect.ValueOf(s).Elem())
	if err := r.err(); err != nil {
		return nil, err
	}
	s.complete()
	r.check(s)
	if err := r.err(); err != nil {
		return nil, err
	}
	r.traces(s, read)
	return s, r.err()
}

// Embedded returns the files of the shipped scenarios.
func Embedded() fs.FS { return scenarios.Files() }

// Names returns the names of the shipped scenarios in order of the alphabet. The caller
// owns the slice.
func Names() []string {
	files, err := fs.Glob(Embedded(), "*"+ending)
	if err != nil {
		return nil
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(file, ending)
	}
	return files
}

// Shipped reads the shipped scenario of a name. One that is not among [Names] is an
// error that lists them.
func Shipped(name string) (*Scenario, error) {
	if name != path.Base(name) {
		return nil, unknownScenario(name)
	}
	text, err := fs.ReadFile(Embedded(), name+ending)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, unknownScenario(name)
	}
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return Parse(name+ending, text, func(file string) ([]byte, error) { return fs.ReadFile(Embedded(), file) })
}

func unknownScenario(name string) error {
	return fmt.Errorf("no scenario %q: there are %s", name, strings.Join(Names(), ", "))
}
