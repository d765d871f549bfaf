package client

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// messages reads a stream to its end.
func messages(r io.Reader) (all []string, err error) {
	s := newEventStream(r)
	for {
		data, err := s.next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, string(data))
	}
}

func TestEventStreamIsReadByTheStandard(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, stream string
		want         []string
	}{
		{"nothing", "", nil},
		{"one message", "id: 1\nevent: run.queued\ndata: x\n\n", []string{"x"}},
		{"crlf", "data: x\r\ndata: y\r\n\r\ndata: z\r\n\r\n", []string{"x\ny", "z"}},
		{"cr", "data: x\rdata: y\r\rdata: z\r\r", []string{"x\ny", "z"}},
		{"mixed ends", "data: x\n\r\ndata: y\r\n\ndata: z\r\r\n", []string{"x", "y", "z"}},
		{"lines of data", "data: a\ndata\ndata:\ndata: b\n\n", []string{"a\n\n\nb"}},
		{"one space is taken off", "data:a\n\ndata: b\n\ndata:  c\n\n", []string{"a", "b", " c"}},
		{"empty data is a message", "data\n\ndata:\n\n", []string{"", ""}},
		{"no data is none", "id: 1\n\nevent: x\n\n\n\n", nil},
		{"comments", ": hello\ndata: x\n:\n::\n\n: bye\n\n", []string{"x"}},
		{"other fields", "retry: 10\ndatas: y\nDATA: y\n data: y\ndata : y\ndata: x\n\n", []string{"x"}},
		{"colons in data", "data: {\"a\":1}\n\n", []string{`{"a":1}`}},
		{"mark before the first line", "\ufeffdata: x\n\n", []string{"x"}},
		{"mark before a later line", "\ufeff\ufeffdata: x\n\n\ufeffdata: y\n\n", nil},
		{"cut off before the empty line", "data: x\n\ndata: y\n", []string{"x"}},
		{"cut off in a line", "data: x\n\ndata: y", []string{"x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []io.Reader{strings.NewReader(tt.stream), iotest.OneByteReader(strings.NewReader(tt.stream))} {
				got, err := messages(r)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(got, tt.want); diff != "" {
					t.Error("-got +want", diff)
				}
			}
		})
	}
}

func TestMessageEndedByCRDoesNotWaitForTheNextByte(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer r.Close()
	go func() { _, _ = io.WriteString(w, "data: x\r\n\r") }()
	got, err := newEventStream(r).next()
	if err != nil || string(got) != "x" {
		t.Errorf("got %q and %v, want the message", got, err)
	}
}

func TestEventStreamBoundsWhatItKeeps(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxStreamMessage-len("data: "))
	for _, tt := range []struct {
		name, stream string
		want         error
	}{
		{"longest line", "data: " + long + "\n\n", nil},
		{"longer line", "data: " + long + "x\n\n", errLongMessage},
		{"longer comment", ":" + strings.Repeat("x", maxStreamMessage) + "\n\n", errLongMessage},
		{"many lines", strings.Repeat("data: "+long[:1000]+"\n", 2000), errLongMessage},
		{"many comments", strings.Repeat(":"+long[:1000]+"\n", 2000), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := messages(strings.NewReader(tt.stream)); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// reference reads a whole stream the obvious way.
func reference(stream []byte) (all []string) {
	text := strings.TrimPrefix(string(stream), "\ufeff")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	lines := strings.Split(text, "\n")
	var data []string
	for _, line := range lines[:len(lines)-1] {
		switch {
		case line == "" && data != nil:
			all, data = append(all, strings.Join(data, "\n")), nil
		case line == "data":
			data = append(data, "")
		case strings.HasPrefix(line, "data:"):
			data = append(data, strings.TrimPrefix(line[len("data:"):], " "))
		}
	}
	return all
}

func FuzzEventStreamAgreesWithTheReference(f *testing.F) {
	for _, s := range []string{
		"data: x\n\n", "\ufeffdata:x\r\n\r\n", "data\r\rdata\n\r\n", ": c\nid: 1\ndata: a\ndata:  b\n\nda", "\r\n\ndata\n\xff\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		if len(stream) >= maxStreamMessage {
			t.Skip()
		}
		got, err := messages(iotest.HalfReader(bytes.NewReader(stream)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, reference(stream)); diff != "" {
			t.Error("-got +want", diff)
		}
	})
}
