package consolidation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/memkernel/memkernel/consolidation"
)

func curate(t *testing.T, fsys fstest.MapFS, change func(*consolidation.CurateOptions)) *consolidation.Curation {
	t.Helper()
	o := consolidation.CurateOptions{Day: "2026-03-09"}
	if change != nil {
		change(&o)
	}
	s, err := consolidation.Read(t.Context(), fsys, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.Curate(o)
}

func texts(c *consolidation.Curation) []string {
	var out []string
	for i := range c.Entries {
		out = append(out, c.Entries[i].Text)
	}
	return out
}

// A day's entries are chosen by their score, phrased as facts of today, and cite
// where they come from. What memory has is passed over, and so is what nobody marked.
func TestCurate(t *testing.T) {
	fsys := with(map[string]string{
		"memory/quays.md": "# Quays\n\n- The ferry calls at the north quay during winter because the south quay is closed by ice until the end of April.\n",
		"memory/2026-03-09.md": "# 2026-03-09\n\n" +
			"- 09:10 [decision] On 2026-03-09 we decided to keep the nets in the long shed because the short one leaks (09:12).\n" +
			"- 09:20 [lesson] Lesson: the crane only starts after its valve was opened twice.\n" +
			"- 09:30 [decision] Deployments happen on Tuesdays and Thursdays, never on Fridays.\n" +
			"- 09:40 [lesson] The ferry calls at the north quay during winter because the south quay is closed by ice until the end of every April.\n" +
			"- 09:50 The cat was fed, the lamps were cleaned and nothing else happened.\n" +
			"- [ ] [decision] Ask Solveig whether the gates may stay open at night\n" +
			"- [human] ~~The user wants the report in English.~~\n\n" +
			"## Lessons learned\n\n- A rope that was wet must be dried before it is put away.\n- Short one.\n",
	})
	c := curate(t, fsys, nil)
	want := []string{
		"Keep the nets in the long shed because the short one leaks.",
		"The crane only starts after its valve was opened twice.",
		"A rope that was wet must be dried before it is put away.",
	}
	if got := texts(c); !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for _, l := range []string{"## 2026-03-09\n\n- [decision] Keep the nets", "<!-- from memory/2026-03-09.md#L3 -->", "- [lesson] A rope that was wet"} {
		if !strings.Contains(c.Text(), l) {
			t.Errorf("%q is not in\n%s", l, c.Text())
		}
	}
	retired := map[string]bool{consolidation.KeyHash(want[1]): true}
	c = curate(t, fsys, func(o *consolidation.CurateOptions) { o.Retired = func(key string) bool { return retired[key] } })
	if slices.Contains(texts(c), want[1]) {
		t.Error("what was retired came back")
	}
	if c = curate(t, fsys, func(o *consolidation.CurateOptions) { o.Taken = 8 }); len(c.Entries) > 0 || c.Left != 3 || c.Text() != "" {
		t.Errorf("a day that has its eight got %q, %d left", texts(c), c.Left)
	}
	if c = curate(t, healthy(), nil); len(c.Entries) > 0 {
		t.Errorf("a day that came to nothing gave %q", texts(c))
	}
}

// The buffer's decisions and the user's wishes count.
func TestCurateBuffer(t *testing.T) {
	c := curate(t, healthy(), func(o *consolidation.CurateOptions) {
		o.Buffer = "# Working buffer of session main, 2026-03-09\n\n## 2026-03-09T09:12:05Z, turn 12 of session main, 63 % full, message 34\n\n" +
			"- [user] From now on always answer in short sentences, please.\n- [agent] Done.\n- [user] and do I need to remember the pier's key?\n- [decision] The lantern on the mole is lit from dusk on.\n<!-- mk:wb-1 -->\n"
		o.BufferRef = "memory/working-buffer.md@0123"
	})
	got := strings.Join(texts(c), "\n")
	for _, w := range []string{"The lantern on the mole is lit from dusk on.", "always answer in short sentences, please."} {
		if !strings.Contains(got, w) {
			t.Errorf("%q is not in %q", w, got)
		}
	}
	if strings.Contains(got, "pier's key") {
		t.Errorf("a question is an entry: %q", got)
	}
	if !strings.Contains(c.Text(), "<!-- from memory/working-buffer.md@0123 -->") {
		t.Errorf("where it comes from is missing: %s", c.Text())
	}
}

// A decision has its question and all of its answer, however long the question is, and the sentence
// of the answer that was written down too is no second entry. Leave to go on is no entry.
func TestCurateDecisions(t *testing.T) {
	long := strings.Repeat("The old harbour office keeps the books of each pier in a room of its own, and the boats pass the office. ", 3)
	path, log := session("2026-03-09", "a",
		"[decision] "+long+"Where shall the books be? A. In the office at the harbour; B. On the boats, in a chest; C. In the town hall → B, never on land",
		"[decision] The branch is pushed. Shall I merge it? → yes, go ahead")
	log = strings.Replace(log, "\nSession", "\n- [human] B, never on land\n<!-- mk:fl-b -->\n\nSession", 1)
	got := texts(curate(t, logsOf(path, log), nil))
	if len(got) != 1 || !strings.HasSuffix(got[0], "B. On the boats, in a chest → B, never on land") || strings.Contains(got[0], "town hall") {
		t.Errorf("got %q", got)
	}
}

// A report of an hour, and a field that every section of a log has, come after other lines.
func TestReportsComeLast(t *testing.T) {
	var log strings.Builder
	for i := range 4 {
		fmt.Fprintf(&log, "## Offer %d\n\n- Sales model: 5%d gates at `pier-%d` for a year\n\n", i, i, i)
	}
	log.WriteString("## Heartbeat 12:55\n\n- Callback URL: https://harbour.example.org/hook/9\n\n## Hosts\n\n- Database host: orca-main.example.org\n- Mail host: crab.example.org\n- Tide host: eel.example.org\n")
	got := strings.Join(texts(curate(t, logsOf("memory/2026-03-09.md", "# 2026-03-09\n\n"+log.String()), nil)), "\n")
	if !strings.Contains(got, "orca-main") || strings.Contains(got, "Sales model") || strings.Contains(got, "Callback") {
		t.Errorf("got\n%s", got)
	}
}

// A fact that replaces another one of MEMORY.md names it; both stay.
func TestCurateSupersedes(t *testing.T) {
	c := curate(t, with(map[string]string{"memory/2026-03-09.md": "# 2026-03-09\n\n- 10:00 [decision] Postgres runs on port 5433.\n"}), nil)
	if len(c.Entries) != 1 || c.Entries[0].Replaces != "Postgres runs on port 5432." || len(c.Entries[0].Supersedes) == 0 {
		t.Fatalf("%+v", c.Entries)
	}
	if !strings.Contains(c.Text(), "<!-- supersedes k-") {
		t.Error(c.Text())
	}
}

func TestPresent(t *testing.T) {
	for in, want := range map[string]string{
		"On 2026-03-10 we decided to use Redis because of its streams.":                         "Use Redis because of its streams.",
		"On March 10 we decided to keep the log in Postgres because the reports join it.":       "Keep the log in Postgres because the reports join it.",
		"March 10, 2026: we chose Kafka over Redis because it keeps order":                      "Kafka over Redis because it keeps order",
		"I think we should also keep the old index readable":                                    "Keep the old index readable",
		"Am 10. März haben wir es besprochen":                                                   "Am 10. März haben wir es besprochen",
		"Wir haben beschlossen, dass die Lampen bis zum Morgen brennen":                         "Wir haben beschlossen, dass die Lampen bis zum Morgen brennen",
		"Le 10 mars, nous avons décidé d'utiliser Postgres parce que les rapports en dépendent": "Utiliser Postgres parce que les rapports en dépendent",
		"El 10 de marzo decidimos usar Postgres porque los informes lo necesitan":               "Usar Postgres porque los informes lo necesitan",
		"3月10日，我们决定使用 Postgres，因为报表需要它":                                                         "使用 Postgres，因为报表需要它",
		"Can you list them? Keep in mind that the gate closes at noon on Fridays.":              "The gate closes at noon on Fridays.",
		"Bitte merk dir, dass die Tore freitags um zwölf schließen":                             "Bitte merk dir, dass die Tore freitags um zwölf schließen",
		"**Lesson**: never trust the clock of the pier":                                         "Never trust the clock of the pier",
		"Today, the ferry moved to the north quay (14:05)":                                      "The ferry moved to the north quay",
		"`go vet` finds it. commit: abcdef1234":                                                 "`go vet` finds it.",
		"今天决定：数据库改用 5433 端口":                                                                    "数据库改用 5433 端口",
		"iOS builds need the new key":                                                           "iOS builds need the new key",
		"Lesson: ls -1 prints one name per line":                                                "ls -1 prints one name per line",
		"Lesson: git checkout loses what is not committed":                                      "git checkout loses what is not committed",
		"Lesson: make -j2 is enough on that machine":                                            "make -j2 is enough on that machine",
		"Decision: go test ./... runs before every release":                                     "go test ./... runs before every release",
		"Decision: src/main.go stays the only entry point":                                      "src/main.go stays the only entry point",
		"Decision: max_tokens is four thousand from now on":                                     "max_tokens is four thousand from now on",
		"Lesson: find the lamp before it is dark":                                               "Find the lamp before it is dark",
		"Entscheidung: die Lampen brennen bis zum Morgen":                                       "Die Lampen brennen bis zum Morgen",
		"2026-03-10":                 "2026-03-10",
		strings.Repeat("word ", 100): strings.TrimSpace(strings.Repeat("word ", 56))[1:],
	} {
		got := consolidation.Present(in)
		if strings.HasPrefix(in, "word") {
			if len([]rune(got)) > 281 || !strings.HasSuffix(got, "…") {
				t.Errorf("%q is %d characters long", got, len(got))
			}
			continue
		}
		if got != want {
			t.Errorf("Present(%q) is %q, want %q", in, got, want)
		}
	}
}

// A log's lines are read as statements: with their subject, in neighbouring lines if these say one
// thing, with days that a later reader can place, and each thing once.
func TestStatements(t *testing.T) {
	for name, c := range map[string]struct{ log, want, not string }{
		"cause and remedy": {"## Export of the tide tables\n\n- **Cause:** `tideExport` crashed because the feed sends empty rows on Sundays\n- **Fix:** skip rows without a `station`\n",
			"- [lesson] Export of the tide tables: **Cause:** `tideExport` crashed because the feed sends empty rows on Sundays. **Fix:** skip rows without a `station` <!-- from memory/2026-03-09.md#L5-L6 -->", "zzz"},
		"subject":        {"## Harbour camera\n\n### Access\n\n- URL: http://10.4.0.7:8554/north\n", "Harbour camera: URL: http://10.4.0.7:8554/north", "zzz"},
		"neighbours":     {"## Team\n\n- Solveig: accountant in Bergen\n- Torvald: keeper of the `northLight`\n", "Solveig: accountant in Bergen; Torvald: keeper of the `northLight`", "zzz"},
		"day":            {"- Solveig confirmed that the `gate01` lease moved to Bergen today because the office in Oslo closes\n", "moved to Bergen 2026-03-09 because", "today"},
		"vague day":      {"- We decided to move `gate01` next week because the office closes\n", "", "gate01"},
		"heading alone":  {"## Lessons learned\n\n- The new page looks nice with the blue lamp\n- It works now\n", "", "lamp"},
		"fix of the day": {"## Fixes\n\n- Fixed the colour of `lampButton` in `page.tsx`\n- Updated `page.tsx` so the box is wider\n", "", "page.tsx"},
		"request":        {"- Mika asked to check whether the `tideExport` job ran\n- Mika asked that the `tideExport` job never runs on Sundays\n", "never runs on Sundays", "check whether"},
		"copy":           {"## Conversation Summary\n\nassistant: You should always restart `gate01` before the import because it caches keys.\n", "", "gate01"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"memory/2026-03-09.md": "# 2026-03-09\n\n" + c.log, "USER.md": "# User\n\n- Name: Mika\n"}
			got := curate(t, with(files), nil)
			if !strings.Contains(got.Text(), c.want) || strings.Contains(got.Text(), c.not) {
				t.Errorf("%q is wanted, and not %q:\n%s", c.want, c.not, got.Text())
			}
			files["MEMORY.md"] = "+\n" + got.Text()
			if again := curate(t, with(files), func(o *consolidation.CurateOptions) { o.Taken = len(got.Entries) }); len(again.Entries) > 0 {
				t.Errorf("a second run adds\n%s", again.Text())
			}
		})
	}
}
