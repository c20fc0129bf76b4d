package relevance

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

// withFacts copies a set's memory and writes facts beside it. A writer gives the facts of a
// file by its lines, which count from 0.
func withFacts(t testing.TB, set Set, write func(path string, lines []string) map[int][]string) Set {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "memory"), os.DirFS(filepath.Join(set.Dir, "memory"))); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "memory", "*.md"))
	if err := os.Mkdir(filepath.Join(dir, "memory", ".facts"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		path := "memory/" + filepath.Base(file)
		var facts []markdownstore.Fact
		made := write(path, strings.Split(string(raw), "\n"))
		for i := range strings.Count(string(raw), "\n") + 1 {
			for _, text := range made[i] {
				f, ok := markdownstore.NewFact(text, []markdownstore.LineRange{{From: i + 1, To: i + 1}}, string(raw))
				if !ok {
					t.Fatalf("%s:%d: no fact: %q", path, i+1, text)
				}
				facts = append(facts, f)
			}
		}
		at, _ := markdownstore.FactsPath(path)
		if err := os.WriteFile(filepath.Join(dir, at), []byte(markdownstore.FactsFile(path, facts, "", 0)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set.Dir = dir
	return set
}

var (
	saidBy  = regexp.MustCompile(`^- (\w+): (.*)$`)
	myself  = regexp.MustCompile(`(?i)\b(I|me|my|mine|I'm|I've|I'd|I'll|myself)\b`)
	other   = regexp.MustCompile(`(?i)\b(you|your|yours|you're|you've|you'd|yourself)\b`)
	image   = regexp.MustCompile(`\[image: (?:an? )?(?:photo|picture|photography) of (.*?)\]`)
	longish = regexp.MustCompile(`\b\w{4,}\b`)
)

// byRule makes facts of turns without a model: I and you become names, a short answer gets
// the words of the question before it, and a turn the picture of the one before it.
func byRule(rules string) func(string, []string) map[int][]string {
	return func(_ string, lines []string) map[int][]string {
		out := map[int][]string{}
		var names []string
		for _, l := range lines {
			if m := saidBy.FindStringSubmatch(l); m != nil && !slices.Contains(names, m[1]) {
				names = append(names, m[1])
			}
		}
		last := -1
		for i, l := range lines {
			m := saidBy.FindStringSubmatch(l)
			if m == nil {
				continue
			}
			speaker, text := m[1], m[2]
			var fact []string
			if strings.Contains(rules, "n") {
				if myself.MatchString(text) {
					fact = append(fact, speaker)
				}
				if len(names) == 2 && other.MatchString(text) {
					fact = append(fact, names[1-slices.Index(names, speaker)])
				}
			}
			if before := saidBy.FindStringSubmatch(lines[max(last, 0)]); last >= 0 && before != nil && before[1] != speaker {
				if strings.Contains(rules, "q") && strings.Contains(before[2], "?") && len(strings.Fields(text)) < 25 {
					fact = append(fact, longish.FindAllString(before[2], -1)...)
				}
				if p := image.FindStringSubmatch(before[2]); strings.Contains(rules, "i") && p != nil {
					fact = append(fact, p[1])
				}
			}
			if last = i; len(fact) > 0 {
				out[i] = append(out[i], strings.Join(fact, " "))
			}
		}
		return out
	}
}

// asked makes the question a fact of each line that answers it: what a writer could do at
// best.
func asked(qs []Question) func(string, []string) map[int][]string {
	return func(path string, _ []string) map[int][]string {
		out := map[int][]string{}
		for _, q := range qs {
			for _, e := range q.Evidence {
				if e.File == path {
					out[e.Line-1] = append(out[e.Line-1], q.Text)
				}
			}
		}
		return out
	}
}

// TestFactsFind: facts that say what is asked find nearly all of it, and facts made by rule,
// which mostly repeat what surrounds a turn, cost little. The log has what each comes to.
func TestFactsFind(t *testing.T) {
	var talks []string
	for _, dir := range sets(t) {
		if strings.Contains(dir, "locomo") {
			talks = append(talks, dir)
		}
	}
	for _, dir := range suite.Some(talks, 1) {
		set, err := Read(dir, filepath.Join(dir, "qa.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if !suite.Long() {
			set.Questions = thin(set.Questions)
		}
		recall := map[string]float64{}
		for _, w := range []struct {
			name  string
			write func(string, []string) map[int][]string
		}{{"none", nil}, {"asked", asked(set.Questions)}, {"by rule: names", byRule("n")}, {"by rule: questions", byRule("q")}, {"by rule: pictures", byRule("i")}, {"by rule: all", byRule("nqi")}} {
			if !suite.Long() && strings.HasPrefix(w.name, "by rule") && w.name != "by rule: all" {
				continue
			}
			with := set
			if w.write != nil {
				with = withFacts(t, set, w.write)
			}
			b, err := Open(t.Context(), with)
			if err != nil {
				t.Fatal(err)
			}
			b.Unpacked = true
			m := run(t, b, retrieval.Options{}).Metrics
			b.Close()
			t.Log(row(set.Name, w.name, m))
			recall[w.name] = m.RecallAt10
		}
		if recall["asked"] < .97 || recall["asked"] < recall["none"]+.05 {
			t.Errorf("%s: facts that say what is asked bring recall@10 from %.3f to %.3f", set.Name, recall["none"], recall["asked"])
		}
		for name, r := range recall {
			if r < recall["none"]-.04 {
				t.Errorf("%s: facts %s take recall@10 from %.3f to %.3f", set.Name, name, recall["none"], r)
			}
		}
	}
}
