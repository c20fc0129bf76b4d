package represent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// Texts of each kind, long enough to be shortened.
func sampleTexts() map[string]string {
	var log, code, diff, grep, table, jsonText, prose, listing strings.Builder
	diff.WriteString("diff --git a/store/cache.go b/store/cache.go\nindex 11..22 100644\n--- a/store/cache.go\n+++ b/store/cache.go\n")
	table.WriteString("| name | size | owner |\n|---|---|---|\n")
	jsonText.WriteString(`{"items":[`)
	prose.WriteString("# Migration notes\n\n")
	code.WriteString("     1→package store\n     2→\n")
	for i := range 120 {
		fmt.Fprintf(&log, "2026-01-02T10:%02d:00Z INFO worker %d finished batch\n", i%60, i)
		if i == 60 {
			log.WriteString("2026-01-02T10:59:59Z ERROR cannot open /var/lib/app/index.db: permission denied\n")
			fmt.Fprint(&code, "   999→// ErrStale is returned when the handleEpoch differs.\n")
		}
		fmt.Fprintf(&code, "%6d→func (s *Store) method%d(arg int) error {\n%6d→\tx := arg + 1\n%6d→\treturn s.apply(x)\n%6d→}\n", 4*i+3, i, 4*i+4, 4*i+5, 4*i+6)
		fmt.Fprintf(&diff, "@@ -%d,3 +%d,4 @@ func f%d() {\n unchanged line here\n-\told := %d\n+\tfresh := %d\n", i, i, i, i, i)
		fmt.Fprintf(&grep, "internal/pkg%d/file%d.go:%d:\tcallSite(ctx, value)\n", i%7, i, i)
		fmt.Fprintf(&table, "| row%d | %d | team |\n", i, i*31)
		fmt.Fprintf(&jsonText, `{"identifier":%d,"name":"item_%d","tags":["a","b"],"path":"/srv/data/%d.bin"},`, i, i, i)
		fmt.Fprintf(&prose, "The %dth step moves a table. It takes a while and nothing else happens meanwhile.\n", i)
		fmt.Fprintf(&listing, "./cmd/tool%d/main.go\n", i)
	}
	jsonText.WriteString(`{}]}`)
	return map[string]string{"log": log.String(), "code": code.String(), "diff": diff.String(), "search hits": grep.String(),
		"table": table.String(), "json": jsonText.String(), "prose": prose.String(), "listing": listing.String()}
}

func TestDetectKind(t *testing.T) {
	for want, text := range sampleTexts() {
		k, numbered := detectKind(text)
		if k.String() != want || numbered != (want == "code") {
			t.Errorf("%s: got %s, numbered %v", want, k, numbered)
		}
	}
	for _, text := range []string{"", "\n\n", "one line", "\xff\xfe"} {
		if k, _ := detectKind(text); k != kindProse {
			t.Errorf("%q is %s", text, k)
		}
	}
	for text, want := range map[string]kind{"drwxr-xr-t 2 a b 4096 May 1 bin": kindListing, "-rw-r--r--@ 1 a b 9 May 1 a": kindListing, "\tbrw1 := load(ctx)": kindCode} {
		if k, _ := detectKind(text); k != want {
			t.Errorf("%q is %s", text, k)
		}
	}
}

func evidence(text string) EvidenceInput {
	sum := sha256.Sum256([]byte(text))
	return EvidenceInput{Tool: "Bash", Input: `{"command":"make all"}`, Text: text, PageID: "p_1", Blob: hex.EncodeToString(sum[:]), Resolver: "memkernel get"}
}

func TestEvidenceLevels(t *testing.T) {
	for kind, text := range sampleTexts() {
		t.Run(kind, func(t *testing.T) {
			in := evidence(text)
			reps := Evidence(in)
			var levels []pagevm.Level
			for _, r := range reps {
				levels = append(levels, r.Level)
			}
			if diff := cmp.Diff([]pagevm.Level{pagevm.Compressed, pagevm.Structured, pagevm.Pointer}, levels); diff != "" {
				t.Fatal(diff)
			}
			checkReps(t, text, reps)
			share := float64(len(reps[0].Text)) / float64(len(text))
			// Lines with nothing new in them are left out even if there is room.
			if share < 0.15 || share > 0.40 {
				t.Errorf("compressed to %.2f of the bytes", share)
			}
			if n := strings.Count(reps[1].Text, "\n"); n < 5 || n > 40 {
				t.Errorf("structured has %d lines:\n%s", n, reps[1].Text)
			}
			if !strings.Contains(reps[1].Text, "make all") || !strings.Contains(reps[1].Text, kind) {
				t.Errorf("structured lacks fields:\n%s", reps[1].Text)
			}
		})
	}
}

