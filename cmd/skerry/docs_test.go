package main_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	// code is what Markdown shows as it stands: no link and no heading is in it.
	code = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")
)

// documents gives the text of each Markdown file of the repository by its path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// anchors are the names by which a document's headings can be linked to.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	inBlock := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			inBlock = !inBlock
		}
		if m := heading.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil && !inBlock {
			found[anchor(m[1])] = true
		}
	}
	return found
}

// anchor is how GitHub makes a name of a heading: lower case, a hyphen for each
// space, and only letters, digits, hyphens and underscores.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// broken says what is wrong with a link in a document; "" if nothing is.
func broken(documents map[string]string, from, to string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return ""
	}
	file, fragment, _ := strings.Cut(to, "#")
	path := from
	if file != "" {
		path = filepath.Join(filepath.Dir(from), filepath.FromSlash(file))
	}
	if _, err := os.Stat(path); err != nil {
		return "there is no such file"
	}
	if fragment != "" && !anchors(documents[path])[fragment] {
		return "there is no such heading"
	}
	return ""
}

func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	all, links := documents(t), 0
	for from, text := range all {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, "code"), -1) {
			links++
			if problem := broken(all, from, m[1]); problem != "" {
				t.Errorf("%s: link to %s: %s", from, m[1], problem)
			}
		}
	}
	if links < 20 {
		t.Errorf("got %d links in %d documents, want 20 at least: the search is wrong", links, len(all))
	}
}

// The reference of the HTTP interface names every route that the node has.
func TestHTTPReferenceNamesEveryRoute(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	answer, err := http.Get(n.url() + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var description struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&description); err != nil {
		t.Fatal(err)
	}
	if len(description.Paths) == 0 {
		t.Fatal("the node describes no route")
	}
	var text []byte
	for _, page := range []string{"http.md", "http-runs.md"} {
		part, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, part...)
	}
	spelled := strings.NewReplacer("/ns/{namespace}/api/v2", "",
		"{namespace}", "NAME", "{name}", "NAME", "{id}", "ID", "{key}", "KEY")
	for path, operations := range description.Paths {
		for method := range operations {
			route := fmt.Sprintf("%s %s", strings.ToUpper(method), spelled.Replace(path))
			whole := regexp.MustCompile("`" + regexp.QuoteMeta(route) + "[`?]")
			if !whole.Match(text) {
				t.Errorf("the reference does not name %s (%s)", route, path)
			}
		}
	}
}
