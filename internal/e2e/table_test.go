package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// answered is what a column says: yes, no, or that it makes no sense for a row.
type answered int

const (
	none answered = iota
	no
	yes
)

func (a answered) String() string { return [...]string{"–", "no", "yes"}[a] }

func whether(b bool) answered {
	if b {
		return yes
	}
	return no
}

// row is what a run of a host or framework came to.
type row struct {
	// Title and Version are the program's, Model is the model that it asked, Through is by what it
	// has memkernel.
	Title, Version, Model, Through string
	Framework                      bool
	// Turns are those with memkernel, Requests those of both runs; Violations is how many more
	// requests broke a rule with memkernel than without.
	Turns, Requests, Violations int
	// Planned are the requests that memkernel planned, Passed those that it did not, by reason.
	Planned int
	Passed  map[string]int
	// Added is how many tokens more the first request holds with memkernel.
	Added int
	// Kills is how often memkernel's processes were killed between turns, Failed how many
	// turns failed.
	Kills, Failed int
	// With and Without are the bills of the same script, in dollars.
	With, Without              float64
	Recall, Restore, Uninstall answered
	Retried                    bool
}

// wanted are the rows of a whole table, in its order; of frameworks, all that have a package.
var wanted = []string{"Claude Code", "Codex", "Gemini CLI", "OpenCode", "OpenClaw", "Pi", "Cline", "Copilot CLI"}

// results are the rows that ran, and what can't be had here.
var results struct {
	sync.Mutex
	rows   []row
	notHad map[string]string
}

func record(t *testing.T, r row) {
	results.Lock()
	defer results.Unlock()
	results.rows = append(results.rows, r)
	t.Logf("%+v", r)
}

// had notes a host that can't be installed: the test that asks is skipped then.
func had(t *testing.T, title string) {
	t.Cleanup(func() {
		if !t.Skipped() {
			return
		}
		results.Lock()
		defer results.Unlock()
		if results.notHad == nil {
			results.notHad = map[string]string{}
		}
		results.notHad[title] = ""
	})
}

