package config_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

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
		"empty section":      "plan:\n  reserve: 10k\nindex: # nothing yet\n\naudit:\n  host: codex\n",
		"empty, last":        "plan:\n  reserve: 10k\nindex:",
		"section of section": "index:\n  sync:\n    watch: false\n",
		"braces":             "{plan: {reserve: 10k}, index: {backend: sqlite}}\n",
		"braces inside":      "plan: {reserve: 10k}\nindex: {backend: sqlite} # x\n",
		"empty braces":       "index: {}\n",
		"only braces":        "{}",
		"byte order mark":    "\ufeffplan:\n  reserve: 10k\n",
		"a document's marks": "---\nplan:\n  reserve: 10k\n...\n",
		"indented":           "  plan:\n    reserve: 10k\n  index:\n    backend: sqlite\n",
		"experiments":        "experimental:\n  index:\n    sync: {interval: 9m}\n",
		"the sample":         config.Sample(),
	} {
		got, err := config.Put([]byte(text), "c.yaml", "index.include", config.List(globs))
		if byHand := (*config.Error)(nil); strings.Contains(name, "braces") || name == "a document's marks" {
			if !errors.As(err, &byHand) || !strings.Contains(byHand.Hint, "include: [") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
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
	}
	for _, text := range []string{"plan: [", "index: &a\nplan: *a\n", "? index\n: &x {backend: sqlite}\nplan: {<<: *x}"} {
		var mistake *config.Error
		if got, err := config.Put([]byte(text), "c.yaml", "index.include", "[]"); err != nil && (!errors.As(err, &mistake) || mistake.Hint == "") {
			t.Errorf("%q: %v", text, err)
		} else if _, rerr := config.Read(strings.NewReader(string(got)), "c.yaml"); err == nil && rerr != nil {
			t.Errorf("%q: %q: %v", text, got, rerr)
		}
	}
}

