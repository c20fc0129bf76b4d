package markdownstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"
)

// fragments are what the random documents are made of: what Markdown is built
// of, and what breaks it.
var fragments = []string{
	"# One\n", "## Two\n", "### Three ###\n", "#\n", "#### **Four**\n", "####### seven\n", "Title\n===\n", "Sub\n---\n", "---\n",
	"text of a paragraph that goes on for a while\n", "and on\n", "\n", "\n\n", "  \n", "\t\n", "- item one\n", "  - nested: deep\n",
	"1. first\n", "2) second\n", "- Ann: hello there\n", "Bob: hi\n", "**Decision**: use it\n", "```\n", "```go\nfunc main() {}\n# no heading\n```\n",
	"~~~~\n", "    indented code\n", "> quote\n", "> # quoted\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "<!-- comment -->\n", "<!-- open\n",
	"-->\n", "<pre>\n", "</PRE>\n", "<!-- mk:abc -->\n", "中文的句子。很长！真的吗？\n", "é\r\n", "\r", "\xff\xfe\n", "no line end", "***\n", "* * *\n",
	"+++\n", "key: value\n", "a: [1, {b: .nan, 1: x}]\n", "---yaml\n", ";;;\n", "{\"a\": 1}\n", "\xef\xbb\xbf", "\x00", "- [x] done: yes\n", "````\n",
}

func genDocument(t *rapid.T) string {
	var b strings.Builder
	for _, f := range rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 60).Draw(t, "fragments") {
		b.WriteString(strings.Repeat(f, rapid.SampledFrom([]int{1, 1, 1, 1, 2, 30}).Draw(t, "times")))
	}
	return b.String()
}

func TestChunksCoverAnyDocument(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := &Chunking{Tokens: rapid.SampledFrom([]int{16, 50, 400}).Draw(rt, "tokens"), Overlap: rapid.SampledFrom([]int{-1, 0, 5, 80}).Draw(rt, "overlap")}
		data := genDocument(rt)
		chunks := checkDocument(t, "memory/x.md", data, c)
		if again := chunksOf(Parse("memory/x.md", data), c); !cmp.Equal(chunks, again, cmp.AllowUnexported(chunk{})) {
			t.Fatal("not deterministic")
		}
	})
}

func FuzzChunks(f *testing.F) {
	for _, s := range fragments {
		f.Add(s + fragments[0] + s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		checkDocument(t, "memory/2026-01-02.md", data, &Chunking{Tokens: 20, Overlap: 6})
	})
}

const sample = `# Log

## Morning

- Ann: first thing
- Ann: second thing

## Noon
` + "```sh\n# not a heading\nls\n```\n" + `
Noon text.

### Deep

Deep text.

## Evening

Evening text.
`

func TestTrails(t *testing.T) {
	d := Parse("memory/2026-01-02.md", sample)
	type row struct {
		lines string
		trail []string
	}
	tests := []struct {
		tokens int
		want   []row
	}{
		{400, []row{{"1-22", []string{"Log"}}}},
		{16, []row{
			{"1-7", []string{"Log", "Morning"}},
			{"8-15", []string{"Log", "Noon"}},
			{"16-19", []string{"Log", "Noon", "Deep"}},
			{"20-22", []string{"Log", "Evening"}},
		}},
	}
	for _, tt := range tests {
		var got []row
		for _, c := range chunksOf(d, &Chunking{Tokens: tt.tokens, Overlap: -1}) {
			got = append(got, row{fmt.Sprint(c.StartLine, "-", c.EndLine), c.Trail})
			if c.Date != "2026-01-02" {
				t.Errorf("date %q", c.Date)
			}
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(row{})); diff != "" {
			t.Errorf("%d tokens (-want +got):\n%s", tt.tokens, diff)
		}
	}
}

