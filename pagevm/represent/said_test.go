package represent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

func fieldsOf(t *testing.T, reps []pagevm.Rep) *pagevm.Fields {
	t.Helper()
	r := repAt(reps, pagevm.Structured)
	if r == nil {
		t.Fatal("nothing structured")
	}
	return r.Fields
}

func TestEvidenceFields(t *testing.T) {
	log := "Exit code 2\n" + sampleTexts()["log"] + "make: *** [all] Error 2\n"
	in := evidence(log)
	in.Input = `{"timeout":5,"description":"build","command":"make all\n  -j4"}`
	in.IsError, in.Masked, in.Bytes = true, 1, 9000
	f := fieldsOf(t, Evidence(in, nil)).Evidence
	code := 2
	want := &pagevm.EvidenceFields{Page: "p_1", Tool: "Bash", Args: "make all -j4", Status: "error", ExitCode: &code, Kind: "log", Lines: 123, Bytes: 9000,
		PathCount: 1, ErrorCount: 2, Masked: 1, Resolver: "memkernel get",
		First: &pagevm.Quote{Line: 1, Text: "Exit code 2"}, Last: &pagevm.Quote{Line: 123, Text: "make: *** [all] Error 2"},
		Errors: []pagevm.Quote{{Line: 63, Text: "2026-01-02T10:59:59Z ERROR cannot open /var/lib/app/index.db: permission denied"}}}
	if len(f.Telling) == 0 {
		t.Error("no telling lines")
	}
	got := *f
	got.Telling = nil
	if d := cmp.Diff(want, &got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if text := (&pagevm.Fields{Evidence: f}).Text(); !strings.Contains(text, "\n63: 2026-01-02T10:59:59Z ERROR cannot open") || !strings.Contains(text, "\n123: make: ***") {
		t.Errorf("lines without their numbers:\n%s", text)
	}
	lines := strings.Split(log, "\n")
	for _, q := range f.Quotes() {
		if lines[q.Line-1] != q.Text {
			t.Errorf("line %d is %q, quoted as %q", q.Line, lines[q.Line-1], q.Text)
		}
	}
}

// Lines that carry numbers of their own get no others.
func TestNumberedEvidenceFields(t *testing.T) {
	f := fieldsOf(t, Evidence(evidence(sampleTexts()["code"]), nil))
	if text := f.Text(); !f.Evidence.Numbered || !strings.Contains(text, "\n     1→package store\n") || !strings.Contains(text, "\n[…]\n") {
		t.Errorf("%s", text)
	}
}

func TestPartsOfLines(t *testing.T) {
	text := sampleTexts()["json"]
	f := fieldsOf(t, Evidence(evidence(text), nil)).Evidence
	if want := "{items: [121 {identifier: number, name: string, tags: [2 string], path: string}]}"; f.Shape != want {
		t.Errorf("shape is %s", f.Shape)
	}
	for _, q := range f.Quotes() {
		if q.Line != 1 || !strings.HasPrefix(text[q.At:], q.Text) {
			t.Errorf("%q does not stand at %d+%d", q.Text, q.Line, q.At)
		}
	}
}

func TestJSONShape(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a":1,"b":[true,false],"c":null,"d":{"e":{"f":{"g":{}}}}}`, `{a: number, b: [2 bool], c: null, d: {e: {f: {g: {…}}}}}`},
		{`[]`, `[]`}, {`[[[[[[1]]]]]]`, `[1 [1 [1 [1 […]]]]]`}, {`[[1,2],[3]]`, `[2 [2 number]]`}, {`{}`, `{}`}, {`"x"`, `string`}, {` [ "a" , "b" ] `, `[2 string]`},
		{"{\"a\":1}\n{\"a\":2}\n", `{a: number} and more`},
		{`{"a":[1,2,`, `{}`}, {`{"`, `{}`}, {`[`, `[]`}, {``, `?`}, {`{"a" 1}`, `{}`},
	} {
		if got := jsonShape(c.text, 200); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
	wide := "{"
	for i := range 60 {
		wide += fmt.Sprintf(`"key%d":%d,`, i, i)
	}
	if got := jsonShape(wide[:len(wide)-1]+"}", 2000); strings.Count(got, "key") != shapeKeys || !strings.HasSuffix(got, ", …}") {
		t.Errorf("an object of 60 keys: %s", got)
	}
}

func TestShapeOfAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"{", "}", "[", "]", `"`, `"k":`, ",", "1", "\\", "é", " ", "\n", "null"})).Draw(t, "text"), "")
		limit := rapid.IntRange(0, 60).Draw(t, "limit")
		if got := jsonShape(text, limit); len(got) > max(limit, 3) {
			t.Errorf("%d bytes: %s", len(got), got)
		}
	})
}

