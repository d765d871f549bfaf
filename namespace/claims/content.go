package claims

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"mime"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/skerryhq/skerry/api"
)

const (
	maxBodyBytes      = 1 << 20
	maxURIBytes       = 2048
	maxMediaTypeBytes = 255

	textMediaType  = "text/plain; charset=utf-8"
	bytesMediaType = "application/octet-stream"

	digestPrefix = "sha256:"
)

// content is a noun's content, checked.
type content struct {
	mediaType string
	digest    [sha256.Size]byte
	size      int64
	uri       string
	body      []byte // nil for a URI
}

// checkContent checks a content and takes its digest. Fields in errors begin
// with prefix.
func checkContent(prefix string, c api.Content) (content, error) {
	given := 0
	for _, is := range []bool{c.Body != nil, c.BodyBase64 != nil, c.URI != ""} {
		if is {
			given++
		}
	}
	if given != 1 {
		return content{}, api.Invalid(prefix+"body", "exactly one of body, body_base64 and uri must be given")
	}
	var checked content
	var err error
	if c.URI != "" {
		checked, err = checkURI(prefix, c)
	} else {
		checked, err = checkBody(prefix, c)
	}
	if err != nil || c.MediaType == "" {
		return checked, err
	}
	checked.mediaType = c.MediaType
	return checked, checkMediaType(prefix+"media_type", c.MediaType)
}

func checkBody(prefix string, c api.Content) (content, error) {
	field, body, mediaType := prefix+"body", []byte(nil), textMediaType
	if c.Body != nil {
		body = []byte(*c.Body)
		if !utf8.Valid(body) {
			return content{}, api.Invalid(field, "body must be UTF-8; body_base64 takes other bytes")
		}
	} else {
		field, mediaType = prefix+"body_base64", bytesMediaType
		var err error
		if body, err = base64.StdEncoding.Strict().DecodeString(*c.BodyBase64); err != nil {
			return content{}, api.Invalid(field, "body_base64 must be standard base64 with padding")
		}
	}
	if len(body) > maxBodyBytes {
		return content{}, api.Invalid(field, "the content is larger than a noun may be").
			With("limit", maxBodyBytes).With("actual", len(body))
	}
	if body == nil {
		body = []byte{} // an empty body is a body
	}
	checked := content{mediaType: mediaType, digest: sha256.Sum256(body), size: int64(len(body)), body: body}
	if c.Digest == "" {
		return checked, nil
	}
	want, err := parseDigest(prefix+"digest", c.Digest)
	if err != nil {
		return content{}, err
	}
	if want != checked.digest {
		e := api.Errorf(api.DigestMismatch, "the digest is not that of the content")
		e.Field = prefix + "digest"
		return content{}, e.With("actual", formatDigest(checked.digest[:]))
	}
	return checked, nil
}

func checkURI(prefix string, c api.Content) (content, error) {
	field := prefix + "uri"
	u, err := url.Parse(c.URI)
	if err != nil || !u.IsAbs() || !utf8.ValidString(c.URI) {
		return content{}, api.Invalid(field, "uri must be an absolute URI")
	}
	if len(c.URI) > maxURIBytes {
		return content{}, api.Invalid(field, "uri is too long").With("limit", maxURIBytes).With("actual", len(c.URI))
	}
	if c.Digest == "" {
		return content{}, api.Invalid(prefix+"digest", "a uri goes with the digest of what lies there")
	}
	digest, err := parseDigest(prefix+"digest", c.Digest)
	return content{mediaType: bytesMediaType, digest: digest, uri: c.URI}, err
}

func checkMediaType(field, s string) error {
	printable := !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
	if _, _, err := mime.ParseMediaType(s); err != nil || !printable || len(s) > maxMediaTypeBytes {
		return api.Invalid(field, "media_type must be a media type of at most %d characters", maxMediaTypeBytes)
	}
	return nil
}

func parseDigest(field, s string) (d [sha256.Size]byte, err error) {
	digits, ok := strings.CutPrefix(s, digestPrefix)
	b, err := hex.DecodeString(digits)
	if !ok || err != nil || len(b) != sha256.Size || digits != strings.ToLower(digits) {
		return d, api.Invalid(field, "a digest is sha256: and 64 hexadecimal digits in lower case")
	}
	copy(d[:], b)
	return d, nil
}

func formatDigest(d []byte) string { return digestPrefix + hex.EncodeToString(d) }

// inline gives a body as a document holds it: as text if it is UTF-8.
func inline(body []byte) (text, base64Text *string) {
	if utf8.Valid(body) {
		s := string(body)
		return &s, nil
	}
	s := base64.StdEncoding.EncodeToString(body)
	return nil, &s
}
