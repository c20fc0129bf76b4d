package mask

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/hostile"
	"github.com/memkernel/memkernel/internal/suite"
)

// Secrets of all kinds are masked, in a text, in a JSON string, and in a JSON string
// within one.
func TestMaskKinds(t *testing.T) {
	for _, file := range []string{hostile.SecretKinds, hostile.MoreSecrets} {
		for seed := range uint64(suite.Pick(1, 5)) {
			for _, s := range hostile.Texts(file, seed) {
				for form, in := range map[string]string{"text": s.Text, "among others": "Here you are.\n" + s.Text + "\nThat is all.\n"} {
					out, found := (*Masker)(nil).Find(in)
					if left := hostile.SecretsLeft(out, s.Secrets); left != nil || found == nil {
						t.Errorf("%s, %s: %q is left of\n%s", s.Kind, form, left, out)
					}
					if again, n := (*Masker)(nil).Find(out); again != out || n != nil {
						t.Errorf("%s: a second pass: %v\n%s\n%s", s.Kind, n, out, again)
					}
				}
			}
		}
	}
}

// What is no secret stays.
func TestMaskNone(t *testing.T) {
	for _, s := range hostile.Texts(hostile.NoSecrets, 0) {
		if out, found := (*Masker)(nil).Find(s.Text); out != s.Text || found != nil {
			t.Errorf("%v\n%s\n%s", found, s.Text, out)
		}
	}
}

// shown are the values that were masked in a text, each with what precedes it.
func shown(in, out string) (list []string) {
	parts := maskMark.Split(out, -1)
	marks := maskMark.FindAllString(out, -1)
	at := len(parts[0])
	for i, mark := range marks {
		end := len(in)
		if next := parts[i+1]; next != "" {
			n := strings.Index(in[at:], next)
			if n < 0 {
				return append(list, mark+" and what follows")
			}
			end = at + n
		}
		list = append(list, fmt.Sprintf("%-28s %q ‹%s›", mark, in[max(0, at-60):at], in[at:end]))
		at = end + len(parts[i+1])
	}
	return list
}

var maskMark = regexp.MustCompile(`\[masked:[a-z0-9-]+\]`)

// othersText calls f for every text of recorded sessions and workspaces, and of this
// repository but for its tests: each string of a line of JSON by itself, and other files whole.
func othersText(t testing.TB, f func(path, text string)) {
	t.Helper()
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case string:
			f(path, v)
		case []any:
			for _, e := range v {
				walk(path, e)
			}
		case map[string]any:
			for _, e := range v {
				walk(path, e)
			}
		}
	}
	for _, root := range []string{"../../../shared/data/transcripts", "../../../shared/data/workspaces", "../.."} {
		if _, err := os.Stat(root); err != nil {
			t.Skipf("no %s beside the repository", root)
		}
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil || !utf8.Valid(raw) || len(raw) > 8<<20 && filepath.Ext(path) != ".jsonl" {
				return err
			}
			// Made of secrets, or of what looks like some, as tests of servers are.
			if strings.HasSuffix(path, "_test.go") || filepath.Ext(path) == ".txtar" || strings.Contains(path, "internal/hostile/") || strings.HasPrefix(filepath.Base(path), "mask") || filepath.Base(path) == "nosecrets.txt" {
				return nil
			}
			if filepath.Ext(path) != ".jsonl" {
				f(path, string(raw))
				return nil
			}
			for line := range strings.Lines(string(raw)) {
				var v any
				if json.Unmarshal([]byte(line), &v) != nil {
					f(path, line)
				}
				walk(path, v)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What is masked in other people's text is counted by rule; -v shows every value
// with what precedes it.
func TestMaskOfOthersText(t *testing.T) {
	if testing.Short() {
		t.Skip("reads fifty megabytes")
	}
	var found Secrets
	size := 0
	seen := map[string]bool{}
	othersText(t, func(path, text string) {
		size += len(text)
		if seen[text] {
			return
		}
		seen[text] = true
		out, n := (*Masker)(nil).Find(text)
		found.Add(n)
		if n != nil && testing.Verbose() {
			for _, s := range shown(text, out) {
				t.Logf("%s %s", filepath.Base(path), s)
			}
		}
	})
	for _, rule := range slices.Sorted(maps.Keys(found)) {
		t.Logf("%-32s %d", rule, found[rule])
	}
	if perMiB := float64(found.Total()) / (float64(size) / (1 << 20)); perMiB > 2 {
		t.Errorf("%.0f values per MiB of %d are masked: a rule takes what is no secret", perMiB, size)
	}
}

// In a string of JSON, with letters beyond ASCII escaped or not, and in a string of
// JSON within one, secrets are masked too, and it stays JSON.
func TestMaskKindsInJSON(t *testing.T) {
	for _, s := range hostile.Texts(hostile.SecretKinds, 5) {
		plain, err := json.Marshal(map[string]string{"command": s.Text, "description": "see"})
		if err != nil {
			t.Fatal(err)
		}
		ascii := strings.Trim(strconv.QuoteToASCII(s.Text), `"`)
		inner, _ := json.Marshal(string(plain))
		for form, in := range map[string]string{"plain": string(plain), "in a string": `{"arguments":` + string(inner) + `,"id":"x"}`, "ASCII": `{"text":"` + ascii + `"}`} {
			if !json.Valid([]byte(in)) {
				continue // Go's escapes are not all JSON's
			}
			out, _ := (*Masker)(nil).Find(in)
			if left := hostile.SecretsLeft(out, s.Secrets); left != nil || !json.Valid([]byte(out)) {
				t.Errorf("%s, %s: %q is left of\n%s", s.Kind, form, left, out)
			}
			if again, n := (*Masker)(nil).Find(out); again != out || n != nil {
				t.Errorf("%s: a second pass: %v\n%s\n%s", s.Kind, n, out, again)
			}
		}
	}
}

// A text whose line breaks are escaped, such as a file in a string in a log, has its
// secrets found as the text itself: of a hundred texts at most one keeps any, where
// another layer of escapes hides what a rule goes by.
func TestMaskEscapedLines(t *testing.T) {
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	n, left := 0, 0
	for _, file := range []string{hostile.SecretKinds, hostile.MoreSecrets, hostile.NoSecrets} {
		for _, x := range hostile.Texts(file, 8) {
			in := `12:01 got \n` + escape.Replace(x.Text) + `\n end`
			out, masked := everything.Mask(in)
			if n++; len(hostile.SecretsLeft(out, x.Secrets)) > 0 {
				left++
			}
			if len(x.Secrets) == 0 && masked > 0 {
				t.Errorf("%s: %q -> %q", x.Kind, in, out)
			}
			if strings.Contains(out, "\n") {
				t.Errorf("%s: a line break has another form: %q -> %q", x.Kind, in, out)
			}
		}
	}
	if left*100 > n {
		t.Errorf("%d of %d texts keep a secret", left, n)
	}
}
