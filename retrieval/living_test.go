package retrieval

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
)

// file is a file of a small workspace, as one chunk.
type file struct{ path, text, over string }

// search asks a workspace of notes. A daily log has the date of its name.
func searchNotes(question string, notes ...file) []Hit {
	return askNotes(Query{Text: question, Passages: true}, notes...).Hits
}

func askNotes(q Query, notes ...file) Result {
	var hits []index.Hit
	for i, n := range notes {
		h := hit(fmt.Sprint(i), n.path, 1, .6-float64(i)/100, n.text)
		if stem := strings.TrimSuffix(path.Base(n.path), ".md"); len(stem) >= 10 && strings.Count(stem[:10], "-") == 2 {
			h.Date = stem[:10]
			h.ModTime, _ = time.Parse(time.DateOnly, h.Date)
		}
		h.Over = n.over
		hits = append(hits, h)
	}
	a := analyzers.Lend()
	ix := &fakeIndex{hits: index.Hits{Chunks: int64(len(hits)), Keyword: ranked(hits...), Terms: a.Query(q.Text, nil)}}
	return ask(ix, Options{Lambda: 1, HalfLife: -1}, q)
}

// says finds the hit whose own lines hold a text.
func says(hits []Hit, text string) int {
	for i, h := range hits {
		if strings.Contains(h.Text, text) {
			return i
		}
	}
	return -1
}

// A newer statement on the same subject comes first, and the older one is shown with the place of
// the newer one.
func TestNewerStatementComesFirst(t *testing.T) {
	for _, c := range []struct{ old, now, question string }{
		{"- The chairperson of Fatah is Mahmoud Abbas.", "- The chairperson of Fatah is Moshe Kahlon.", "Who is the chairperson of Fatah?"},
		{"- Thomas Kyd was born in the city of London.", "- Thomas Kyd was born in the city of Leeds.", "In which city was Thomas Kyd born?"},
		{"- The author of Endymion is John Keats.", "- The author of Endymion is T. S. Eliot.", "author of Endymion"},
		{"- Anna Weber's manager is Otto.", "- Anna Weber's manager is Ruth.", "Anna Weber's manager"},
		{"- The deploy port of the ferry is 5432", "- The deploy port of the ferry is now 6000", "deploy port ferry 5432"},
		{"- Ferry port: 5432", "- Ferry port: 6000", "ferry port"},
		{"## Postgres\n\n- port: 5432", "## Postgres\n\n- port: 6000", "postgres port"},
		{"- The harbour office opens at 8:00.", "- The harbour office opens at 9:30.", "when does the harbour office open"},
		{"- Mika Salo lives in Turku.", "- Mika Salo moved to Tampere.", "where does Mika Salo live"},
		{"- The ticket service uses MySQL.", "- The ticket service switched to Postgres.", "ticket service database MySQL"},
		{"- The harbour has a crane", "- The harbour no longer has a crane", "harbour crane"},
		{"- The default branch of the ferry repository is main.", "- The default branch of the ferry repository is trunk.", "default branch ferry repository"},
		{"- [human] by the way our production database is called orca-main.", "- [human] our production database is now called heron-main.", "our production database"},
		{"- [human] the ferry server listens on port 8443.", "- [human] no, the ferry server listens on port 9443", "ferry server port"},
		{"- Der Port der Fähre ist 5432.", "- Der Port der Fähre ist 6000.", "Port der Fähre"},
		{"- El director del puerto es Pedro Ruiz.", "- El director del puerto es Juan Gil.", "director del puerto"},
		{"- 渡轮数据库的端口是 5432", "- 渡轮数据库的端口是 6000", "渡轮数据库的端口"},
	} {
		check := func(where string, got []Hit, by string) {
			t.Helper()
			old, now := says(got, strings.TrimPrefix(c.old[strings.LastIndex(c.old, "\n")+1:], "- ")), says(got, strings.TrimPrefix(c.now[strings.LastIndex(c.now, "\n")+1:], "- "))
			if old < 0 || now < 0 || now > old || got[now].SupersededBy != "" || !strings.HasPrefix(got[old].SupersededBy, by) {
				t.Errorf("%s, %q: %+v", where, c.now, got)
			}
		}
		check("days", searchNotes(c.question, file{path: "memory/2026-01-01.md", text: "# 2026-01-01\n\n" + c.old}, file{path: "memory/2026-01-02.md", text: "# 2026-01-02\n\n" + c.now}), "memory/2026-01-02.md#L")
		if !strings.Contains(c.old, "#") {
			check("one file", searchNotes(c.question, file{path: "memory/facts.md", text: "# Facts\n\n" + c.old + "\n- The quay is long.\n" + c.now}), "memory/facts.md#L5")
		}
	}
}

