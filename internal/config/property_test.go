package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/config"
)

// word draws a value that may suit a setting.
func word(t *rapid.T, k config.Key) string {
	if k.Of != nil {
		return rapid.SampledFrom(k.Of).Draw(t, k.Name)
	}
	switch k.Value().(type) {
	case bool:
		return fmt.Sprint(rapid.Bool().Draw(t, k.Name))
	case string:
		return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"yes", "5", "~", "null", "a: b", "# x", " lead", "line\nline", "UTC", "https://h/x", "\u2028", "\u0085", "'", `"`, "*a", "2026-01-01"})).Draw(t, k.Name)
	}
	return fmt.Sprintf("%d%s", rapid.IntRange(0, 3000).Draw(t, k.Name), rapid.SampledFrom([]string{"", "k", "d", "MiB", "s", ".5"}).Draw(t, k.Name+" unit"))
}

// TestPrintedIsReadAgain: reading what YAML prints gives the same values.
func TestPrintedIsReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := config.Default()
		for range rapid.IntRange(1, 8).Draw(t, "settings") {
			k := rapid.SampledFrom(c.Keys()).Draw(t, "key")
			before := values(c)
			err := c.Set(k.Name, word(t, k), "--flag")
			if err == nil && c.Validate() != nil { // the values don't go together
				if err := c.Set(k.Name, before[k.Name], ""); err != nil {
					t.Fatalf("the value before can't be set again: %v", err)
				}
			}
		}
		again, err := config.Read(strings.NewReader(c.YAML()), "config.yaml")
		if err != nil {
			t.Fatalf("%v\n%s", err, c.YAML())
		}
		want, got := values(c), values(again)
		for _, v := range []map[string]string{want, got} {
			delete(v, "embedding.model_dir") // becomes relative to the file
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%s", diff, c.YAML())
		}
	})
}

// TestSpellings: numbers, sizes and durations are read as they are printed.
func TestSpellings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := config.Tokens(rapid.IntRange(0, 1<<31-1).Draw(t, "tokens"))
		size := config.Size(rapid.Int64Range(0, 1<<53).Draw(t, "size") &^ (1<<rapid.IntRange(0, 40).Draw(t, "bits") - 1))
		span := config.Duration(rapid.Int64Range(0, 65535*24*3600*1e9).Draw(t, "span"))
		span -= span % config.Duration(rapid.SampledFrom([]int64{1, 1e6, 1e9, 60e9, 3600e9, 24 * 3600e9}).Draw(t, "unit"))
		var n config.Tokens
		if err := n.Set(tokens.String()); err != nil || n != tokens {
			t.Fatalf("%d tokens are %s, read as %d, %v", int(tokens), tokens, int(n), err)
		}
		var b config.Size
		if err := b.Set(size.String()); err != nil || b != size {
			t.Fatalf("%d bytes are %s, read as %d, %v", int64(size), size, int64(b), err)
		}
		var d config.Duration
		if err := d.Set(span.String()); err != nil || d != span {
			t.Fatalf("%d ns are %s, read as %d, %v", int64(span), span, int64(d), err)
		}
	})
}

// TestMisspelt changes one letter of a key: it is refused, and if the word is not
// as near to another one, the hint names the right one.
func TestMisspelt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := config.Default().Keys()
		k := rapid.SampledFrom(keys).Draw(t, "key")
		path := strings.Split(k.Name, ".")
		leaf := path[len(path)-1]
		if len(leaf) < 5 {
			return
		}
		at := rapid.IntRange(1, len(leaf)-1).Draw(t, "at")
		wrong := leaf[:at] + "x" + leaf[at+1:]
		if wrong == leaf {
			return
		}
		path[len(path)-1] = wrong + ": 1"
		var b strings.Builder
		for depth, p := range path {
			end := "\n"
			if depth < len(path)-1 {
				end = ":\n"
			}
			b.WriteString(strings.Repeat("  ", depth) + p + end)
		}
		_, err := config.Read(strings.NewReader(b.String()), "c.yaml")
		var e *config.Error
		if !errors.As(err, &e) || e.Origin.Line != len(path) || e.Hint != "did you mean "+k.Name+"?" {
			t.Fatalf("%q: %v, hint %v", b.String(), err, e)
		}
	})
}

// TestAnything reads text that may be anything: it is accepted and valid, or
// refused by an Error that names the file.
func TestAnything(t *testing.T) {
	bits := []string{"plan", "retrieval", "workspace", "bootstrap", "files", "mmr", "half_life", ":", ": ", "\n", "\n  ", "\n    ", "- ", "[", "]", "{", "}", "&a ", "*a", "? ", "|", ">", "'", `"`, "1", "30d", "true", "~", "<<", "---", "!!str ", "!x ", "#", "\t", "%", ","}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(bits), rapid.StringN(0, 3, -1))).Draw(t, "text"), "")
		c, err := config.Read(strings.NewReader(text), "c.yaml")
		var e *config.Error
		switch {
		case err == nil:
			if err := c.Validate(); err != nil {
				t.Fatalf("accepted, but %v", err)
			}
		case !errors.As(err, &e) || e.Origin.File != "c.yaml":
			t.Fatalf("error is %v", err)
		}
	})
}
