package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// maxInline is how large a body the server takes.
const maxInline = 1 << 20

// contentFlags are the flags of what delivers a body or a URI.
type contentFlags struct {
	mediaType, uri, digest string
}

func (c *contentFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.mediaType, "media-type", "", "media type (default: by the file's name, else the server's choice)")
	f.StringVar(&c.uri, "uri", "", "where the content lies, instead of delivering it; FILE, if given, is read for its digest only")
	f.StringVar(&c.digest, "digest", "", "sha256:… of the content; checked by the server where it has the content")
}

// content reads the file, or standard input for none and "-", as a body; with a
// URI it makes the reference.
func (e *env) content(c *contentFlags, file string) (api.Content, error) {
	out := api.Content{MediaType: c.mediaType, URI: c.uri, Digest: c.digest}
	if c.uri != "" && file == "" {
		if c.digest == "" {
			return out, usage("a URI needs --digest, or FILE to compute it from")
		}
		return out, nil
	}
	if out.MediaType == "" {
		out.MediaType = mime.TypeByExtension(filepath.Ext(file))
	}
	in, size, err := e.open(file)
	if err != nil {
		return out, err
	}
	defer in.Close()
	if c.uri != "" {
		digest, err := e.digest(in, size)
		if err == nil && c.digest != "" && c.digest != digest {
			return out, fmt.Errorf("digest %s: the file has another digest, %s", c.digest, digest)
		}
		out.Digest = digest
		return out, err
	}
	body, err := io.ReadAll(io.LimitReader(in, maxInline+1))
	if err != nil {
		return out, fmt.Errorf("read %s: %w", nameOf(file), err)
	}
	if len(body) > maxInline {
		return out, fmt.Errorf("read %s: larger than 1 MiB, the most that a body may be; store it elsewhere and give --uri", nameOf(file))
	}
	out = client.Inline(body, out.MediaType)
	out.Digest = c.digest
	return out, nil
}

// digest is the SHA-256 of what r gives, with a progress bar.
func (e *env) digest(r io.Reader, size int64) (string, error) {
	bar := e.byteBar(size, "digest")
	defer bar.done()
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(h, bar), r); err != nil {
		return "", fmt.Errorf("read content: %w", err)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// open opens a file, or standard input for none and "-". The size is -1 if it is
// not known.
func (e *env) open(file string) (io.ReadCloser, int64, error) {
	if file == "" || file == "-" {
		return io.NopCloser(e.in), -1, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, -1, nil
	}
	return f, info.Size(), nil
}

// read reads all of a file, or of standard input.
func (e *env) read(file string) ([]byte, error) {
	in, _, err := e.open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", nameOf(file), err)
	}
	return data, nil
}

func nameOf(file string) string {
	if file == "" || file == "-" {
		return "standard input"
	}
	return file
}

// strict reads one JSON document and refuses fields that do not exist, so that a
// misspelt one is not lost in silence.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("more than one document")
	}
	return nil
}

// pairs reads NAME=VALUE arguments as metadata.
func pairs(args []string) (map[string]string, error) {
	if len(args) == 0 {
		return nil, nil
	}
	m := make(map[string]string, len(args))
	for _, arg := range args {
		name, value, found := strings.Cut(arg, "=")
		if !found {
			return nil, usage("%q is not NAME=VALUE", arg)
		}
		m[name] = value
	}
	return m, nil
}

func argument(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}

func pointer[T any](v T) *T { return &v }