// fataler is what *testing.T and *rapid.T share.
type fataler interface {
	Helper()
	Errorf(string, ...any)
}

// checkReps holds every representation to its contract: hashes right, each
// smaller than the one above, quoted lines verbatim and in order.
func checkReps(t fataler, text string, reps []pagevm.Rep) {
	t.Helper()
	text = strings.ToValidUTF8(text, "\uFFFD")
	left, level := len(text), pagevm.Full
	for _, r := range reps {
		sum := sha256.Sum256([]byte(r.Text))
		if r.Hash != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: wrong hash", r.Level)
		}
		if len(r.Text) >= left || r.Level >= level || r.Text == "" {
			t.Errorf("%s of %d bytes below %s of %d", r.Level, len(r.Text), level, left)
		}
		left, level = len(r.Text), r.Level
		if !utf8.ValidString(r.Text) {
			t.Errorf("%s is no valid UTF-8: %q", r.Level, r.Text)
		}
		if r.Level == pagevm.Compressed {
			checkQuotes(t, text, r.Text)
		}
	}
}

func checkQuotes(t fataler, text, shown string) {
	t.Helper()
	if i := strings.LastIndex(shown, "\n["); i >= 0 {
		shown = shown[:i] // the footer
	}
	pos := 0
	for line := range strings.SplitSeq(shown, "\n") {
		for i, part := range strings.Split(line, "[…") {
			if i > 0 {
				_, part, _ = strings.Cut(part, "]")
				part = strings.TrimPrefix(part, " ")
			}
			part = strings.TrimSuffix(part, " ")
			n := strings.Index(text[pos:], part)
			if n < 0 {
				t.Errorf("not verbatim or out of order: %q", part)
				return
			}
			pos += n + len(part)
		}
	}
}

func TestEvidenceKeepsWhatMatters(t *testing.T) {
	texts := sampleTexts()
	for _, tc := range []struct {
		kind  string
		level pagevm.Level
		want  []string
	}{
		{"log", pagevm.Compressed, []string{"ERROR cannot open /var/lib/app/index.db: permission denied", "10:00:00Z INFO worker 0 "}},
		{"log", pagevm.Structured, []string{"ERROR cannot open /var/lib/app/index.db: permission denied", "1 error line", "status: ok"}},
		{"diff", pagevm.Compressed, []string{"diff --git a/store/cache.go", "@@ -0,3 +0,4 @@ func f0() {", "+\tfresh := 0"}},
		{"code", pagevm.Compressed, []string{"     1→package store", "   999→// ErrStale is returned when the handleEpoch differs.", "     3→func (s *Store) method0(arg int) error {"}},
		{"table", pagevm.Compressed, []string{"| name | size | owner |"}},
		{"json", pagevm.Compressed, []string{`{"items":[{"identifier":0,"name":"item_0"`}},
		{"prose", pagevm.Structured, []string{"# Migration notes"}},
	} {
		rep := repAt(Evidence(evidence(texts[tc.kind])), tc.level)
		for _, w := range tc.want {
			if !strings.Contains(rep.Text, w) {
				t.Errorf("%s of %s lacks %q:\n%.1500s", tc.level, tc.kind, w, rep.Text)
			}
		}
	}
}

func TestSmallEvidenceHasNone(t *testing.T) {
	for _, text := range []string{"", "ok", "The file /a/b.go has been updated.", "Exit code 1\nno such file"} {
		if reps := Evidence(evidence(text)); len(reps) > 0 {
			t.Errorf("%q: %v", text, reps)
		}
	}
}

func TestStatusFields(t *testing.T) {
	in := evidence("Exit code 2\n" + sampleTexts()["log"])
	in.IsError, in.Masked = true, 3
	got := repAt(Evidence(in), pagevm.Structured).Text
	for _, w := range []string{"status: error, exit code 2, log", "3 masked secrets", "whole: memkernel get p_1", "call: make all", "extract of Bash, page p_1"} {
		if !strings.Contains(got, w) {
			t.Errorf("lacks %q:\n%s", w, got)
		}
	}
	none := -999
	for text, want := range map[string]int{
		"Exit code 127\nx": 127, "Wall time: 1\nProcess exited with code 0\nOutput:": 0, "Exit code -1\nkilled": -1,
		`{"output":"","metadata":{"exit_code":1}}`: 1, "nothing": none, "exit status 2": 2, "exit status unknown": none,
		"Exit code -\n": none, "Exit code: 3221225477": 3221225477,
	} {
		got, ok := exitCode(text)
		if !ok {
			got = none
		}
		if got != want {
			t.Errorf("exitCode(%q) = %d", text, got)
		}
	}
}

