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
