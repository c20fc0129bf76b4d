package consolidation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/health"
)

var fileHead = regexp.MustCompile(`(?m)^-- (.+) --\n`)

// style reads a workspace of testdata/styles, and what an audit has to find in it.
func style(t *testing.T, name string) (texts map[string]string, want []string) {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("‹", "", "›", "").Replace(string(raw)) // so that no scanner takes it for a leak
	texts = map[string]string{}
	at := fileHead.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		texts[text[m[2]:m[3]]] = text[m[1]:end]
	}
	want = strings.Split(strings.TrimSpace(texts["want"]), "\n")
	delete(texts, "want")
	return texts, want
}

// Workspaces that people keep in other ways have the findings that a person would act on,
// and no more.
func TestStyles(t *testing.T) {
	names, err := filepath.Glob("testdata/styles/*.txt")
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			texts, want := style(t, name)
			r := audit(t, files(texts), nil)
			var got []string
			for _, f := range r.Findings {
				got = append(got, strings.Join([]string{string(f.Severity), string(f.Code), f.Place.String(), f.What}, " "))
			}
			if !slices.Equal(got, want) {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// Real workspaces that are looked after have few enough findings to be read, even where the
// clock is late by weeks.
func TestFewFindings(t *testing.T) {
	const shared = "../../shared/data/workspaces/"
	for _, tt := range []struct{ dir, day string }{
		{"../testdata/workspace", "2026-03-09"},
		{shared + "LumenBot__LobsterOps", "2026-02-18"},
		{shared + "robertsong2019__openclaw-workspace", "2026-03-24"},
	} {
		t.Run(filepath.Base(tt.dir)+" "+tt.day, func(t *testing.T) {
			if _, err := os.Stat(tt.dir); err != nil {
				t.Skipf("no %s beside the repository", strings.TrimPrefix(tt.dir, "../"))
			}
			at, err := time.Parse(time.DateOnly, tt.day)
			if err != nil {
				t.Fatal(err)
			}
			host, _ := consolidation.HostByName("openclaw")
			r, err := auditOf(t.Context(), os.DirFS(tt.dir), consolidation.Options{Host: host, Now: at.Add(15 * time.Hour), Timezone: time.UTC})
			if err != nil {
				t.Fatal(err)
			}
			if r.Faults() > 15 {
				t.Errorf("%d findings: %v", r.Faults(), r.Findings)
			}
			for _, f := range r.Findings {
				if f.Code == health.Secrets {
					t.Error(f)
				}
			}
		})
	}
}

// What has one cause is one finding, which has every place.
func TestOneCauseIsOneFinding(t *testing.T) {
	many := func(n int, line func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i) + "\n\n")
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		texts  map[string]string
		what   string
		places int
		age    time.Duration
	}{
		"a target":      {texts: map[string]string{"memory/ports.md": "+" + many(9, func(int) string { return "See [it](nowhere.md)." }), "TOOLS.md": "+\n[it](memory/nowhere.md)\n"}, what: "nowhere.md, which does not exist; so do 9 other lines", places: 10},
		"a folder":      {texts: map[string]string{"MEMORY.md": "+" + many(9, func(i int) string { return fmt.Sprintf("\n- [it](lost/in/%d.md)", i) })}, what: "9 places that do not exist: lost/in/0.md, ", places: 9},
		"a part of one": {texts: map[string]string{"MEMORY.md": "+" + many(9, func(i int) string { return fmt.Sprintf("\n- [it](memory/lost-%d.md)", i) })}, what: "9 places that do not exist: memory/lost-0.md, ", places: 9},
		"headings":      {texts: map[string]string{"MEMORY.md": "+" + many(9, func(i int) string { return fmt.Sprintf("\n- [it](memory/ports.md#part-%d)", i) })}, what: "9 places that do not exist: #part-0, ", places: 9},
		"a moved file":  {texts: map[string]string{"MEMORY.md": "+" + many(9, func(i int) string { return fmt.Sprintf("\n- [it](lost-%c/it.md)", 'a'+i) })}, what: "9 places that do not exist: ", places: 9},
		"notes":         {texts: map[string]string{"memory/ports.md": "+" + many(9, func(i int) string { return fmt.Sprintf("\n- [[Idea %c]]", 'a'+i) })}, what: "9 notes that nobody has written yet: [[Idea a]], ", places: 9},
		"no text":       {texts: map[string]string{"memory/a.md": "caf\xe9\n", "memory/b.md": "caf\xe9\n", "memory/c.md": "caf\xe9\n", "memory/d.md": "caf\xe9\n"}, what: "so it is with 3 other files", places: 4},
		"secrets":       {texts: map[string]string{"memory/ports.md": "+" + many(9, func(i int) string { return "ghp_" + fmt.Sprint(i) + "6C7e42F292c6912E7710c838347Ae178B4a" })}, what: "a secret (rule github), as do 8 other lines", places: 9},
		"entries": {texts: map[string]string{"memory/ports.md": "+" + many(9, func(i int) string {
			return fmt.Sprintf("\n- The %c gate is opened by hand when the lights on both sides have gone out.", 'a'+i)
		}), "memory/other.md": many(9, func(i int) string {
			return fmt.Sprintf("- The %c gate is opened by hand when the lights on both sides have gone out.\n\n- Only %c here.\n", 'a'+i, 'a'+i)
		})}, what: "has 9 entries of memory/other.md once more: the first repeats memory/other.md:1", places: 10},
		"a run of them":  {texts: map[string]string{"memory/ports.md": "+" + "\n## One\n\n" + many(1, func(int) string { return gates }) + "## Two\n\n" + gates}, what: "has 3 of its own entries once more: the first repeats memory/ports.md:9: ", places: 4},
		"files not read": {texts: map[string]string{"memory/a.md": "# A\n", "memory/b.md": "# B\n"}, what: "was last changed 30 days ago, the limit is 7 days; 1 other file was changed longer ago than that, too", places: 2, age: 30 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			w := with(tt.texts)
			for p := range tt.texts {
				w[p].ModTime = now.Add(-tt.age)
			}
			r := audit(t, w, nil)
			if len(r.Findings) != 1 {
				t.Fatalf("%d findings: %v", len(r.Findings), r.Findings)
			}
			if f := r.Findings[0]; !strings.Contains(f.What, tt.what) || 1+len(f.Others) != tt.places {
				t.Errorf("%d places: %s", 1+len(f.Others), f.What)
			}
		})
	}
}

