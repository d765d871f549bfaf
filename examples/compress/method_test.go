package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInstalledMethodsMakeUpForMissingPrograms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ programs, want string }{
		{"gzip bzip2 xz zstd", "gzip -9, bzip2 -9, xz -6, zstd -19"},
		{"gzip bzip2 zstd", "gzip -9, bzip2 -9, zstd -19"},
		{"gzip xz", "gzip -9, xz -6, gzip -6"},
		{"xz", "xz -6, xz -3, xz -0"},
	} {
		methods, err := installedMethods(func(program string) (string, error) {
			if slices.Contains(strings.Fields(tt.programs), program) {
				return "/bin/" + program, nil
			}
			return "", exec.ErrNotFound
		})
		var got []string
		for _, m := range methods {
			got = append(got, m.String())
		}
		if err != nil || strings.Join(got, ", ") != tt.want {
			t.Errorf("with %s: %v, %v, want %s", tt.programs, got, err, tt.want)
		}
	}
	if _, err := installedMethods(func(string) (string, error) { return "", exec.ErrNotFound }); err == nil {
		t.Error("no error where nothing is installed")
	}
}

func TestChooseLetsEachMethodSitOut(t *testing.T) {
	t.Parallel()
	all := []method{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}}
	var got []string
	for n := range 5 {
		var names string
		for _, m := range choose(all, n) {
			names += m.Program
		}
		got = append(got, names)
	}
	if diff := cmp.Diff(got, []string{"bcd", "acd", "abd", "abc", "bcd"}); diff != "" {
		t.Errorf("chosen (-got +want):\n%s", diff)
	}
}

func TestEveryInstalledMethodRestores(t *testing.T) {
	t.Parallel()
	methods, err := installedMethods(exec.LookPath)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range methods {
		for _, text := range []string{"", originalText, strings.Repeat("\x00\xff", 100_000)} {
			packed := pack(t, m, text)
			if again := pack(t, m, text); !bytes.Equal(again, packed) {
				t.Errorf("%s of %d bytes differs the second time", m, len(text))
			}
			got, err := m.decompress(t.Context(), bytes.NewReader(packed))
			if err != nil || string(got) != text {
				t.Errorf("%s of %d bytes: restored %d, %v", m, len(text), len(got), err)
			}
		}
	}
}