func TestPointerAndPreview(t *testing.T) {
	in := evidence(strings.Repeat("héllo ", 1000))
	in.Masked = 1
	ptr := repAt(Evidence(in), pagevm.Pointer).Text
	for _, w := range []string{"p_1", in.Blob[:16], "7000 bytes", "1 masked secret", "read it with memkernel get p_1", "make all"} {
		if !strings.Contains(ptr, w) {
			t.Errorf("pointer lacks %q: %s", w, ptr)
		}
	}
	in = in.valid()
	pre := preview(&in)
	for _, w := range []string{"p_1", in.Blob, "7000 bytes", "read it with memkernel get p_1"} {
		if !strings.Contains(pre, w) {
			t.Errorf("preview lacks %q: %s", w, pre)
		}
	}
	head, _, _ := strings.Cut(pre, "\n")
	if n := utf8.RuneCountInString(head); n != previewRunes || !strings.HasPrefix(in.Text, head) {
		t.Errorf("preview shows %d characters", n)
	}
	in.Resolver = ""
	if p := repAt(Evidence(in), pagevm.Pointer).Text; strings.Contains(p, "read it") || !strings.Contains(p, "not shown") {
		t.Errorf("pointer without a resolver: %s", p)
	}
	in.Text = "short"
	if p := preview(&in); !strings.HasPrefix(p, "short\n[page p_1") {
		t.Errorf("preview of a short result: %s", p)
	}
}

// Any bytes at all: equal input gives equal output, and the contract holds.
func TestEvidenceAnyText(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"\n", "\r\n", "\n\n", " ", "error: ", "func f() {", "@@ -1 +1 @@", "+x", "/usr/lib/a.go:12:", `{"k":`, "}", "→", "é", "\x00", "\xff",
			"   12→", "| a | b |", strings.Repeat("x", 700), strings.Repeat("é,", 300), "[… 3 lines]", "# H\n", "\t", "camelCaseName ", "12345 ", "漢字かな"}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "n")
		text := strings.Join(rapid.SliceOfN(piece, n, n).Draw(t, "pieces"), "")
		in := evidence(text)
		reps := Evidence(in)
		if diff := cmp.Diff(reps, Evidence(in)); diff != "" {
			t.Fatalf("not deterministic: %s", diff)
		}
		if strings.Contains(text, "[…") {
			return // marks in the text itself: quotes can't be distinguished
		}
		checkReps(t, text, reps)
	})
}

func TestHugeEvidence(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < 12<<20; i++ {
		fmt.Fprintf(&b, "line %d of a long build, nothing to see\n", i)
		if i == 150_000 {
			b.WriteString("FATAL: linker ran out of memory in /build/obj/core.o\n")
		}
	}
	reps := Evidence(evidence(b.String()))
	rep := repAt(reps, pagevm.Compressed)
	if rep == nil || len(rep.Text) > 80<<10 || !strings.Contains(rep.Text, "FATAL: linker ran out of memory in /build/obj/core.o") {
		t.Errorf("compressed: %d bytes", len(rep.Text))
	}
	checkReps(t, b.String(), reps)
}

func TestOneHugeLine(t *testing.T) {
	text := `{"image":"` + strings.Repeat("QUJD", 1<<19) + `"}`
	checkReps(t, text, Evidence(evidence(text)))
}

