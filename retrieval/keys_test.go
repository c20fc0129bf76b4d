package retrieval

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/index/analysis"
)

// spelt are the words of keys; one that has digits is shown as a term with that
// key, or as #.
func spelt(keys []key, terms ...string) []string {
	out := []string{}
	for _, k := range keys {
		word, ok := k.word()
		for _, t := range terms {
			if tk, _ := keyOf(t); !ok && tk == k {
				word, ok = t, true
			}
		}
		if !ok {
			word = "#"
		}
		out = append(out, word)
	}
	return out
}

func TestKeys(t *testing.T) {
	for text, want := range map[string]string{
		"The quick fox.":            "the quick fox",
		"HTTPServer http_server x":  "http server httpserver http server httpserver x",
		"parseURL(APIs, v2)":        "parse url parseurl apis v2",
		"don't stop":                "don dont stop", // a single letter is no part
		"1,024 a,b":                 "# # # a b",
		"an.internationalization.x": "an internationa aninternatio",
		"x-y":                       "xy",
		"end- of_":                  "end of",
		"a → b — c │ ✅ d":           "a b c # d",
		strings.Repeat("aB", 20):    "abababababab", // encoded data
		"38 83":                     "38 #",
	} {
		keys, ascii := appendKeys(nil, text)
		if d := cmp.Diff(want, strings.Join(spelt(keys, "v2", "38"), " ")); d != "" || !ascii {
			t.Errorf("%q: %v %s", text, ascii, d)
		}
	}
	for _, text := range []string{"naïve", "ein Überblick", "数据库", "привет", "x²"} {
		if keys, ascii := appendKeys(nil, text); ascii || keys != nil {
			t.Errorf("%q has the keys %q", text, spelt(keys))
		}
	}
}

// There are as many keys as analysis finds terms, so that lengths agree; but for roots,
// which a word that reads as one of some languages leaves behind its stem.
func TestKeysAreAsManyAsTerms(t *testing.T) {
	a := anAnalyzer(t)
	part := rapid.StringOfN(rapid.SampledFrom([]rune("abTS1")), 1, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for range rapid.IntRange(0, 8).Draw(t, "words") {
			text += part.Draw(t, "part") + rapid.SampledFrom([]string{" ", "_", "-", ".", ", ", "\n", "(", "/"}).Draw(t, "end")
		}
		keys, ascii := appendKeys(nil, text)
		if want := rootless(a.Index(text)); len(keys) != len(want) || !ascii {
			t.Fatalf("%q has the keys %q, the terms %q", text, spelt(keys), want)
		}
	})
}

// rootless are terms without those that are the beginning of the one before.
func rootless(terms []string) (out []string) {
	for i, t := range terms {
		if i > 0 && len(t) == 5 && len(terms[i-1]) > 5 && strings.HasPrefix(terms[i-1], t) {
			continue
		}
		out = append(out, t)
	}
	return out
}

func anAnalyzer(t testing.TB) *analysis.Analyzer {
	t.Helper()
	a, err := analyzer()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A word is found by its own terms whatever its ending, in real texts.
func TestMatcherFindsEveryWord(t *testing.T) {
	a := anAnalyzer(t)
	s, _ := conversation(t, "../testdata/session.jsonl")
	seen, lost := map[string]bool{}, 0
	for _, sp := range s.spans {
		for _, word := range strings.FieldsFunc(strings.ToLower(sp.Text), func(r rune) bool { return r < 'a' || r > 'z' }) {
			if seen[word] {
				continue
			}
			seen[word] = true
			counts := make([]uint8, 1)
			keys, _ := appendKeys(nil, word)
			newMatcher(a, strings.Fields(string(a.AppendIndexAs(nil, word, "en"))), "en").count(keys, counts, 2)
			if counts[0] != 2 {
				t.Logf("%q is lost", word)
				lost++
			}
		}
	}
	if len(seen) < 1000 || lost > len(seen)/1000 {
		t.Errorf("%d of %d words are lost", lost, len(seen))
	}
}