const gates = "- The first gate is opened by hand when all the lights have gone out.\n- The second gate is opened by hand when all the lights have gone out.\n- The third gate is opened by hand when all the lights have gone out.\n"

// What nobody is to mend, or what is as it should be, is no fault: it is told of together.
func TestNoFault(t *testing.T) {
	for name, texts := range map[string]map[string]string{
		"a closed log":            {"memory/2026-03-08.md": "+\nSee [it](gone.md), [[Nothing]] and memory/lost.md.\n"},
		"a note of a day":         {"memory/2026-03-08-evening.md": "See [it](gone.md).\n"},
		"instructions":            {"AGENTS.md": "+\nErrors go to `memory/errors.md`.\n"},
		"an open task":            {"memory/ports.md": "+\n- [ ] Write `memory/tides.md`\n"},
		"words of what went":      {"memory/ports.md": "+\nmemory/tides.md was removed; ~~memory/flood.md~~.\n"},
		"an address":              {"memory/ports.md": "+\n[a](www.example.com/a.md) [b](example.org/b.md) [c](https://x.io/c.md) [d](mailto:a@b.c)\n"},
		"code":                    {"memory/ports.md": "+\nf[i](x) and [he](she); `src/other.go`, `a[[1]]`\n"},
		"examples":                {"memory/ports.md": "+\nmemory/topic.md, memory/foo.md, [x](path/to/file.md), memory/<name>.md, [[note]]\n"},
		"an anchor of hosts":      {"memory/ports.md": "+\n### The [`main`](../TOOLS.md) port -- *now*\n\n[a](#the-main-port----now) [b](#The%20main%20port%20now) [c](#:~:text=port) [d](#TODO)\n"},
		"a command in two topics": {"memory/a.md": "- `make test && make lint && make release VERSION=patch DRY=1`\n", "memory/b.md": "- `make test && make lint && make release VERSION=patch DRY=1`\n"},
		"a task in two topics":    {"memory/a.md": "- [ ] Ask the person on call before anything at all is released\n", "memory/b.md": "- [x] Nothing\n- [ ] Ask the person on call before anything at all is released\n"},
		"a paragraph in one log":  {"memory/2026-03-08.md": "+\nWe walked up the mountain and came back by the other side today.\n\nWe walked up the mountain and came back by the other side today.\n"},
		"two parts of one topic":  {"memory/a.md": "## One\n\n- It answers within a second or says clearly why it does not.\n\n## Two\n\n- It answers within a second or says clearly why it does not.\n"},
		"rules and no keys":       {"memory/ports.md": "---\n\n## 10:47 [what](TOOLS.md): \"it\"\n\n---\n\n# Ports\n\n## Database\n"},
		"a template":              {"memory/ports.md": "---\ndate: {{date}}\n---\n# Ports\n\n## Database\n"},
		"no logs at all":          {"memory/2026-03-08.md": "", "memory/2026-03-09.md": "", "AGENTS.md": "# A\n", "memory/ports.md": "# Ports\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := audit(t, with(texts), nil)
			if r.Faults() != 0 || len(r.Findings) > 1 {
				t.Errorf("found %v", r.Findings)
			}
			for _, c := range r.Checks {
				if c.Findings != 0 {
					t.Errorf("%s counts %d", c.ID, c.Findings)
				}
			}
		})
	}
}

// A topic is held against a log whatever their names are.
func TestALogContradictsATopic(t *testing.T) {
	r := audit(t, with(map[string]string{"memory/ports.md": "+\n- Grafana port: 3000\n", "memory/2026-03-09.md": "+\n- Grafana port: 3001\n"}), nil)
	if len(r.Findings) != 1 || r.Findings[0].Code != health.Contradictions || r.Findings[0].Path != "memory/2026-03-09.md" {
		t.Errorf("found %v", r.Findings)
	}
}
