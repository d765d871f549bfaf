package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func page(t *testing.T, in Input) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// walk parses the page as XML, strictly, and hands out the elements.
func walk(t *testing.T, page []byte, visit func(xml.StartElement)) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("page is not well-formed: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			visit(e)
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func TestPageIsWellFormedWhateverNamesHold(t *testing.T) {
	t.Parallel()
	in := input(small())
	in.Summary.Title = "a]]><script>alert('x')</script>\x00\xff\"&"
	in.Summary.Policies[1].Name = `"><b onload="x">`
	in.Summary.Policies[2].Namespaces[0].Principals[0].Name = "<img src=x>"
	walk(t, page(t, in), func(e xml.StartElement) {
		if n := e.Name.Local; n == "script" || n == "b" || n == "img" {
			t.Errorf("a name became the element %s", n)
		}
	})
}

func TestPageNeedsNothingButItself(t *testing.T) {
	t.Parallel()
	ids, references := map[string]int{}, []string{}
	b := page(t, input(small()))
	walk(t, b, func(e xml.StartElement) {
		switch e.Name.Local {
		case "script", "img", "iframe", "object", "embed":
			t.Errorf("page has a %s", e.Name.Local)
		}
		if attribute(e, "src") != "" {
			t.Errorf("%s has a source", e.Name.Local)
		}
		if to := attribute(e, "href"); to != "" && to != "data:," {
			id, inside := strings.CutPrefix(to, "#")
			if !inside {
				t.Errorf("page refers to %s", to)
			}
			references = append(references, id)
		}
		if id := attribute(e, "id"); id != "" {
			ids[id]++
		}
		references = append(references, strings.Fields(attribute(e, "aria-labelledby"))...)
	})
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %s is there %d times", id, n)
		}
	}
	for _, id := range references {
		if ids[id] == 0 {
			t.Errorf("nothing has the id %s", id)
		}
	}
	if css := string(b); strings.Contains(css, "url(") || strings.Contains(css, "@import") {
		t.Error("the style refers to something")
	}
}

// Every drawing says what it is to those who cannot see it, and is inside its own frame.
func TestDrawingsAreDescribedAndComplete(t *testing.T) {
	t.Parallel()
	drawings := 0
	b := page(t, input(small()))
	walk(t, b, func(e xml.StartElement) {
		if e.Name.Local != "svg" || attribute(e, "aria-hidden") == "true" {
			return
		}
		drawings++
		if attribute(e, "role") != "img" || len(strings.Fields(attribute(e, "aria-labelledby"))) != 2 {
			t.Errorf("a drawing is not described: %v", e.Attr)
		}
	})
	// Limit, queue and waits; refusals of two policies; shares under three.
	if drawings != 8 {
		t.Errorf("%d drawings, want 8", drawings)
	}
	if n := bytes.Count(b, []byte("NaN")) + bytes.Count(b, []byte("Inf")); n > 0 {
		t.Errorf("%d coordinates are no numbers", n)
	}
	if !bytes.Contains(b, []byte("policy-1 has no limit and is not drawn")) {
		t.Error("a policy without a limit is not mentioned")
	}
	place := regexp.MustCompile(`[ML]([0-9.-]+) ([0-9.-]+)`)
	lines := regexp.MustCompile(`class="line" d="(M[^"]*)"`)
	for _, line := range lines.FindAllSubmatch(b, -1) {
		for _, p := range place.FindAllStringSubmatch(string(line[1]), -1) {
			x, _ := strconv.ParseFloat(p[1], 64)
			y, _ := strconv.ParseFloat(p[2], 64)
			if x < 0 || x > plotWidth || y < 0 || y > plotHeight {
				t.Fatalf("a curve goes to %v, %v", x, y)
			}
		}
	}
}

func TestPageStaysSmall(t *testing.T) {
	t.Parallel()
	for _, n := range []size{
		{policies: 9, namespaces: 3, principals: 60, seeds: 4, points: 1000},
		{policies: 9, namespaces: 8, principals: 40, seeds: 2, points: 200},
		{policies: 12, namespaces: 1, principals: 2, seeds: 1, points: 1},
	} {
		b := page(t, input(n))
		if len(b) > 1_500_000 {
			t.Errorf("%+v: %d bytes", n, len(b))
		}
		walk(t, b, func(xml.StartElement) {})
	}
}

func TestPageOfNothingIsAPage(t *testing.T) {
	t.Parallel()
	walk(t, page(t, Input{}), func(xml.StartElement) {})
	in := input(small())
	in.Series, in.Waits, in.Episodes = nil, nil, nil
	walk(t, page(t, in), func(xml.StartElement) {})
}

// Text and what is drawn stand out against what is behind them, in light, in dark and on
// paper, as WCAG 2 asks: 4.5 for text and, more than it asks, for curves; 3 for curves
// over shades.
func TestColoursStandOut(t *testing.T) {
	t.Parallel()
	blocks := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(style, -1)
	if len(blocks) != 3 {
		t.Fatalf("%d sets of colours, want 3", len(blocks))
	}
	for i, block := range blocks {
		colours := map[string]string{}
		for _, c := range regexp.MustCompile(`--(\w+): #(\w{6});`).FindAllStringSubmatch(block[1], -1) {
			colours[c[1]] = c[2]
		}
		check := func(front, back string, least float64) {
			if got := contrast(t, colours[front], colours[back]); got < least {
				t.Errorf("set %d: %s on %s has %.2f, want %.1f", i, front, back, got, least)
			}
		}
		for _, back := range []string{"paper", "row"} {
			check("ink", back, 4.5)
			check("soft", back, 4.5)
		}
		check("ink", "band", 4.5)
		for p := range styles {
			check(fmt.Sprintf("p%d", p), "paper", 4.5)
			check(fmt.Sprintf("p%d", p), "band", 3)
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(colour, 16, 32)
	if err != nil {
		t.Fatalf("colour %q: %v", colour, err)
	}
	var sum float64
	for i, weight := range []float64{0.0722, 0.7152, 0.2126} {
		c := float64(n>>(8*i)&0xff) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func TestBrowserOpensThePageWithoutComplaint(t *testing.T) {
	t.Parallel()
	var browser string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome-headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no Chromium is installed")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, page(t, input(small())), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--enable-logging=stderr", "--v=0", "--dump-dom", "file://"+file)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	if strings.Contains(complaints.String(), "CONSOLE") {
		t.Errorf("the browser complains:\n%s", complaints.String())
	}
	if n := bytes.Count(dom, []byte("<svg")); n < 8 {
		t.Errorf("the browser has %d drawings", n)
	}
}
