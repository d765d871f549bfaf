package client

import (
	"bytes"
	"encoding/base64"
	"testing"

	"pgregory.net/rapid"

	"github.com/skerryhq/skerry/api"
)

func TestInlineContentComesBackWithinTheLimitOfARequest(t *testing.T) {
	t.Parallel()
	const mib, limit = 1 << 20, 2 << 20
	for name, unit := range map[string]string{
		"letters": "a", "zeros": "\x00", "quotes": `"`, "newlines": "\n", "markup": "<", "separators": "\u2028", "bytes": "\xff",
	} {
		body := bytes.Repeat([]byte(unit), mib/len(unit))
		c := Inline(body, "")
		request, err := encode(api.SubmitSpec{Fence: 1 << 52, Output: c})
		if err != nil {
			t.Fatal(err)
		}
		if len(request) > limit {
			t.Errorf("%s: the request has %d bytes, want at most %d", name, len(request), limit)
		}
		if got := decoded(t, c); !bytes.Equal(got, body) {
			t.Errorf("%s: the content changed", name)
		}
	}
}

func TestInlineContentIsTextOrBase64(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		c := Inline(body, "")
		if (c.Body == nil) == (c.BodyBase64 == nil) {
			t.Fatal("want exactly one of the two forms")
		}
		if got := decoded(t, c); !bytes.Equal(got, body) {
			t.Fatalf("got %x, want %x", got, body)
		}
	})
}

func decoded(t interface{ Fatal(...any) }, c api.Content) []byte {
	if c.Body != nil {
		return []byte(*c.Body)
	}
	body, err := base64.StdEncoding.DecodeString(*c.BodyBase64)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
