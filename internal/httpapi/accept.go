package httpapi

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

const mediaEvents = "text/event-stream"

// acceptsEvents reports whether a client would rather follow an answer than get it
// as a document. Only one that names text/event-stream can read it: the ranges */*
// and text/* stand for what everybody gets. One that names both gets what it
// prefers, of equals the stream.
func acceptsEvents(h http.Header) bool {
	var events float64
	var document preference
	for _, field := range h.Values("Accept") {
		for element := range elements(field) {
			media, q, ok := mediaRange(element)
			if !ok {
				continue
			}
			if media == mediaEvents {
				events = max(events, q)
			}
			document.weigh(media, q)
		}
	}
	return events > 0 && events >= document.q
}

// preference is how much a client likes a JSON document, by the most specific of its
// media ranges (RFC 9110, section 12.5.1).
type preference struct {
	specific int
	q        float64
}

// weigh takes one more media range into account.
func (p *preference) weigh(media string, q float64) {
	var specific int
	switch media {
	case "*/*":
		specific = 1
	case "application/*":
		specific = 2
	case mediaJSON:
		specific = 3
	default:
		return
	}
	switch {
	case specific > p.specific:
		p.specific, p.q = specific, q
	case specific == p.specific:
		p.q = max(p.q, q)
	}
}

// mediaRange reads one element of an Accept header; q is 1 where it has none. An
// element that is malformed says nothing.
func mediaRange(element string) (media string, q float64, ok bool) {
	media, params, err := mime.ParseMediaType(element)
	if err != nil {
		return "", 0, false
	}
	weight, given := params["q"]
	if !given {
		return media, 1, true
	}
	if len(weight) > len("0.000") || strings.Trim(weight, "0123456789.") != "" {
		return "", 0, false
	}
	q, err = strconv.ParseFloat(weight, 64)
	return media, q, err == nil && q <= 1
}

// elements gives the elements of a list, between commas that are not quoted.
func elements(list string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		begin, quoted := 0, false
		for i := 0; i < len(list); i++ {
			switch c := list[i]; {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case c == ',' && !quoted:
				if !yield(list[begin:i]) {
					return
				}
				begin = i + 1
			}
		}
		yield(list[begin:])
	}
}
