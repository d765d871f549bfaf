package main

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTwoPeopleTalk(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), []string{"-data", t.TempDir()}, &out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "2 bob: Always.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// lines hands on what is written.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestRoomsAreServedOverHTTP(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir, out, ended := t.TempDir(), make(lines, 8), make(chan error, 1)
	go func() { ended <- run(ctx, []string{"-data", dir, "-listen", "localhost:0"}, out) }()
	shown := regexp.MustCompile(`x-api-key: (\S+)' '(\S+)'`)
	var found []string
	for found == nil {
		select {
		case line := <-out:
			found = shown.FindStringSubmatch(line)
		case err := <-ended:
			t.Fatalf("it ended: %v", err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, found[2], http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("x-api-key", found[1])
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), `"text":"Always."`) {
		t.Errorf("got status %d, %s, %v", response.StatusCode, body, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("serve: %v", err)
	}
}

func TestUnknownFlagIsAnError(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), []string{"-no-such"}, io.Discard); err == nil {
		t.Error("an unknown flag is accepted")
	}
}
