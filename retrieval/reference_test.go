package retrieval

import (
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/index"
)

// Of two facts the one that names the other as replaced comes first, by the name of
// the other's line or by its place; the other stays.
func TestSupersedingComesFirst(t *testing.T) {
	const old = "- the ferry leaves the harbour at nine"
	for _, ref := range []string{lineName(old), "memory/a.md#L1"} {
		for _, mark := range []string{"", " <!-- supersedes " + ref + " -->"} {
			ix := &fakeIndex{hits: index.Hits{Chunks: 2, Keyword: ranked(hit("a", "memory/a.md", 1, .6, old),
				hit("b", "memory/b.md", 1, .5, "- by now the ferry leaves from the harbour not before half past ten"+mark))}}
			got := askPassages(ix, "ferry leaves harbour", Options{Lambda: 1})
			if len(got) != 2 {
				t.Fatalf("%d found", len(got))
			}
			want := "memory/a.md"
			if mark != "" {
				want = "memory/b.md"
			}
			if got[0].Path != want {
				t.Errorf("with mark %q %s comes first", mark, got[0].Path)
			}
		}
	}
}

// A promoted entry speaks for the one that it comes from, and does not take its place;
// where that one was not found it is a hit itself. The words of its references are not
// searched.
func TestPromotedSpeaksForOriginal(t *testing.T) {
	copied := "- the ferry leaves the harbour <!-- from memory/a.md#L2 -->"
	both := &fakeIndex{hits: index.Hits{Chunks: 2, Keyword: ranked(hit("b", "MEMORY.md", 1, .6, copied), hit("a", "memory/a.md", 1, .5, "# Log\n- 10:00 the ferry leaves the harbour at nine, says Mika"))}}
	if got := askPassages(both, "ferry harbour", Options{Lambda: 1}); len(got) != 1 || got[0].Path != "memory/a.md" {
		t.Errorf("%+v", got)
	}
	alone := &fakeIndex{hits: index.Hits{Chunks: 1, Keyword: ranked(hit("b", "MEMORY.md", 1, .6, copied))}}
	if got := askPassages(alone, "ferry harbour", Options{Lambda: 1}); len(got) != 1 || !strings.Contains(got[0].Text, "memory/a.md#L2") {
		t.Errorf("%+v", got)
	}
	if got := unreferenced("a <!-- from memory/a.md#L2 --> b <!-- note -->"); got != "a  b <!-- note -->" {
		t.Errorf("%q", got)
	}
}

// What a newer statement replaces is ranked behind it and is marked, in every
// language in which it is stated plainly; what only looks like it is not.
func TestSupersededIsMarked(t *testing.T) {
	ask := func(text, question string) []Hit {
		ix := &fakeIndex{hits: index.Hits{Chunks: 1, Keyword: ranked(hit("a", "memory/a.md", 1, .5, text))}}
		return askPassages(ix, question, Options{Lambda: 1})
	}
	filler := "\n\n- one thing of the mole\n\n- two things of the mole\n\n"
	for _, c := range [][3]string{ // old, new, question
		{"- the postgres port of the harbour is 5432", "- the harbour now has postgres port 5433 instead of 5432", "postgres port harbour 5432"},
		{"- the postgres port of the harbour is 5432", "- postgres harbour port: 5433 (was: 5432)", "postgres port harbour"},
		{"- the harbour lamp is red", "- the harbour lamp: red → green", "harbour lamp"},
		{"- Der Wachdienst beginnt um 7 Uhr", "- Der Wachdienst beginnt um 8 Uhr statt 7 Uhr", "Wachdienst beginnt Uhr"},
		{"- 数据库端口是 5432", "- 数据库端口现在是 5433，不再是 5432", "数据库端口"},
		{"- El servidor está en Sevilla", "- El servidor está en Madrid en vez de Sevilla", "servidor Sevilla"},
	} {
		got := ask(c[0]+filler+c[1], c[2])
		if len(got) < 2 || got[0].StartLine != 7 || got[1].StartLine != 1 || got[0].SupersededBy != "" || got[1].SupersededBy != "memory/a.md#L7" {
			t.Errorf("%q: %+v", c[1], got)
		}
		if got := ask(c[1]+filler+c[0], c[2]); got[0].SupersededBy+got[1].SupersededBy != "" {
			t.Errorf("what stands behind %q counts as superseded", c[1])
		}
	}
	got := ask("- ~~the harbour lamp is red~~"+filler+"- the harbour is old and has a lamp", "harbour lamp")
	if at := slices.IndexFunc(got, func(h Hit) bool { return h.StartLine == 1 }); got[0].StartLine != 7 || at < 0 || got[at].SupersededBy != got[at].Citation {
		t.Errorf("struck through: %+v", got)
	}
	for _, c := range [][2]string{
		{"- redis port of the harbour is 5432", "- the harbour now has postgres port 5433 instead of 5432"},
		{"- the harbour lamp is red and old", "- the harbour lamp: red → green"},
		{"- the harbour has a lamp", "- the harbour no longer has a crane"},
	} {
		for _, h := range ask(c[0]+filler+c[1], "harbour port lamp crane") {
			if h.SupersededBy != "" {
				t.Errorf("%q is marked as superseded beside %q", h.Text, c[1])
			}
		}
	}
	items := Pack(ask("- the harbour lamp is red"+filler+"- the harbour lamp: red → green", "harbour lamp"), &PackOptions{Tokens: 500}).Items
	if block := Render(items); !strings.Contains(block, `superseded-by="L1 by memory/a.md#L7"`) {
		t.Errorf("the block says\n%s", block)
	}
}
