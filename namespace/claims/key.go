package claims

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skerryhq/skerry/api"
)

const maxKeyBytes = 512

// checkKey checks a noun's key: 1 to 512 bytes of UTF-8 in segments between
// slashes, none of them empty, "." or "..", without control characters, "@", "?"
// and "#". room is how many bytes the key must leave for a suffix.
func checkKey(field, key string, room int) error {
	switch {
	case key == "":
		return api.Invalid(field, "a noun's key must not be empty")
	case len(key) > maxKeyBytes-room:
		return api.Invalid(field, "a noun's key is too long").With("limit", maxKeyBytes-room).With("actual", len(key))
	case !utf8.ValidString(key):
		return api.Invalid(field, "a noun's key must be UTF-8")
	case strings.ContainsFunc(key, func(r rune) bool { return unicode.IsControl(r) || strings.ContainsRune("@?#", r) }):
		return api.Invalid(field, "a noun's key has no control characters and none of @ ? #")
	}
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return api.Invalid(field, "no segment of a noun's key is empty, . or ..")
		}
	}
	return nil
}

// nounRef names a noun: its newest version if version is 0.
type nounRef struct {
	key     string
	version int64
}

func (r nounRef) String() string {
	if r.version == 0 {
		return r.key
	}
	return r.key + "@" + strconv.FormatInt(r.version, 10)
}

// parseRef reads "key" or "key@version".
func parseRef(field, s string) (nounRef, error) {
	key, version, versioned := strings.Cut(s, "@")
	if err := checkKey(field, key, 0); err != nil {
		return nounRef{}, err
	}
	if !versioned {
		return nounRef{key: key}, nil
	}
	n, err := strconv.ParseInt(version, 10, 64)
	if err != nil || n < 1 || n > maxNumber || strconv.FormatInt(n, 10) != version {
		return nounRef{}, api.Invalid(field, "what follows the @ must be a version number from 1")
	}
	return nounRef{key: key, version: n}, nil
}

// href is where the noun's bytes can be read, below the path base.
func (r nounRef) href(base string) string {
	segments := strings.Split(r.key, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return base + "/nouns/" + strings.Join(segments, "/") + "@" + strconv.FormatInt(r.version, 10) + "?body=1"
}

var kindPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func checkKind(field, kind string) error {
	if !kindPattern.MatchString(kind) {
		return api.Invalid(field, "a kind is 1 to 64 letters, digits, dots, underscores and hyphens, the first a letter or digit")
	}
	return nil
}
