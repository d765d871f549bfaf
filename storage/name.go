package storage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
)

// maxName is the longest name, in bytes.
const maxName = 63

// The names on disk. A name may hold dots and hyphens, so a suffix is read from
// the end only, and none of them is the end of another.
const (
	filesDir      = "namespaces"
	filePrefix    = "ns-" // keeps names such as "con" and "nul" from being device names
	fileSuffix    = ".sqlite"
	removedSuffix = fileSuffix + ".removed" // a removed file not yet unlinked
	newSuffix     = fileSuffix + ".new"     // a file that is being built
)

// companions are what SQLite keeps beside a database file.
var companions = [...]string{"-wal", "-shm", "-journal"}

// ValidName returns an error that wraps [ErrInvalidName] and states the rule
// unless name has 1 to 63 characters of a-z, 0-9, '.', '_' and '-', of which the
// first and the last are a letter or a digit. As there are no capitals, two
// names never differ in case alone.
func ValidName(name string) error {
	if len(name) >= 1 && len(name) <= maxName && alphanumeric(name[0]) && alphanumeric(name[len(name)-1]) &&
		strings.IndexFunc(name, outsideName) < 0 {
		return nil
	}
	return fmt.Errorf("%w: want 1 to %d characters a-z, 0-9, '.', '_', '-', with a letter or digit first and last", ErrInvalidName, maxName)
}

func alphanumeric(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

func outsideName(r rune) bool {
	return r > 0x7f || !alphanumeric(byte(r)) && r != '.' && r != '_' && r != '-'
}

// folder returns the folder of a valid name, relative to the data directory.
// Fanning out by a hash keeps every folder small.
func folder(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(filesDir, hex.EncodeToString(sum[:1]))
}

// path returns where the main file of a valid name lies.
func (s *Store) path(name string) string {
	return filepath.Join(s.dir, folder(name), filePrefix+name+fileSuffix)
}

// nameOf returns the name whose main file is called base.
func nameOf(base string) (string, bool) {
	name, ok := strings.CutPrefix(base, filePrefix)
	if !ok {
		return "", false
	}
	name, ok = strings.CutSuffix(name, fileSuffix)
	return name, ok && ValidName(name) == nil
}
