package config_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/config"
)

// TestAdd: a setting is added to whatever file, and all that was there stays.
func TestAdd(t *testing.T) {
	globs := []string{"**/*.md", ".x/*.md", "a 'b' \"c\"/日本*.md"}
	for name, text := range map[string]string{
		"nothing":            "",
		"comments only":      "# mine\n\n# and more",
		"other sections":     "# mine\nplan: # the plan\n  reserve: 10k\n\n# end",
		"no last line end":   "plan:\n  reserve: 10k",
		"line ends of DOS":   "plan:\r\n  reserve: 10k\r\nindex:\r\n  backend: sqlite # x\r\n",
		"the section":        "index:\n    # about it\n    backend: sqlite\nplan:\n    reserve: 10k\n",
		"empty section":      "plan:\n  reserve: 10k\nindex: # nothing yet\n\noutput:\n  color: never\n",
		"empty, last":        "plan:\n  reserve: 10k\nindex:",
		"section of section": "index:\n  sync:\n    watch: false\n",
		"braces":             "{plan: {reserve: 10k}, index: {backend: sqlite}}\n",
		"braces inside":      "plan: {reserve: 10k}\nindex: {backend: sqlite} # x\n",
		"empty braces":       "index: {}\n",
		"only braces":        "{}",
		"byte order mark":    "\ufeffplan:\n  reserve: 10k\n",
		"a document's marks": "---\nplan:\n  reserve: 10k\n...\n",
		"indented":           "  plan:\n    reserve: 10k\n  index:\n    backend: sqlite\n",
		"experiments":        "experimental:\n  index:\n    max_files: 500\n",
		"the sample":         config.Sample(),
	} {
		got, err := config.Add([]byte(text), "c.yaml", "index.include", config.List(globs))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c, err := config.Read(strings.NewReader(string(got)), "c.yaml")
		if err != nil || !slices.Equal(c.Index.Include, globs) {
			t.Errorf("%s: %q, %v:\n%s", name, c.Index.Include, err, got)
		}
		left := string(got)
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			if strings.HasSuffix(name, "braces") || strings.HasPrefix(name, "braces") {
				line, _, _ = strings.Cut(line, "{")
			}
			i := strings.Index(left, line)
			if i < 0 {
				t.Errorf("%s: %q is gone, or elsewhere:\n%s", name, line, got)
				break
			}
			left = left[i+len(line):]
		}
		if strings.Contains(text, "\r\n") && strings.Count(string(got), "\n") != strings.Count(string(got), "\r\n") {
			t.Errorf("%s: line ends are mixed: %q", name, got)
		}
		again, err := config.Add(got, "c.yaml", "index.include", "[]")
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: what is there is set anew: %v", name, err)
		}
	}
	for _, text := range []string{"plan: [", "index: &a\nplan: *a\n", "? index\n: &x {backend: sqlite}\nplan: {<<: *x}"} {
		var mistake *config.Error
		if got, err := config.Add([]byte(text), "c.yaml", "index.include", "[]"); err != nil && (!errors.As(err, &mistake) || mistake.Hint == "") {
			t.Errorf("%q: %v", text, err)
		} else if _, rerr := config.Read(strings.NewReader(string(got)), "c.yaml"); err == nil && rerr != nil {
			t.Errorf("%q: %q: %v", text, got, rerr)
		}
	}
}

// TestAddInside: a setting two sections down is added to whatever of them is there, and
// nothing but the added text differs.
func TestAddInside(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                "",
		"outer":                  "retrieval:\n  # mine\n  max_items: 5\n",
		"both":                   "retrieval:\n  max_items: 5 # x\n\n  sessions: # about them\n    # first\n    folders: [a30d]\n  half_life: 9d\n",
		"both, wide":             "retrieval:\n        sessions:\n            folders: [a30d]\n",
		"both, DOS":              "retrieval:\r\n  sessions:\r\n    folders: [a30d]\r\nplan:\r\n  reserve: 10k\r\n",
		"inner in braces":        "retrieval:\n  sessions: {folders: [a30d]} # x\n",
		"inner, empty braces":    "retrieval:\n  sessions: {}\n",
		"outer in braces":        "retrieval: {sessions: {folders: [a30d]}, max_items: 5}\n",
		"outer, many lines":      "retrieval: {\n  max_items: 5,\n  sessions: {folders: [a30d]},\n}\n",
		"all in braces":          "{plan: {reserve: 10k}, retrieval: {sessions: {folders: [a30d]}}}\n",
		"inner, nothing yet":     "retrieval:\n  sessions:\n  max_items: 5\n",
		"inner, nothing, last":   "retrieval:\n  max_items: 5\n  sessions:",
		"quoted names":           "\"retrieval\":\n  'sessions':\n    folders: [a30d]\n",
		"characters before it":   "plan: {reserve: 10k} # 日本\nretrieval: {sessions: {folders: [a30d]}} # 日本\n",
		"a document's marks":     "---\nretrieval:\n  sessions:\n    folders: [a30d]\n...\n",
		"a comment's own braces": "retrieval: # {sessions: {}}\n  sessions: # {}\n    folders: [a30d]\n",
	} {
		got, err := config.Add([]byte(text), "c.yaml", "retrieval.sessions.enabled", "true")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c, err := config.Read(strings.NewReader(string(got)), "c.yaml")
		if err != nil || !c.Retrieval.Sessions.Enabled {
			t.Errorf("%s: not set, %v:\n%s", name, err, got)
		}
		if strings.Contains(text, "30d") && !strings.Contains(string(got), "30d") {
			t.Errorf("%s: what was there is gone:\n%s", name, got)
		}
		same := 0
		for same < len(text) && got[same] == text[same] {
			same++
		}
		if !strings.HasSuffix(string(got), text[same:]) {
			t.Errorf("%s: more than an addition:\n%s", name, got)
		}
	}
	got, err := config.Add([]byte("plan: {reserve: 10k}\n\nretrieval:\n  sessions: &s\n    folders: [a30d]\n  <<: *s\n"), "c.yaml", "retrieval.sessions.enabled", "true")
	if err == nil && !strings.Contains(string(got), "&s") {
		t.Errorf("%s", got)
	}
	text := "retrieval:\n  sessions:\n    enabled: false # no\n"
	if got, err := config.Add([]byte(text), "c.yaml", "retrieval.sessions.enabled", "true"); err != nil || string(got) != text {
		t.Errorf("what a person set is set anew: %v\n%s", err, got)
	}
}
