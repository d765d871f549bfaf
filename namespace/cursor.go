package namespace

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/skerryhq/skerry/api"
)

// maxPageBytes bounds a page's documents, so that a page of large ones may be
// shorter than its limit.
const maxPageBytes = 4 << 20

// Cursor is a position in a list. It names the list, so that a cursor of one is
// refused by another, and a row rather than an offset, so that it stays valid
// while rows come and go. Key orders before Number where a list is by name.
type Cursor struct {
	List   string
	Desc   bool
	Key    string
	Number int64
}

// Encode gives the one opaque form in which all cursors travel.
func (c Cursor) Encode() string {
	order := "a"
	if c.Desc {
		order = "d"
	}
	raw := c.List + "\x00" + order + "\x00" + strconv.FormatInt(c.Number, 10) + "\x00" + c.Key
	return base64.RawURLEncoding.EncodeToString([]byte(raw))
}

// DecodeCursor reads a cursor of the list; anything else is a bad_request.
func DecodeCursor(list, s string) (Cursor, error) {
	bad := api.Errorf(api.BadRequest, "the cursor is not one that this list gave")
	bad.Field = "cursor"
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil {
		return Cursor{}, bad
	}
	parts := strings.SplitN(string(raw), "\x00", 4)
	if len(parts) != 4 || parts[0] != list || (parts[1] != "a" && parts[1] != "d") {
		return Cursor{}, bad
	}
	n, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != parts[2] {
		return Cursor{}, bad
	}
	return Cursor{List: list, Desc: parts[1] == "d", Number: n, Key: parts[3]}, nil
}

// PageRequest is the part of a list that a caller asks for.
type PageRequest struct {
	// From is the position after which the page begins; First says that there
	// is none and it begins at the list's beginning.
	From  Cursor
	First bool
	Limit int
	Desc  bool
	bytes int
}

// Page reads the query parameters cursor, limit (1 to 1,000, default 100) and
// order (asc or desc) for the named list. A cursor keeps the order of the page
// that gave it.
func (r *Request) Page(list string) (PageRequest, error) {
	limit, err := r.int("limit", 100, 1, 1000)
	if err != nil {
		return PageRequest{}, err
	}
	p := PageRequest{Limit: int(limit), First: true, From: Cursor{List: list}}
	switch r.Query.Get("order") {
	case "", "asc":
	case "desc":
		p.Desc = true
	default:
		return PageRequest{}, api.Invalid("order", "order must be asc or desc")
	}
	if s := r.Query.Get("cursor"); s != "" {
		if p.From, err = DecodeCursor(list, s); err != nil {
			return PageRequest{}, err
		}
		if r.Query.Get("order") != "" && p.From.Desc != p.Desc {
			return PageRequest{}, api.Errorf(api.BadRequest, "the cursor belongs to a page in the other order")
		}
		p.First, p.Desc = false, p.From.Desc
	}
	p.From.Desc = p.Desc
	return p, nil
}

// Fits accounts for one more document of about n bytes and reports whether it
// still belongs on this page. The first always does.
func (p *PageRequest) Fits(n int) bool {
	if p.bytes > 0 && p.bytes+n > maxPageBytes {
		return false
	}
	p.bytes += n
	return true
}

// Next is the cursor after a row of this list.
func (p *PageRequest) Next(key string, number int64) *string {
	s := Cursor{List: p.From.List, Desc: p.Desc, Key: key, Number: number}.Encode()
	return &s
}