func TestMain(m *testing.M) {
	code := m.Run()
	if theBinary.path != "" {
		os.RemoveAll(filepath.Dir(theBinary.path))
	}
	if err := publish(code); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// publish prints the table, and writes it if all rows ran and nothing failed.
func publish(code int) error {
	results.Lock()
	defer results.Unlock()
	if len(results.rows) == 0 {
		return nil
	}
	text := table(results.rows, results.notHad)
	fmt.Print(text)
	path := os.Getenv("MEMKERNEL_E2E_TABLE")
	if path == "" {
		return nil
	}
	if missing := missingRows(); code != 0 || len(missing) > 0 {
		fmt.Printf("%s stays as it is: a test failed, or these rows did not run: %s\n", path, strings.Join(missing, ", "))
		return nil
	}
	return writeTable(path, text)
}

// missingRows are those that neither ran nor can't be had.
func missingRows() (out []string) {
	want := slices.Clone(wanted)
	for _, name := range frameworkNames() {
		want = append(want, frameworkTitles[name])
	}
	for _, title := range want {
		_, skipped := results.notHad[title]
		if !skipped && !slices.ContainsFunc(results.rows, func(r row) bool { return r.Title == title }) {
			out = append(out, title)
		}
	}
	return out
}

const (
	tableBegins = "<!-- e2e:begin, written by make e2e -->\n"
	tableEnds   = "<!-- e2e:end -->\n"
)

// writeTable puts the table between its marks in a page.
func writeTable(path, text string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, begins := bytes.Cut(page, []byte(tableBegins))
	_, after, ends := bytes.Cut(rest, []byte(tableEnds))
	if !begins || !ends {
		return fmt.Errorf("%s: the marks of the table are missing: put %q and %q where it is to stand", path, strings.TrimSpace(tableBegins), strings.TrimSpace(tableEnds))
	}
	return atomicfile.WriteFile(path, slices.Concat(before, []byte(tableBegins), []byte(text), []byte(tableEnds), after), 0o644)
}

// table is the table, what its columns mean, and what holds for all of it.
func table(rows []row, notHad map[string]string) string {
	rows = slices.Clone(rows)
	order := slices.Clone(wanted)
	for _, name := range frameworkNames() {
		order = append(order, frameworkTitles[name])
	}
	slices.SortStableFunc(rows, func(a, b row) int { return slices.Index(order, a.Title) - slices.Index(order, b.Title) })
	var b strings.Builder
	b.WriteString("| host | version, model | by | violations | planned | added | bill without | bill with | | recall seen | restore seen | uninstall clean |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	hosts, frames, turns, requests, violations, failed, kills := 0, 0, 0, 0, 0, 0, 0
	for i := range rows {
		r := &rows[i]
		version, added := r.Version, "–"
		if r.Model != "" {
			version, added = version+", "+r.Model, strconv.Itoa(r.Added)
		}
		if r.Retried {
			version += " (retried)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d of %d | %s | %s | $%.3f | $%.3f | %s | %v | %v | %v |\n", r.Title, version, r.Through, r.Violations, r.Requests, r.planned(), added,
			r.Without, r.With, percent(r.With, r.Without), noted(r.Recall, 0), noted(r.Restore, 1), noted(r.Uninstall, 2))
		if r.Framework {
			frames++
		} else {
			hosts++
		}
		turns, requests, violations, failed, kills = turns+r.Turns, requests+r.Requests, violations+r.Violations, failed+r.Failed, kills+r.Kills
	}
	fmt.Fprintf(&b, "\n%d hosts and %d frameworks ran for real (floors 8 and 4): %d turns, %d requests, of which %d broke a rule of the API (floor 0). memkernel's processes were killed %d times between turns, and %d turns failed (floor 0).", hosts, frames, turns, requests, violations, kills, failed)
	var names []string
	for name := range notHad {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > 0 {
		fmt.Fprintf(&b, " Not to be had where this was run: %s.", strings.Join(names, ", "))
	}
	b.WriteString("\n\n")
	for i, note := range notes {
		if slices.ContainsFunc(rows, func(r row) bool { return [...]answered{r.Recall, r.Restore, r.Uninstall}[i] == none }) {
			fmt.Fprintf(&b, "%s %s\n", noteMarks[i], note)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

var (
	noteMarks = [...]string{"¹", "²", "³"}
	// notes say why a column makes no sense for a row.
	notes = [...]string{
		"Nothing was asked that memory answers.",
		"Nothing is carried over: the session resumes with its whole conversation, or the application keeps the history.",
		"A package; init changes no file for it.",
	}
)

func noted(a answered, note int) string {
	if a == none {
		return a.String() + noteMarks[note]
	}
	return a.String()
}

// planned is how many of the requests were planned, and why the others were not.
func (r *row) planned() string {
	all, why := r.Planned, ""
	for _, reason := range slices.Sorted(maps.Keys(r.Passed)) {
		if n := r.Passed[reason]; n > 0 {
			all, why = all+n, fmt.Sprintf("%s, %s %d", why, reason, n)
		}
	}
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d%s", r.Planned, all, why)
}

// percent is what one bill is more or less than another.
func percent(with, without float64) string {
	if without == 0 {
		return "–"
	}
	p := 100 * (with - without) / without
	return strings.Replace(fmt.Sprintf("%+.1f %%", p), "-", "−", 1)
}

// TestTable: the table is put between its marks and nowhere else, and a page without them
// is left as it is.
func TestTable(t *testing.T) {
	rows := []row{{Title: "Codex", Version: "2", Turns: 3, Requests: 9, With: 0.9, Without: 1, Recall: yes, Restore: no, Uninstall: yes, Retried: true,
		Model: "large-1", Planned: 7, Passed: map[string]int{"deadline": 2, "path": 0}, Added: 340},
		{Title: "Claude Code", Version: "1", Turns: 2, Requests: 4, With: 1.1, Without: 1, Recall: yes, Uninstall: yes}}
	text := table(rows, map[string]string{"Pi": ""})
	for _, want := range []string{"| Codex | 2, large-1 (retried) |", "| 7 of 9, deadline 2 | 340 | $1.000 |", "| −10.0 % | yes | no | yes |", "| +10.0 % | yes | –² | yes |", "² Nothing", "Not to be had where this was run: Pi.", "2 hosts and 0 frameworks", "5 turns, 13 requests, of which 0"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Index(text, "Claude") > strings.Index(text, "Codex") {
		t.Error("the rows are not in order")
	}
	path := filepath.Join(t.TempDir(), "hosts.md")
	put(t, path, "# Hosts\n"+tableBegins+"old\n"+tableEnds+"rest\n")
	if err := writeTable(path, text); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "# Hosts\n"+tableBegins+text+tableEnds+"rest\n" {
		t.Errorf("%v:\n%s", err, got)
	}
	put(t, path, "# Hosts\n")
	if err := writeTable(path, text); err == nil {
		t.Error("a page without marks is written")
	}
	page, err := os.ReadFile("../../doc/hosts.md")
	if err != nil || !strings.Contains(string(page), tableBegins) || !strings.Contains(string(page), tableEnds) {
		t.Errorf("doc/hosts.md has no place for the table: %v", err)
	}
	var all map[string]string
	if err := json.Unmarshal(versionsFile, &all); err != nil {
		t.Error(err)
	}
}