func TestUnits(t *testing.T) {
	text := "Intro line\nstill intro\n\n- Ann: hi\n  more\n- plain item\n    - nested\n\n      para of nested\n\nAfter.\n" +
		"User: q\nAssistant: a\n\n> quote\n> # no\n\n| a |\n|---|\n\nSet\next\n---\n***\n    code after rule\n\n    more code\n\n<!-- mk:e-1 -->\n<!--\n# no\n-->\n~~~\n# no\n"
	want := []string{
		"paragraph 1-3", "turn 4-5 Ann", "item 6-6", "item 7-10", "paragraph 11-11", "turn 12-12 User", "turn 13-14 Assistant",
		"quote 15-17", "table 18-20", "heading2 21-23 Set ext", "rule 24-24", "code 25-28", "marker 29-29 e-1", "html 30-32", "code 33-34",
	}
	// "After." runs on into the turns only by Markdown's book: a paragraph that
	// began without a label stays one.
	want = slices.Concat(want[:4], []string{"paragraph 11-14"}, want[7:])
	var got []string
	for _, u := range Units(Parse("memory/a.md", text)) {
		s := string(u.Kind)
		if u.Level > 0 {
			s += fmt.Sprint(u.Level)
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d-%d %s", s, u.StartLine, u.EndLine, u.Label)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLabels(t *testing.T) {
	for text, want := range map[string]string{
		"Ann: hi":                     "Ann",
		"**Decision**: x":             "Decision",
		"**Decision:** x":             "Decision",
		"[x] Bob Smith: done":         "Bob Smith",
		"核心特点：记忆":                     "核心特点",
		"see https://example.org":     "",
		"https://example.org":         "",
		"14:05 meeting":               "",
		"a, b: c":                     "",
		"This is a long sentence so:": "",
		"":                            "",
		"****":                        "",
		":":                           "",
		"Ann:":                        "Ann",
	} {
		if got := labelOf(text); got != want {
			t.Errorf("labelOf(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestFencesStayWhole(t *testing.T) {
	fence := "```go\n" + strings.Repeat("x := compute(1, 2, 3)\n", 90) + "```\n" // 500 tokens
	text := "# H\n\n" + strings.Repeat("A line of prose, of some length.\n\n", 30) + fence + strings.Repeat("More prose to follow it, again.\n\n", 30)
	for _, c := range checkDocument(t, "memory/a.md", text, nil) {
		if strings.Count(c.Text, "```")%2 != 0 {
			t.Errorf("a fence was cut: lines %d-%d", c.StartLine, c.EndLine)
		}
	}
	large := "# H\n\n" + strings.Replace(fence, "x :=", strings.Repeat("y, ", 30)+"x :=", -1)
	for i, c := range checkDocument(t, "memory/a.md", large, nil) {
		if c.Tokens > defaultChunkTokens {
			t.Errorf("chunk %d of a large fence has %d tokens", i, c.Tokens)
		}
	}
}

// What is in one section keeps its ids when another section changes, and
// wherever it moves.
func TestIDsSurviveEditsElsewhere(t *testing.T) {
	section := func(name string, n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "## %s\n\n", name)
		for i := range n {
			fmt.Fprintf(&b, "- In %s the line %d says something of its own.\n", name, i)
		}
		return b.String() + "\n"
	}
	parts := []string{section("Alpha", 60), section("Beta", 60), section("Gamma", 60)}
	ids := func(s string) map[string]bool {
		m := map[string]bool{}
		for _, c := range chunksOf(Parse("memory/a.md", s), nil) {
			if len(c.Trail) == 2 && c.Trail[1] != "Alpha" {
				m[c.ID] = true
			}
		}
		return m
	}
	before := ids("# T\n\n" + parts[0] + parts[1] + parts[2])
	if len(before) < 4 {
		t.Fatalf("only %d chunks", len(before))
	}
	edited := strings.Replace(parts[0], "line 3", "line three, now with a good deal more to say,", 1)
	if after := ids("# T\n\nNew intro, two words.\n\n" + edited + parts[1] + parts[2]); !cmp.Equal(before, after) {
		t.Error("an edit in one section changed the ids of others")
	}
	if after := ids("# T\n\n" + parts[0] + parts[2] + parts[1]); !cmp.Equal(before, after) {
		t.Error("moving sections changed ids")
	}
}

func TestLongLinesAreCutBetweenRunes(t *testing.T) {
	for name, s := range map[string]string{
		"ascii":    strings.Repeat("word and word. ", 4000),
		"no space": strings.Repeat("x", 50000),
		"chinese":  strings.Repeat("这是一个很长的句子，没有换行。", 2000),
		"emoji":    strings.Repeat("👩‍👩‍👧", 3000),
		"invalid":  strings.Repeat("\xff\x80\x80", 9000),
		"cr only":  strings.Repeat("old mac line\r", 3000),
	} {
		t.Run(name, func(t *testing.T) {
			for i, c := range checkDocument(t, "memory/a.md", "# H\n\n"+s+"\ntail\n", nil) {
				if c.Tokens > defaultChunkTokens*5/4 {
					t.Errorf("chunk %d has %d tokens", i, c.Tokens)
				}
			}
		})
	}
}

func TestManyHeadingsAlone(t *testing.T) {
	text := strings.Repeat("# A heading of some words\n", 3000) + strings.Repeat("## B\n### C\n", 2000)
	for i, c := range checkDocument(t, "memory/a.md", text, nil) {
		if c.Tokens > 2*defaultChunkTokens {
			t.Fatalf("chunk %d has %d tokens", i, c.Tokens)
		}
	}
}

// sharedFiles gives the Markdown files of the evaluation data, if they are
// there.
func sharedFiles(t testing.TB, sub string) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..", "shared", "data", sub)
	out := map[string]string{}
	filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasSuffix(p, ".md") {
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			out[p] = string(b)
		}
		return nil
	})
	if len(out) == 0 {
		t.Skipf("no evaluation data in %s", root)
	}
	return out
}

func TestChunksOfRealFiles(t *testing.T) {
	for _, sub := range []string{"workspaces", "retrieval"} {
		t.Run(sub, func(t *testing.T) {
			n, tokens, overlap, large := 0, 0, 0, 0
			for p, data := range sharedFiles(t, sub) {
				for _, c := range checkDocument(t, p, data, nil) {
					n++
					tokens += c.Tokens
					overlap += countTokens(c.Text[:c.overlap])
					if c.Tokens > defaultChunkTokens*9/8 {
						large++
					}
				}
			}
			t.Logf("%d chunks, %d tokens on average, %d of overlap, %d above the size", n, tokens/n, overlap/n, large)
			if tokens/n < defaultChunkTokens/3 {
				t.Errorf("chunks are small: %d tokens", tokens/n)
			}
		})
	}
}

// The questions' evidence is cited by line: the chunks must hold those lines.
func TestEvidenceLinesAreInChunks(t *testing.T) {
	root := filepath.Join("..", "..", "shared", "data", "retrieval", "locomo-26")
	b, err := os.ReadFile(filepath.Join(root, "qa.jsonl"))
	if err != nil {
		t.Skipf("no evaluation data: %v", err)
	}
	n := 0
	for line := range bytes.Lines(b) {
		var q struct {
			Evidence []struct {
				File string
				Line int
			}
		}
		if err := json.Unmarshal(line, &q); err != nil {
			t.Fatal(err)
		}
		for _, e := range q.Evidence {
			data, err := os.ReadFile(filepath.Join(root, e.File))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(string(data), "\n")[e.Line-1]
			d := Parse(e.File, string(data))
			chunks := chunksOf(d, nil)
			found := slices.ContainsFunc(Units(d), func(u Unit) bool {
				return u.Kind == UnitTurn && u.StartLine == e.Line && strings.TrimRight(d.Raw[u.Start:u.End], "\n") == want &&
					slices.ContainsFunc(chunks, func(c chunk) bool { return c.start <= u.Start && u.End <= c.end })
			})
			if n++; !found {
				t.Errorf("%s:%d is no turn of a chunk", e.File, e.Line)
			}
		}
	}
	t.Logf("%d citations", n)
}

// The sections of real files are those that a full Markdown parser sees.
func TestHeadingsAsGoldmark(t *testing.T) {
	for _, sub := range []string{"workspaces", "retrieval"} {
		total, differ := 0, 0
		for p, data := range sharedFiles(t, sub) {
			d := Parse(p, data)
			want, got := goldmarkHeadings(d.Body), ourHeadings(d)
			total += len(want)
			if diff := cmp.Diff(want, got); diff != "" {
				differ++
				t.Logf("%s: %d headings, %d by goldmark", filepath.Base(p), len(got), len(want))
			}
		}
		t.Logf("%s: %d headings, %d files differ", sub, total, differ)
		if differ > 0 {
			t.Errorf("%s: %d files differ", sub, differ)
		}
	}
}

func goldmarkHeadings(body string) []string {
	src := []byte(body)
	out := []string{}
	root := goldmark.DefaultParser().Parse(text.NewReader(src))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			var b strings.Builder
			for i := range h.Lines().Len() {
				seg := h.Lines().At(i)
				b.Write(seg.Value(src))
				b.WriteByte(' ')
			}
			out = append(out, fmt.Sprint(h.Level, " ", clip(strings.Join(strings.Fields(b.String()), " "), maxHeading)))
		}
	}
	return out
}

func ourHeadings(d Document) []string {
	out := []string{}
	for _, u := range Units(d) {
		if u.Kind == UnitHeading {
			out = append(out, fmt.Sprint(u.Level, " ", strings.Join(strings.Fields(u.Label), " ")))
		}
	}
	return out
}

func TestChunkingName(t *testing.T) {
	for _, tt := range []struct {
		c    Chunking
		want string
	}{
		{Chunking{}, "2/bytes-v1/400/80"},
		{Chunking{Tokens: 200, Overlap: -1}, "2/bytes-v1/200/0"},
	} {
		if got := tt.c.Name(); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.c, got, tt.want)
		}
	}
}

// A body of white space has no units, and is in no chunk of the front matter before it.
func TestFrontMatterAlone(t *testing.T) {
	const front = "---\ntitle: Rolling deploys\n---\n"
	for _, body := range []string{"", "\n", "\n  \n\n"} {
		cs := chunksOf(Parse("memory/x.md", front+body), nil)
		if len(cs) != 1 || cs[0].Text != front || cs[0].StartLine != 1 || cs[0].EndLine != 3 {
			t.Errorf("%q: %+v", body, cs)
		}
	}
}