func TestConversation(t *testing.T) {
	at := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
	var us []Utterance
	for i := range 30 {
		us = append(us,
			Utterance{Role: memkernel.RoleUser, Time: at.Add(time.Duration(i) * time.Minute), Text: fmt.Sprintf("Please fix the flaky test number %d in pkg/mod%d/flaky_test.go.\nIt fails at night.", i, i)},
			Utterance{Role: memkernel.RoleAssistant, Time: at.Add(-time.Minute), Text: fmt.Sprintf("I looked at it: waitForPort%d gives up too early.\nI will change the timeout.", i), Tools: []string{"Read", "Bash", "Read"}})
	}
	text := Span("span_7", us)
	full, _ := spanText(us)
	if len(text) >= len(full) {
		t.Errorf("%d bytes of %d", len(text), len(full))
	}
	for _, w := range []string{"span_7", "2026-03-04T09:59:00Z to 2026-03-04T10:29:00Z", "60 messages", "90 tool calls", "gist: Please fix the flaky test number 0", "assistant (Read x2, Bash):"} {
		if !strings.Contains(text, w) {
			t.Errorf("it lacks %q:\n%s", w, text)
		}
	}
	if text := Span("span_7", []Utterance{{Role: memkernel.RoleUser, Text: "go on"}}); text != "" {
		t.Errorf("one short message: %s", text)
	}
	if text := Span("span_7", nil); text != "" {
		t.Errorf("empty span: %s", text)
	}
}

const agents = `# AGENTS.md - The House

This folder is home. It was set up a while ago, and a lot has been written about it since then by everyone.

## Session Startup

Before doing anything else read ` + "`SOUL.md`" + `.
This is who you are, kept without any marker.

### Order

First one, then the other.

## Memory

Each day starts fresh. Files are what remains, they are read at the beginning and written at the end of it.
- **Write it down**: what is not in a file is lost.
- The folder is sorted by date.
You must ask before sending mail.
所有改动必须先说明。
` + "```" + `
# not a heading
- run nothing
` + "```" + `

## 🚫 Red Lines

Private things stay private.

## Appendix

Long talk about nothing in particular that nobody needs to see again at any later time, in any session at all.
More of the same, with yet more words to fill the page until it is long enough to be cut.
`

func TestBootstrap(t *testing.T) {
	reps := Bootstrap("AGENTS.md", agents)
	if len(reps) != 1 || reps[0].Level != pagevm.Structured {
		t.Fatalf("%v", reps)
	}
	checkReps(t, agents, reps)
	got := reps[0].Text
	for _, w := range []string{"extract of AGENTS.md", "# AGENTS.md - The House\n", "## Session Startup\n\nBefore doing anything else read `SOUL.md`.\nThis is who you are, kept without any marker.\n\n### Order\n\nFirst one, then the other.\n",
		"- **Write it down**: what is not in a file is lost.\n", "You must ask before sending mail.\n", "所有改动必须先说明。\n", "## 🚫 Red Lines\n\nPrivate things stay private.\n", "## Appendix\n"} {
		if !strings.Contains(got, w) {
			t.Errorf("lacks %q:\n%s", w, got)
		}
	}
	for _, w := range []string{"Long talk about nothing", "sorted by date", "not a heading"} {
		if strings.Contains(got, w) {
			t.Errorf("keeps %q", w)
		}
	}
	older := strings.NewReplacer("Session Startup", "Every Session", "Red Lines", "Safety").Replace(agents)
	if got := Bootstrap("AGENTS.md", older)[0].Text; !strings.Contains(got, "Private things stay private.") || !strings.Contains(got, "First one, then the other.") {
		t.Errorf("older section names:\n%s", got)
	}
	if reps := Bootstrap("X.md", "- Read this.\n"); len(reps) > 0 {
		t.Errorf("all commands: %v", reps)
	}
}

func TestImperativeLines(t *testing.T) {
	for s, want := range map[string]bool{
		"- Run the tests before you push": true, "1. Check the log": true, "* **Never** do it": true, "- Don't guess": true,
		"- The log is long": false, "Run is a word here": false, "- 禁止直接推送": true, "Das darf man nicht": true, "Ne le faites pas": true,
		"- Prüfe die Ausgabe": true, "Nunca borres nada": true, "- Backups are kept": false, "必ず確認してください": true, "- 測試": false,
	} {
		for l := range eachLine(s) {
			if got := imperative(l) || modal(l.text); got != want {
				t.Errorf("%q: %v", s, got)
			}
		}
	}
}

func TestPreference(t *testing.T) {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "Likes short answers with code first, as said on day %d. Works on build_tools_%d in the evening, mostly.\n", i, i)
	}
	pref := b.String()
	reps := Preference("pref_2", "USER.md:3-17", pref, "memkernel get")
	for _, r := range reps {
		if !strings.Contains(r.Text, "USER.md:3-17") {
			t.Errorf("%s has no provenance: %s", r.Level, r.Text)
		}
	}
	if len(reps) != 3 {
		t.Errorf("preference: %v", reps)
	}
}
