package retrieval

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
)

// wrapped is a document whose paragraphs are wrapped at 75 columns.
func wrapped(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/wrapped.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// chunked is an index of a document as the store cuts it. Every search finds the chunks from the
// first on, in steps of step.
func chunked(path, text string, first, step int) *fakeIndex {
	var all []index.Hit
	n := 0
	for c := range markdownstore.ChunkSeq(markdownstore.Parse(path, text), nil) {
		h := hit(c.ID, path, c.StartLine, .5, c.Text)
		h.Seq, h.Trail = n, c.Trail
		if n >= first && (n-first)%step == 0 {
			all = append(all, h)
		}
		n++
	}
	return &fakeIndex{hits: index.Hits{Chunks: int64(n), Keyword: ranked(all...)}}
}

// end matches the end of a sentence in the document, with the beginning of the next.
var end = regexp.MustCompile(`[.!?]['")]* +['"(` + "`" + `]*[A-Z0-9]`)

// borders are the offsets at which a text may begin or end, in a document whose white space is
// single spaces. The document's blocks are lines of code, tables and headings, and paragraphs and
// items.
func borders(doc string) (flat string, at map[int]bool) {
	at = map[int]bool{}
	code := false
	block := func(text string) {
		text = strings.Join(strings.Fields(text), " ")
		if text == "" {
			return
		}
		if flat != "" {
			flat += " "
		}
		at[len(flat)] = true
		for _, m := range end.FindAllStringIndex(text, -1) {
			if before := text[:m[0]]; strings.HasSuffix(before, "e.g") || strings.HasSuffix(before, "i.e") || strings.HasSuffix(before, "Dr") {
				continue
			}
			space := m[0] + strings.IndexByte(text[m[0]:], ' ')
			at[len(flat)+space], at[len(flat)+space+1] = true, true
		}
		flat += text
		at[len(flat)] = true
	}
	open := ""
	for _, l := range strings.Split(doc, "\n") {
		bare := strings.TrimSpace(l)
		fence := strings.HasPrefix(bare, "```")
		own := code || fence || bare == "" || bare[0] == '|' || bare[0] == '#'
		if own || strings.HasPrefix(bare, "- ") {
			block(open)
			open = ""
		}
		if own {
			block(l)
		} else {
			open += l + "\n"
		}
		code = code != fence
	}
	block(open)
	return flat, at
}

// parted lists the runs of a shown text that begin or end within a sentence of the document
// without a mark there.
func parted(flat string, at map[int]bool, shown string) (bad []string) {
	parts := strings.Split(shown, "…")
	for i, part := range parts {
		run := strings.Join(strings.Fields(part), " ")
		if run == "" {
			continue
		}
		cutFront := i > 0 && !strings.HasPrefix(part, " ") && !strings.HasPrefix(part, "\n")
		cutBack := i < len(parts)-1 && !strings.HasSuffix(part, " ") && !strings.HasSuffix(part, "\n")
		whole := false
		for from := 0; from <= len(flat)-len(run) && !whole; from++ {
			k := strings.Index(flat[from:], run)
			if k < 0 {
				break
			}
			from += k
			whole = (cutFront || at[from]) && (cutBack || at[from+len(run)])
		}
		if !whole {
			bad = append(bad, run)
		}
	}
	return bad
}

// TestParted tests the judge of the tests below.
func TestParted(t *testing.T) {
	flat, at := borders("# A\n\nOne sentence is\nhere, e.g. this. Two\nfollows.\n\n- item\n  goes on\n- next\n")
	for shown, n := range map[string]int{
		"One sentence is\nhere, e.g. this.":                  0,
		"Two\nfollows.":                                      0,
		"One sentence is":                                    1,
		"…here, e.g. this.":                                  0,
		"here, e.g. this.":                                   1,
		"this. Two":                                          1,
		"One sentence is\n…\nTwo\nfollows.":                  1,
		"One sentence is…\nTwo\nfollows.":                    0,
		"One sentence is\nhere, e.g. this.\n…\n- item":       1,
		"# A\n\nOne sentence is\nhere, e.g. this. …\n- next": 0,
	} {
		if got := parted(flat, at, shown); len(got) != n {
			t.Errorf("%q: %q", shown, got)
		}
	}
}

// questions are the words of the document's sentences, one question for each.
func questions(flat string, at map[int]bool) (out []string) {
	ends := []int{}
	for i := range at {
		ends = append(ends, i)
	}
	slices.Sort(ends)
	for i := 1; i < len(ends); i++ {
		if words := strings.Fields(flat[ends[i-1]:ends[i]]); len(words) > 3 {
			out = append(out, strings.Join(words[:min(len(words), 8)], " "))
		}
	}
	return out
}

// TestSentencesStayWhole: whatever a question asks of a document with hard line breaks, and
// whatever the room, neither a note nor a search shows a part of a sentence as if it were whole.
func TestSentencesStayWhole(t *testing.T) {
	doc := wrapped(t)
	flat, at := borders(doc)
	notes, snippets := 0, 0
	for first, step := range map[int]int{0: 1, 1: 2} {
		for _, q := range questions(flat, at) {
			ix := chunked("memory/harbour.md", doc, first, step)
			hits := askPassages(ix, q, Options{Lambda: 1})
			for _, room := range []int{140, 260, 500, 2000} {
				for _, it := range Pack(hits, &PackOptions{Tokens: room}).Items {
					notes++
					if bad := parted(flat, at, it.Text); bad != nil {
						t.Errorf("%q in %d tokens, %s shows parts of sentences:\n%s", q, room, it.Citation, strings.Join(bad, "\n--\n"))
					}
				}
			}
			for _, h := range askPlaces(ix, q, 5) {
				for _, r := range h.Runs() {
					snippets++
					if bad := parted(flat, at, r.Text); bad != nil {
						t.Errorf("%q: the snippet %s shows parts of sentences:\n%s", q, r.Citation, strings.Join(bad, "\n--\n"))
					}
					if err := cited(doc, r.StartLine, r.Text); err != "" {
						t.Errorf("%q: %s: %s", q, r.Citation, err)
					}
				}
			}
		}
	}
	if notes < 500 || snippets < 300 {
		t.Errorf("only %d notes and %d snippets", notes, snippets)
	}
}

// cited reports a line of a snippet that is not part of the line that it is numbered as.
func cited(doc string, from int, text string) string {
	lines := splitLines(doc)
	for i, l := range strings.Split(text, "\n") {
		for _, part := range strings.Split(l, "…") {
			if !strings.Contains(lines[from+i-1], strings.TrimSpace(part)) {
				return fmt.Sprintf("%q is not in line %d", part, from+i)
			}
		}
	}
	return ""
}

// TestLeads: an item or a row that says nothing alone is shown with what it belongs to.
func TestLeads(t *testing.T) {
	doc := wrapped(t)
	for _, tc := range []struct{ ask, lead, item string }{
		{"5432", "The harbour office listens on these\nchannels and ports, which the tower shares:", "- 5432"},
		{"exposed to the swell", "- The side of the basin.", "  - North is exposed to the swell of the ferries and costs half."},
		{"S1 31", "| Berth | Length | Fee |", "| S1 | 12 m | 31 |"},
		{"fishermen remain", "Three things decide what a berth costs:", "- The season, since between October and March only the boats\n  of the fishermen remain."},
	} {
		none := DefaultSignals()
		none.Before, none.Behind, none.Away, none.Session, none.Chunk, none.Heading = 0, 0, 0, 0, 0, 0
		ix := chunked("memory/harbour.md", doc, 0, 1)
		hits := askPassages(ix, tc.ask, Options{Lambda: 1, Signals: none})
		if len(hits) == 0 {
			t.Errorf("%q: nothing found", tc.ask)
			continue
		}
		text := Pack(hits[:1], nil).Items[0].Text
		lead := strings.Index(text, tc.lead)
		if lead < 0 || strings.Index(text, tc.item) < lead {
			t.Errorf("%q: the note is\n%s", tc.ask, text)
		}
		got := ""
		for _, r := range askPlaces(ix, tc.ask, 1)[0].Runs() {
			got += r.Text + "\n"
		}
		if lead = strings.Index(got, tc.lead); lead < 0 || strings.Index(got, tc.item) < lead {
			t.Errorf("%q: the search shows\n%s", tc.ask, got)
		}
	}
}

// A list item whose wrapped line begins with a time is no log, which would be parted line by line.
func TestItemWrappedAtATime(t *testing.T) {
	doc := "# Day\n\n- 09:40 They agreed on a new window: nights from 01:30 to\n  04:30, while the gates are closed. Evenings are\n  over, whatever the deployment page says.\n- 11:00 Whoever deploys sleeps in the next day.\n"
	flat, at := borders(doc)
	for _, h := range askPlaces(chunked("memory/day.md", doc, 0, 1), "whatever the deployment page says", 5) {
		for _, r := range h.Runs() {
			if bad := parted(flat, at, r.Text); bad != nil {
				t.Errorf("%s shows parts of sentences: %q", r.Citation, bad)
			}
		}
	}
}
