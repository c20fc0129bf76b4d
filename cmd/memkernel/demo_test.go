package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/cli"
)

const memoryPage = "../../doc/memory.md"

// shown are the pages that show what demo prints, with the arguments and the line before which
// each page stops.
var shown = map[string]struct {
	args []string
	end  string
}{
	"../../README.md":   {[]string{"demo"}, ""},
	"../../doc/plan.md": {[]string{"demo", "--explain"}, "\nPages"},
}

// TestDemoIsShown holds the pages' demo blocks against what the command prints; -update rewrites
// them.
func TestDemoIsShown(t *testing.T) {
	for page, c := range shown {
		code, out, stderr := invoke(t, c.args...)
		if code != cli.ExitOK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		if c.end != "" {
			var ok bool
			if out, _, ok = strings.Cut(out, c.end); !ok {
				t.Fatalf("%v prints nothing of %q", c.args, c.end)
			}
		}
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, begins := strings.Cut(string(raw), "<!-- demo")
		mark, rest, opens := strings.Cut(rest, "```\n")
		got, tail, ends := strings.Cut(rest, "```\n<!-- /demo -->")
		switch {
		case !begins || !opens || !ends:
			t.Errorf("%s has no demo block", page)
		case got != out && !*update:
			t.Errorf("%s shows other lines than the command prints; go test ./cmd/memkernel -run DemoIsShown -update rewrites it\n%s", page, out)
		case got != out:
			if err := os.WriteFile(page, []byte(head+"<!-- demo"+mark+"```\n"+out+"```\n<!-- /demo -->"+tail), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestDemo: the tour fits a screen, answers its questions, leaves nothing behind, and neither
// reads nor mends the settings of the folder in which it runs.
func TestDemo(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	t.Setenv("TMPDIR", temp)
	state := filepath.Join(dir, ".memkernel")
	if err := errors.Join(os.Mkdir(state, 0o755), os.WriteFile(filepath.Join(state, "config.yaml"), []byte("no such: [setting\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := invoke(t, "demo")
	if code != cli.ExitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) > 30 {
		t.Errorf("%d lines", len(lines))
	}
	for _, l := range lines {
		if utf8.RuneCountInString(l) > 80 {
			t.Errorf("too long: %q", l)
		}
	}
	for _, want := range []string{"MEMORY.md:7 There is no proxy", "MEMORY.md:40 Whoever swaps a vessel", "request 184 of the day"} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing of %q in\n%s", want, out)
		}
	}
	if i, err := os.Stat(state); err != nil || i.Mode().Perm() != 0o755 {
		t.Errorf("the folder's state was touched: %v %v", i, err)
	}
	for d, most := range map[string]int{dir: 1, temp: 0} {
		if left, err := os.ReadDir(d); err != nil || len(left) != most {
			t.Errorf("%s holds %v, %v", d, left, err)
		}
	}
}

// The kept, shortened and added parts are the whole call.
func TestDemoAddsUp(t *testing.T) {
	_, out, _ := invoke(t, "demo")
	sum, sent := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^ +([\d,]+)  (\w+)`).FindAllStringSubmatch(out, -1) {
		n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		if m[2] == "are" {
			sent = n
		} else {
			sum += n
		}
	}
	if sent == 0 || sum != sent {
		t.Errorf("the parts make %d tokens of %d\n%s", sum, sent, out)
	}
}

// TestDemoSaysOneNumber: the tour and the explanation of the same call have the same figures.
func TestDemoSaysOneNumber(t *testing.T) {
	_, tour, _ := invoke(t, "demo")
	_, whole, _ := invoke(t, "demo", "--explain")
	for _, want := range []string{`shortened: (\d+) long results`, `a summary of (\d+) messages`} {
		m := regexp.MustCompile(want).FindStringSubmatch(tour)
		if m == nil || !strings.Contains(whole, m[1]+" degraded") && !strings.Contains(whole, m[1]+" dropped") {
			t.Errorf("%s: %q of the tour is not in the explanation", want, m)
		}
	}
	fixed := regexp.MustCompile(`([\d,]+)  kept: the agent's instructions`).FindStringSubmatch(tour)
	for _, n := range regexp.MustCompile(`25,1\d\d`).FindAllString(whole, -1) {
		if fixed == nil || n != fixed[1] {
			t.Errorf("the fixed part has %s tokens, and %q in the tour", n, fixed)
		}
	}
}

// Every word that the explanation is followed by is explained.
func TestDemoExplains(t *testing.T) {
	_, out, _ := invoke(t, "demo", "--explain")
	_, words, ok := strings.Cut(out, "\nWords\n")
	for _, w := range []string{"token", "page", "fault"} {
		if !ok || !strings.Contains(words, "  "+w+"\n") {
			t.Errorf("%q is not explained", w)
		}
	}
}

// TestEveryCheckIsNamed: the table of audit's checks is whole.
func TestEveryCheckIsNamed(t *testing.T) {
	raw, err := os.ReadFile(memoryPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range consolidation.ListChecks() {
		if !strings.Contains(string(raw), "`"+string(c.ID)+"`") {
			t.Errorf("doc/memory.md has nothing of the check %s", c.ID)
		}
	}
}