// Of three statements the newest is named by both others, and one that says the same as the
// newest is not marked.
func TestNewestOfSeveral(t *testing.T) {
	day := func(n int, value string) file {
		return file{path: fmt.Sprintf("memory/2026-01-0%d.md", n), text: "- The deploy port of the ferry is " + value + "."}
	}
	got := searchNotes("deploy port ferry", day(1, "5432"), day(2, "6000"), day(3, "7000"), day(4, "6000"))
	for _, h := range got {
		if want := map[bool]string{true: "", false: "memory/2026-01-04.md#L1"}[strings.Contains(h.Text, "6000")]; h.SupersededBy != want {
			t.Errorf("%q is superseded by %q, want %q", h.Text, h.SupersededBy, want)
		}
	}
	if !strings.Contains(got[0].Text, "6000") {
		t.Errorf("%q comes first", got[0].Text)
	}
}

// The newer statement is among the hits wherever the older one is.
func TestNewerIsBroughtIn(t *testing.T) {
	notes := []file{{path: "memory/2026-01-01.md", text: "- The deploy port of the ferry is 5432."}}
	for i := range 20 {
		notes = append(notes, file{path: fmt.Sprintf("memory/2026-02-%02d.md", i+1), text: fmt.Sprintf("- Port %d: the ferry needs 5432 litres to deploy.", i)})
	}
	notes = append(notes, file{path: "memory/2026-03-01.md", text: "- The deploy port of the ferry is now 6000."})
	got := searchNotes("is the deploy port of the ferry 5432", notes...)
	if got[0].Path != "memory/2026-03-01.md" {
		t.Errorf("%s comes first", got[0].Citation)
	}
}

// Statements that hold at the same time are left alone, as are lines of templates and events.
func TestBothHold(t *testing.T) {
	for _, c := range [][2]string{
		{"- Mika likes jazz", "- Mika likes tea"},
		{"- parser.go imports fmt", "- parser.go imports os"},
		{"- Mika Salo is tall.", "- Mika Salo is a doctor."},
		{"- The API server is fast.", "- The API server is Nginx."},
		{"- The app runs on iOS.", "- The app runs on Android."},
		{"- Meeting with Anna", "- Meeting with Otto"},
		{"- Fixed 3 tests of the parser", "- Fixed 5 tests of the parser"},
		{"- Deployed v1.2 to production", "- Deployed v1.3 to production"},
		{"- Deploy port:", "- Deploy port: 5432"},
		{"- [ ] The deploy port of the ferry is 5432", "- [ ] The deploy port of the ferry is 6000"},
		{"- The staging port of the ferry is 5432.", "- The production port of the ferry is 6000."},
		{"- The ferry of Turku is hosted in staging.", "- The ferry of Turku is hosted in production."},
		{"- Is the deploy port of the ferry 5432?", "- The deploy port of the ferry is which?"},
		{"| ferry port | 5432 |\n|---|---|", "| ferry port | 6000 |\n|---|---|"},
		{"```\nferry_port: 5432\n```", "```\nferry_port: 6000\n```"},
		{"- Anna Weber's child is Otto.", "- Anna Weber's child is also Ruth."},
		{"- The meeting with Acme is at 10:00.", "- The meeting with Acme is at 14:00."},
		{"- Files changed: 5", "- Files changed: 7"},
		{"- If the port of the ferry is 5432, restart it.", "- If the port of the ferry is 6000, wait."},
		{"## Postgres\n\n- The default port is 5432", "## Redis\n\n- The default port is 6379"},
		{"## Soup\n\n- serves: 4\n- time: 20 minutes", "## Soup\n\n- serves: 6\n- time: 30 minutes"},
		{"- Anna: I live in Turku.", "- Otto: I live in Tampere."},
	} {
		for _, files := range [][]file{
			{{path: "memory/2026-01-01.md", text: c[0]}, {path: "memory/2026-01-02.md", text: c[1]}},
			{{path: "memory/list.md", text: "# List\n\n" + c[0] + "\n" + c[1]}},
		} {
			for _, h := range searchNotes(c[0]+" "+c[1], files...) {
				if h.SupersededBy != "" {
					t.Errorf("%s: %q is superseded by %s", h.Path, h.Text, h.SupersededBy)
				}
			}
		}
	}
	two := searchNotes("how many does it serve", file{path: "recipes/soup.md", text: "# Soup\n\nserves: 4"}, file{path: "recipes/stew.md", text: "# Stew\n\nserves: 6"})
	if two[0].SupersededBy+two[1].SupersededBy != "" {
		t.Errorf("two recipes: %+v", two)
	}
}

