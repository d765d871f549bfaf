package client

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/skerryhq/skerry/api"
)

// textType is the media type that the server gives to text if none is named.
const textType = "text/plain; charset=utf-8"

// Inline makes the content of a noun or an artifact of its bytes, at most 1 MiB:
// as text where they are UTF-8, and else in base64. Text whose escapes would be
// longer than that, such as a run of control characters, goes in base64 too, so
// that content within the limit never makes a request beyond the server's. An
// empty media type is text/plain in UTF-8 for text and otherwise left to the
// server.
func Inline(body []byte, mediaType string) api.Content {
	c := api.Content{MediaType: mediaType}
	isText := utf8.Valid(body)
	if isText && escapedLen(body) <= max(base64.StdEncoding.EncodedLen(len(body)), shortText) {
		text := string(body)
		c.Body = &text
		return c
	}
	if isText && mediaType == "" {
		c.MediaType = textType
	}
	text := base64.StdEncoding.EncodeToString(body)
	c.BodyBase64 = &text
	return c
}

// shortText is a length at which readable beats compact.
const shortText = 64 << 10

// escapedLen is at least the length of text in a JSON string.
func escapedLen(text []byte) int {
	n := len(text)
	for _, b := range text {
		switch {
		case b < ' ':
			n += 5
		case b == '"', b == '\\':
			n++
		case b == 0xe2: // may begin U+2028 or U+2029
			n += 3
		}
	}
	return n
}