func TestBootstrapFields(t *testing.T) {
	f := fieldsOf(t, Bootstrap("AGENTS.md", agents)).Bootstrap
	want := []pagevm.Outline{
		{Heading: "# AGENTS.md - The House", Left: 1},
		{Heading: "## Session Startup", Role: pagevm.RoleStartup, Whole: "\nBefore doing anything else read `SOUL.md`.\nThis is who you are, kept without any marker.\n\n### Order\n\nFirst one, then the other.\n\n"},
		{Heading: "## Memory", Commands: []string{"- **Write it down**: what is not in a file is lost.", "You must ask before sending mail.", "所有改动必须先说明。"}, Left: 6},
		{Heading: "## 🚫 Red Lines", Role: pagevm.RoleRedLines, Whole: "\nPrivate things stay private.\n\n"},
		{Heading: "## Appendix", Left: 2},
	}
	if d := cmp.Diff(want, f.Sections); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestPlanFields(t *testing.T) {
	plan := `# Release plan
Goal: ship version 2 of the importer
Step: 3 of 7, write the migration
Background that was written when the plan was made and that matters little now.
More background that was written when the plan was made and that matters little.

## Done
- read the schema
- wrote the tests

## Next
- update the docs

## Rules
- Never push to main
- The schema is old
- [x] first
- [x] second
- [ ] tag the release
`
	want := &pagevm.PlanFields{Goal: []string{"Goal: ship version 2 of the importer"}, Step: []string{"Step: 3 of 7, write the migration"},
		Done: []string{"- wrote the tests", "- [x] first", "- [x] second"}, DoneLeft: 1,
		Next:  []string{"- update the docs", "- [ ] tag the release"},
		Rules: []string{"# Release plan", "## Rules", "- Never push to main"}, Left: 3}
	f := fieldsOf(t, Plan("plan_1", plan, ""))
	if d := cmp.Diff(want, f.Plan); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if got := f.Text(); !strings.HasPrefix(got, "Goal: ship version 2 of the importer\nStep: 3 of 7, write the migration\n") || !strings.Contains(got, "[… 1 more done]\n- update") {
		t.Errorf("%s", got)
	}
}

func TestConversationFields(t *testing.T) {
	at := time.Date(2026, 3, 4, 10, 0, 0, 0, time.FixedZone("", 3600))
	in := SpanInput{PageID: "span_7", Resolver: "memkernel get"}
	for i := range 30 {
		in.Utterances = append(in.Utterances,
			Utterance{Role: memkernel.RoleUser, Time: at.Add(time.Duration(i) * time.Minute), Text: fmt.Sprintf("Please fix flaky test %d in pkg/mod%d/flaky_test.go.\nIt fails at night.", i, i)},
			Utterance{Role: memkernel.RoleAssistant, Text: fmt.Sprintf("I looked at it: waitForPort%d gives up too early.\nI will change the timeout.", i), Tools: []string{"Read", "Read"}})
	}
	f := fieldsOf(t, Conversation(in, nil)).Conversation
	if f.Span != "span_7" || !f.From.Equal(at) || !f.To.Equal(at.Add(29*time.Minute)) || f.From.Location() != time.UTC || f.Messages != 60 || f.Calls != 60 ||
		f.Gist != "Please fix flaky test 0 in pkg/mod0/flaky_test.go." || len(f.Entities) == 0 {
		t.Errorf("%+v", f)
	}
	full := strings.Split(spanText(in.Utterances), "\n")
	n := 0
	for _, s := range f.Said {
		if s.Who != "user" && s.Who != "assistant (Read x2)" {
			t.Errorf("said by %q", s.Who)
		}
		for _, q := range s.Lines {
			n++
			if full[q.Line-1] != q.Text {
				t.Errorf("line %d is %q, quoted as %q", q.Line, full[q.Line-1], q.Text)
			}
		}
	}
	if n == 0 || n > 14 {
		t.Errorf("%d lines are quoted", n)
	}
}

// Any Markdown at all, any bytes: the fields hold what the text does.
func TestFieldsOfAnyText(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"\n", "\r\n", "# H\n", "## Session Startup\n", "### Red Lines\n", "- Run it\n", "1. [ ] open\n", "- [x] done\n", "Goal: x\n", "## Next\n",
			"You must not.\n", "```\n", "plain words that say little\n", "\xff", "\u2028", "<&>", "用户必须\n", "word_one /a/b.c "}),
		rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "pieces"), "")
		for _, reps := range [][]pagevm.Rep{Bootstrap("A.md", text), Constraint(text), Plan("p", text, "get"),
			Preference("p", "USER.md:1", text, "get", nil),
			Conversation(SpanInput{PageID: "s", Utterances: []Utterance{{Role: memkernel.RoleUser, Text: text}, {Role: memkernel.RoleAssistant, Text: text}}}, nil)} {
			for i := range reps {
				checkFields(t, &reps[i])
			}
		}
	})
}