// Archived and finished files come after living ones that hold as much, and are found where
// nothing living holds as much.
func TestLivingFileComesFirst(t *testing.T) {
	const text = "- the ferry ties up at the north quay"
	for _, dead := range []file{
		{path: "memory/archive/a.md"}, {path: "Archives/a.md"}, {path: "notes/_Old/a.md"}, {path: "04 Archive/a.md"}, {path: ".trash/a.md"}, {path: "done/a.md"}, {path: "deprecated/a.md"},
		{path: "memory/a.md", over: "done"}, {path: "memory/a.md", over: "superseded"}, {path: "memory/a.md", over: "memory/z.md"},
	} {
		dead.text = text
		got := searchNotes("ferry north quay", dead, file{path: "memory/z.md", text: "- the ferry ties up at a north quay"})
		if len(got) != 2 || got[0].Path != "memory/z.md" {
			t.Errorf("%+v: %+v", dead, got)
			continue
		}
		if by := map[string]string{"superseded": got[1].Citation, "memory/z.md": "memory/z.md"}[dead.over]; got[1].SupersededBy != by {
			t.Errorf("%+v is superseded by %q", dead, got[1].SupersededBy)
		}
		got = searchNotes("ferry north quay", dead, file{path: "memory/z.md", text: "- the ferry is blue"})
		if got[0].Path != dead.path {
			t.Errorf("%+v does not come first", dead)
		}
	}
	got := searchNotes("ferry quay", file{path: "memory/threshold.md", text: text}, file{path: "memory/z.md", text: "- the quay and the ferry"})
	if got[0].Path != "memory/threshold.md" && got[0].Parts.Keyword < got[1].Parts.Keyword {
		t.Errorf("a name that only holds old: %+v", got)
	}
}

// A line of a list of contents has the words of a note's title, and comes after the note.
func TestContentsComeAfterTheNote(t *testing.T) {
	for _, line := range []string{"- [Moor the ferry at the north quay](harbour/moor.md)", "* [Moor the ferry at the north quay](https://example.com/blob/main/harbour/moor.md) - 2026-02-01", "- [[Moor the ferry at the north quay]]"} {
		got := searchNotes("moor ferry north quay", file{path: "README.md", text: line}, file{path: "harbour/moor.md", text: "At the north quay a ferry can moor until six."})
		if len(got) != 2 || got[0].Path != "harbour/moor.md" {
			t.Errorf("%q: %+v", line, got)
		}
	}
	got := searchNotes("moor ferry north quay", file{path: "README.md", text: "- [Moor the ferry](moor.md) at the north quay"}, file{path: "harbour/moor.md", text: "At the north quay a ferry can moor until six."})
	if got[0].Path != "README.md" {
		t.Errorf("an item that says something: %+v", got)
	}
}

// A spelling like that of an identifier does not put passages first if many hold it.
func TestUsualSpelling(t *testing.T) {
	const question = "resize pictures for GitHub"
	notes := []file{{path: "z.md", text: "Resize the pictures before the upload."}}
	if got := searchNotes(question, append(notes, file{path: "a.md", text: "GitHub is down."})...); got[0].Path != "a.md" {
		t.Errorf("of two notes the one with the identifier is not first: %+v", got[0])
	}
	for i := range 2 * usualMark {
		notes = append(notes, file{path: fmt.Sprintf("a%d.md", i), text: fmt.Sprintf("GitHub closed door %d.", i)})
	}
	if got := searchNotes(question, notes...); got[0].Path != "z.md" {
		t.Errorf("%+v", got[0])
	}
}

// A prompt gets nothing of a file that says that it no longer holds, unless the past is asked for.
func TestPromptGetsWhatHolds(t *testing.T) {
	const text = "- the ferry ties up at the north quay"
	for over, want := range map[string]int{"": 2, "done": 2, "superseded": 1, "memory/z.md": 1} {
		notes := []file{{"memory/a.md", text, over}, {"memory/z.md", "- the ferry ties up at a north quay", ""}}
		if got := askNotes(Query{Text: "ferry north quay", Passages: true, Prompt: true}, notes...); len(got.Hits) != want || got.Hits[0].Path != "memory/z.md" && want == 1 {
			t.Errorf("%q: %+v", over, got.Hits)
		}
		if got := askNotes(Query{Text: "where was the ferry's north quay before", Passages: true, Prompt: true}, notes...); len(got.Hits) != 2 {
			t.Errorf("%q, asked for the past: %+v", over, got.Hits)
		}
	}
	got := askNotes(Query{Text: "ferry north quay", Passages: true, Prompt: true}, file{"memory/a.md", text, "superseded"})
	if len(got.Hits) != 0 || !strings.Contains(got.Detail, "no longer hold") {
		t.Errorf("%q: %+v", got.Detail, got.Hits)
	}
}

// A question about the past finds the old statement first, still marked.
func TestPastIsAskedFor(t *testing.T) {
	old, now := file{path: "memory/2026-01-01.md", text: "- The deploy port of the ferry is 5432."}, file{path: "memory/2026-02-02.md", text: "- The deploy port of the ferry is 6000."}
	for _, question := range []string{
		"what was the deploy port of the ferry before", "what did the deploy port of the ferry use to be originally", "the original deploy port of the ferry", "deploy port of the ferry on 2026-01-01",
		"deploy port of the ferry in January 2026", "Was war früher der deploy port der ferry", "cuál era antes el deploy port de ferry", "以前 ferry 的 deploy port",
	} {
		got := searchNotes(question, old, now)
		if got[0].Path != old.path || got[0].SupersededBy != "memory/2026-02-02.md#L1" {
			t.Errorf("%q: %+v", question, got)
		}
	}
	for _, question := range []string{"what is the deploy port of the ferry", "which deploy port was the ferry given", "deploy port of the ferry today"} {
		if got := searchNotes(question, old, now); got[0].Path != now.path {
			t.Errorf("%q: %+v", question, got)
		}
	}
}
