package consolidation_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/consolidation"
)

// blocks are what Markdown is made of, as people write it and as they shouldn't.
var blocks = []string{
	"- an item of a plain list\n- another one of it\n", "- a loose item\n\n- another loose item\n", "* starred, with words\n* and again\n",
	"- outer item\n  - inner item\n    - innermost item\n  - inner again\n", "- item\n\n  with a second paragraph\n\n- and the next\n", "- item with code\n  ```\n  code in it\n  ```\n- item behind\n",
	"- item\n1. a step right below\n2. and the next\n", "1) one thing\n2) the other\n", "3. begins at three\n4. goes on\n\n   with words\n",
	"- item\nlazy continuation of it\n- next\n", "-\n  begins with nothing\n- next item here\n", "- [ ] open task here\n- [x] task that is done\n", "+ plus item\n\n\n+ plus item, far away\n",
	"A paragraph of some words.\nIts second line.\n", "Words with [a link][ref] in them.\n", "Words with [ref] alone.\n", "- item with [a link][ref] in it\n- item without\n", "- item, [Other One][]\n- last of it\n",
	"[ref]: https://example.org/a \"Title\"\n", "[other one]:\n  https://example.org/b\n", "- item that defines\n\n  [ref]: https://example.org/inner\n", "[^1]: a footnote of somebody\n", "Words with a note.[^1]\n",
	"> quoted words\n> in two lines\n", "> quoted\nlazily continued\n", "> - a list in a quote\n> - and its second\n", "- > a quote in an item\n- item\n",
	"| a | b |\n|---|---|\n| c | d |\n", "- | a | b |\n  |---|---|\n  | c | d |\n",
	"```\ncode\n# not a heading\n```\n", "~~~ sh\n- not an item\n~~~\n", "    indented code\n    - of two lines\n", "```\nnever closed\n", "- item\n\n      code in the item\n",
	"<!-- a comment of somebody's -->\n", "<!-- a comment\n\nover a blank line -->\n", "<details>\n<summary>More</summary>\n\n- folded item\n\n</details>\n", "<div>\n- not an item\n</div>\n", "- item <!-- aside -->\n- item\n", "<!-- never closed\n",
	"Underlined once\n===============\n", "Underlined\nin two lines\n---\n", "# One\n", "## Two ##\n", "### Three [ref]\n", "###### Six\n", "#not a heading\n", "- # heading in an item\n- item\n",
	"---\n", "***\n", "* * *\n", "- - nested at once\n- item\n", "Term\n: its definition\n", "Except on Fridays.\n", "- except where the gate is closed\n", "More memory: nothing of ours\n", "\tTabbed code\n", "-\ttabbed item\n-\tanother\n", "10. ten\n11. eleven\n",
}

// drawBlocks is a text of blocks, apart from each other or not.
func drawBlocks(rt *rapid.T) string {
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{"", "# Memory\n\n", "---\ntitle: x\n---\n\n", "\n\n"}).Draw(rt, "head"))
	for range rapid.IntRange(1, 12).Draw(rt, "blocks") {
		b.WriteString(rapid.SampledFrom(blocks).Draw(rt, "block") + rapid.SampledFrom([]string{"\n", "\n", "\n\n", ""}).Draw(rt, "gap"))
	}
	if rapid.Bool().Draw(rt, "crlf") {
		return strings.ReplaceAll(b.String(), "\n", "\r\n")
	}
	return b.String()
}

// Whatever leaves, all that stays is rendered as it was, links and all, and what files get
// is rendered as it is by itself.
func TestPruneKeepsStructure(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		memory, topic := drawBlocks(rt), rapid.SampledFrom([]string{"", "# Notes\n\n- there\n", "# Notes\n\n```\nnever closed\n", "Notes <!-- never\n\nclosed\n", "<!-- never closed\n"}).Draw(rt, "topic")
		fsys := with(map[string]string{"MEMORY.md": memory, "memory/notes.md": topic, "memory/memory.md": topic, "memory/one.md": topic})
		p := prune(t, fsys, func(o *consolidation.PruneOptions) { o.MemoryLines = rapid.IntRange(1, 20).Draw(rt, "limit") })
		for path, what := range p.Reshaped() {
			rt.Fatalf("%s: %s\n%s\nbecame\n%s\nmoves %+v", path, what, memory, became(p, path), p.Moves)
		}
	})
}

// A change of what stays is told, whatever it is made by.
func TestReshaped(t *testing.T) {
	for name, c := range map[string]consolidation.Change{
		"a lead goes":        {Before: "Never:\n\n- this\n", Text: "- this\n"},
		"items nest":         {Before: "- a\n- b\n", Text: "- a\n  - b\n"},
		"paragraphs join":    {Before: "one\n\ntwo\n", Text: "one\ntwo\n"},
		"a heading is made":  {Before: "one\n\n---\n", Text: "one\n---\n"},
		"order":              {Before: "1. a\n2. b\n", Text: "1. b\n2. a\n"},
		"a definition goes":  {Before: "[a][r]\n\n[r]: https://example.org\n", Text: "[a][r]\n"},
		"words come":         {Before: "one\n", Text: "one\n\ntwo\n"},
		"markers change":     {Before: "- a\n", Text: "* a\n"},
		"a comment goes":     {Before: "- a\n<!-- keep -->\n", Text: "- a\n"},
		"code swallows":      {Before: "```\nopen\n", Add: "- an item\n"},
		"a comment swallows": {Before: "<!-- open\n", Add: "- an item\n"},
	} {
		c.Path = "MEMORY.md"
		p := consolidation.Pruning{Changes: []consolidation.Change{c}}
		if p.Reshaped()["MEMORY.md"] == "" {
			t.Errorf("%s: nothing is said", name)
		}
	}
	whole := consolidation.Pruning{Moves: []consolidation.Move{{From: "MEMORY.md", Text: "- b"}},
		Changes: []consolidation.Change{{Path: "MEMORY.md", Before: "# M\n\n- a\n- b\n<!-- mk:x -->\n", Text: "# M\n\n- a\n\nMore memory: [b](memory/b.md).\n"}}}
	if got := whole.Reshaped(); len(got) > 0 {
		t.Errorf("%v", got)
	}
	if !slices.Contains(blocks, "---\n") {
		t.Error("rules are not drawn")
	}
}