// A setting that is there gets another value, and all else stays.
func TestPut(t *testing.T) {
	for name, text := range map[string]string{
		"none":     "",
		"a line":   "index: # where\n  backend: sqlite # x\n  folders: [\"/aa\"] # ours\n  # end\naudit:\n  host: codex\n",
		"a block":  "index:\n  folders:\n    - /aa\n    - bb=/bb\n  backend: sqlite\n# end\n",
		"alone":    "index:\n  folders: [/aa]\n",
		"DOS":      "index:\r\n  folders:\r\n  - /aa\r\n  backend: sqlite\r\n",
		"no end":   "index:\n  backend: sqlite\n  folders: [/aa, /cc]",
		"in lines": "index:\n  folders: [/aa,\n    /cc]\n  backend: sqlite\n",
	} {
		for _, want := range [][]string{{"/xx", "nn=/yy"}, {}} {
			got, err := config.Put([]byte(text), "c.yaml", "index.folders", config.List(want))
			var mistake *config.Error
			if name == "in lines" && errors.As(err, &mistake) && mistake.Hint != "" {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			c, err := config.Read(strings.NewReader(string(got)), "c.yaml")
			if err != nil || !slices.Equal(c.Index.Folders, want) {
				t.Errorf("%s: %q, %v:\n%s", name, c.Index.Folders, err, got)
			}
			for _, part := range []string{"# where", "backend: sqlite", "# end", "host: codex"} {
				if strings.Contains(text, part) != strings.Contains(string(got), part) {
					t.Errorf("%s: %q is lost:\n%s", name, part, got)
				}
			}
		}
	}
	if _, err := config.Put([]byte("{index: {folders: [/aa]}}"), "c.yaml", "index.folders", "[]"); err == nil {
		t.Error("a setting that shares its line was changed")
	}
}

// shape draws a configuration file, in one of the many ways that people write one.
func shape(t *rapid.T) string {
	pick := func(what string, from ...string) string { return rapid.SampledFrom(from).Draw(t, what) }
	comment := func() string { return pick("comment", "", "", " # mine", " # ünï: {x}, \u2028 [") }
	step := pick("step", " ", "  ", "    ", "   ")
	var out []string
	add := func(line string) {
		if pick("above", "", "", "", "x") != "" {
			out = append(out, pick("gap", "", "# retrieval: {sessions: no}", "    # far off", "#"))
		}
		out = append(out, line+comment())
	}
	sessions := func(in string) {
		switch pick("sessions", "none", "block", "block", "flow", "empty flow", "null", "long flow", "odd") {
		case "block":
			add(in + pick("name", "sessions", `"sessions"`, "'sessions'") + ":")
			for _, l := range rapid.Permutation([]string{"own: false", "agent: x", "delta_bytes: 7", `folders: ["a # b", 'c: d']`}).Draw(t, "keys")[:rapid.IntRange(1, 4).Draw(t, "n")] {
				add(in + step + l)
			}
		case "flow":
			add(in + "sessions: {own: false, agent: 'a}b'}")
		case "empty flow":
			add(in + "sessions: {}")
		case "null":
			add(in + "sessions:")
		case "long flow":
			out = append(out, in+"sessions: {", in+step+"own: false,", in+"}")
		case "odd":
			out = append(out, in+pick("odd", "sessions: ~", "sessions: null # none", "? sessions\n"+in+": {own: false}", "sessions: &s {own: false}", "sessions: !!map {own: false}"))
		}
	}
	section := map[string]func(){
		"retrieval": func() {
			switch pick("retrieval", "block", "block", "flow", "deep flow", "null") {
			case "block":
				add("retrieval:")
				n := len(out)
				if pick("before", "", "x") != "" {
					add(step + "candidates: 50")
				}
				sessions(step)
				if pick("behind", "", "x") != "" || len(out) == n {
					add(step + "half_life: 30d")
				}
			case "flow":
				add("retrieval: {candidates: 50}")
			case "deep flow":
				add("retrieval: {candidates: 50, sessions: {own: false}, half_life: 30d}")
			case "null":
				add("retrieval:")
			}
		},
		"plan":  func() { add("plan:"); add(step + "reserve: 10k") },
		"index": func() { add("index:"); add(step + "exclude:"); add(step + "- a"); add(step + "sync: {watch: false}") },
		"audit": func() { add("audit: {host: codex}") },
	}
	if pick("mark", "", "", "---") != "" {
		out = append(out, "---")
	}
	for _, name := range rapid.Permutation([]string{"retrieval", "plan", "index", "audit"}).Draw(t, "order")[:rapid.IntRange(0, 4).Draw(t, "sections")] {
		section[name]()
	}
	text := strings.Join(out, "\n") + pick("end", "", "\n", "\n\n", "\n# end\n", "\n...\n")
	if pick("lines", "\n", "\n", "\r\n") != "\n" {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return pick("mark of order", "", "", "\ufeff") + text
}

// TestAddToAnyShape: whatever a file looks like, one key is set, in one place, and every
// other byte stays; or the file stays whole, and the error names the line and what to add.
func TestAddToAnyShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := shape(t)
		before, err := config.Read(strings.NewReader(text), "c.yaml")
		if err != nil {
			t.Skip(err) // not a configuration
		}
		key, value := "index.backend", "qmd"
		if rapid.Bool().Draw(t, "another key") {
			key, value = "plan.door", "false"
		}
		got, err := config.Put([]byte(text), "c.yaml", key, value)
		if err != nil {
			var e *config.Error
			if !errors.As(err, &e) || e.Origin.File != "c.yaml" || e.Origin.Line == 0 || !strings.Contains(e.Hint, value) {
				t.Fatalf("%v\n%s", err, text)
			}
			return
		}
		i := 0
		for i < len(text) && got[i] == text[i] {
			i++
		}
		if n := len(got) - len(text); n <= 0 || !strings.HasSuffix(string(got), text[i:]) {
			t.Fatalf("other bytes changed:\n%q\n%q", text, got)
		}
		after, err := config.Read(strings.NewReader(string(got)), "c.yaml")
		if err != nil {
			t.Fatalf("%v\n%s", err, got)
		}
		want, have := values(before), values(after)
		if have[key] != value {
			t.Fatalf("%s is %s\n%s", key, have[key], got)
		}
		delete(want, key)
		delete(have, key)
		if diff := cmp.Diff(want, have); diff != "" {
			t.Fatalf("%s\n%s", diff, got)
		}
		if strings.Count(text, "\n") == strings.Count(text, "\r\n") && strings.Contains(text, "\n") && strings.Count(string(got), "\n") != strings.Count(string(got), "\r\n") {
			t.Fatalf("line ends are mixed: %q", got)
		}
	})
}

// TestAddSaysWhere: a file that can't be added to stays, with the line that is in the way
// and the line to add.
func TestAddSaysWhere(t *testing.T) {
	for text, want := range map[string]string{
		"plan:\n  reserve: 10k\nindex: {backend: sqlite}\n": "c.yaml:3: folders: [/aa]",
		"{plan: {reserve: 10k}}\n":                          "c.yaml:1: folders: [/aa]",
	} {
		got, err := config.Put([]byte(text), "c.yaml", "index.folders", "[/aa]")
		var e *config.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v, %q", text, err, got)
			continue
		}
		place, line, _ := strings.Cut(want, ": ")
		if e.Origin.String() != place || !strings.HasSuffix(e.Hint, ": "+line) {
			t.Errorf("%q: at %s, hint %q", text, e.Origin, e.Hint)
		}
	}
}
