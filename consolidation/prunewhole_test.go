package consolidation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/consolidation"
)

// sections are what people write below a heading, each in another manner and several
// languages; those with true are plain lists, of which single items may leave.
var sections = []struct {
	text string
	list bool
}{
	{"## Ports\n\n- Postgres listens on 5432 here\n- The sweeper listens on 9100\n- Redis was moved to 6380\n", true},
	{"## Never without asking\n\nNever do any of the following without asking:\n\n- delete a branch\n- publish a package\n- write to a customer\n", false},
	{"## Nie ohne Rückfrage\nFolgendes nie ohne Rückfrage:\n- Zweige löschen\n- Pakete veröffentlichen\n", false},
	{"## 规则\n\n以下操作必须先询问：\n\n- 删除分支\n- 发布软件包\n- 给客户写信\n", false},
	{"### Nothing of this on Fridays:\n\n- deployments of the gate\n- migrations of the harbour's book\n", false},
	{"### 禁止事项：\n* 直接推送到主分支\n* 关闭告警\n", false},
	{"## Release\n\n1. Freeze the branch\n2. Tag the commit\n3. Tell the keepers\n", false},
	{"## Release mit Unterschritten\n\n1. Einfrieren\n   - auch die Tests\n2. Markieren\n\n   mit Unterschrift\n3. Melden\n", false},
	{"## Keepers\n\nWho holds which gate since March:\n\n| gate | keeper |\n|---|---|\n| north | Solveig |\n| south | Ingrid |\n", false},
	{"## Prose\n\nThe harbour was built on old piles, and nobody knows how deep.\nThat is why heavy cranes stay away.\n\nIt was measured once, in winter.\n", false},
	{"## Said\n\n> Keep the lamps burning.\n> Whatever it costs.\n\n— the old keeper\n", false},
	{"## How to start the crane\n\nRun it twice:\n\n```sh\n# not a heading\ncrane --valve open\n```\n\nThen wait.\n", false},
	{"## Reviewed\n\n<!-- reviewed by Ingrid; keep the next two together -->\n- The nets hang in the long shed\n- The short shed leaks\n", false},
	{"## Nested\n\n- Gates\n  - north: key 7\n    - spare at Solveig's\n  - south: key 9\n- Lamps are lit at dusk\n\n  and put out at dawn\n", true},
	{"## Loose\n\n- First thing, said slowly\n\n- Second thing, said slowly\n\n- Third thing\n", true},
	{"Underlined\n----------\n\nWords below a line.\n", false},
	{"## Tasks\n\n- [x] renew the certificate of the gate\n- [ ] ask for a new key at the office\n- ~~the parcels go out on Mondays~~\n", true},
	{"## 多语言\n\n- 数据库端口是 5432\n- 港口在冬天关闭北码头\n", true},
	{"## Parted\n\n- above the rule\n\n---\n\n- below the rule\n", false},
	{"## Tight\n- nothing blank above\n- nor below\n", true},
}

// leaf is a block without blocks in it, by the kinds that it is in and its text.
func leaves(src string) []string {
	var out []string
	source := []byte(src)
	var walk func(n ast.Node, path string)
	walk = func(n ast.Node, path string) {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if c.Type() != ast.TypeBlock {
				continue
			}
			kind := c.Kind().String()
			switch l := c.(type) {
			case *ast.List:
				kind += string(l.Marker)
			case *ast.TextBlock:
				kind = "Paragraph"
			case *ast.Heading:
				kind += fmt.Sprint(l.Level)
			}
			if c.Kind() == ast.KindListItem && c.FirstChild() == nil {
				out = append(out, path+"/"+kind)
			}
			if b := c.Lines(); b != nil && b.Len() > 0 || c.FirstChild() == nil || c.FirstChild().Type() != ast.TypeBlock {
				out = append(out, path+"/"+kind+": "+strings.TrimRight(string(b.Value(source)), "\r\n "))
				continue
			}
			walk(c, path+"/"+kind)
		}
	}
	walk(goldmark.New(goldmark.WithExtensions(extension.Table, extension.TaskList)).Parser().Parse(text.NewReader(source)), "")
	return out
}

// without are the leaves that a file has for itself: comments and the line of more.
func without(ls []string) []string {
	return slices.DeleteFunc(ls, func(l string) bool {
		return strings.Contains(l, "HTMLBlock: <!-- mk:") || strings.Contains(l, "HTMLBlock: <!-- from ") || strings.Contains(l, "HTMLBlock: <!-- moved to ") || strings.Contains(l, "Paragraph: More memory:")
	})
}

// missing are the elements of all that part does not have, part being in all's order.
func missing(all, part []string) (out []string, ordered bool) {
	for _, l := range all {
		if len(part) > 0 && part[0] == l {
			part = part[1:]
		} else {
			out = append(out, l)
		}
	}
	return out, len(part) == 0
}

// theirs are the lines of a text that memkernel did not write, without blank ones.
func theirs(text string, ours map[string]bool) []string {
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(l) != "" && !ours[strings.TrimRight(l, "\r")] && !strings.HasPrefix(l, "More memory:") {
			out = append(out, l)
		}
	}
	return out
}

// a draw of a MEMORY.md of people, with sections of memkernel's own between theirs.
func drawMemory(rt *rapid.T) (text string, ours map[string]bool, wrote func(path, marker, block string) bool) {
	ours, byID := map[string]bool{}, map[string]string{}
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{"", "# Memory\n\n", "---\ntitle: x\n---\n\n# Memory\n\nWords of a person below the title.\n\n", "Memory\n======\n\n"}).Draw(rt, "head"))
	for i := range rapid.IntRange(1, 9).Draw(rt, "sections") {
		if rapid.Bool().Draw(rt, "ours") {
			own := fmt.Sprintf("## 2026-01-%02d\n\n", i+1)
			for n := range rapid.IntRange(1, 4).Draw(rt, "entries") {
				own += fmt.Sprintf("- [lesson] Lesson number %d of day %d was learned well. <!-- from memory/2026-01-%02d.md#L%d -->\n", n, i, i+1, n+3)
			}
			id := fmt.Sprintf("up-%d", i)
			byID[id] = own
			b.WriteString(own + "<!-- mk:" + id + " -->\n")
			for l := range strings.SplitSeq(own, "\n") {
				ours[l] = true
			}
			ours["<!-- mk:"+id+" -->"] = true
		} else {
			b.WriteString(rapid.SampledFrom(sections).Draw(rt, "section").text)
		}
		b.WriteString(rapid.SampledFrom([]string{"\n", "\n\n", "", "\n\nWords of somebody with no heading.\n", "- an item of somebody's right below\n", "\n1. a step of somebody's\n", "\n# A project of somebody's, with nothing in it yet\n"}).Draw(rt, "gap"))
	}
	text = b.String()
	if rapid.Bool().Draw(rt, "crlf") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text, ours, func(_, marker, block string) bool { return slices.Contains(strings.Split(byID[marker], "\n"), block) }
}

// What nobody named and memkernel did not write stays, byte for byte, in its order and
// with its meaning; what leaves is whole where it goes.
func TestPruneLeavesPeoplesTextAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before, ours, wrote := drawMemory(rt)
		limit := rapid.IntRange(3, 30).Draw(rt, "limit")
		p := prune(t, with(map[string]string{"MEMORY.md": before}), func(o *consolidation.PruneOptions) { o.MemoryLines, o.Include, o.Wrote = limit, nil, wrote })
		after := became(p, "MEMORY.md")
		if after == "" {
			after = before
		}
		if want, got := theirs(before, ours), theirs(after, ours); !slices.Equal(want, got) {
			rt.Fatalf("of\n%s\nstays\n%s", before, after)
		}
		holds(rt, p, before, after)
		apart := func(text string) map[string]bool {
			out, was := map[string]bool{}, "x"
			for l := range strings.SplitSeq(text, "\n") {
				out[l] = out[l] || strings.TrimSpace(was) == ""
				was = l
			}
			return out
		}
		for l, blank := range apart(before) {
			if got, stays := apart(after)[l]; strings.TrimSpace(l) != "" && stays && blank && !got && !strings.HasPrefix(after, l) {
				rt.Fatalf("%q lost the blank line before it:\n%s\nbecame\n%s", l, before, after)
			}
		}
		n := 0
		for l := range strings.SplitSeq(strings.ReplaceAll(after, "\r", ""), "\n") {
			if strings.HasPrefix(l, "- ") && ours[l] || strings.HasPrefix(l, "More memory:") {
				n++
			}
		}
		if n > limit && len(p.Over) == 0 {
			rt.Fatalf("%d lines of memkernel's stay over the limit of %d, and nothing is said:\n%s\nbecame\n%s", n, limit, before, after)
		}
	})
}

// Of what is named, lists leave with their leads, steps in order, tables, quotes, code
// and comments with what is beside them, or they stay.
func TestPruneMovesWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		b.WriteString("# Memory\n\n")
		for i := range rapid.IntRange(2, 9).Draw(rt, "sections") {
			s := rapid.SampledFrom(sections).Draw(rt, "section").text
			head, rest, _ := strings.Cut(s, "\n")
			b.WriteString(strings.Replace(head, "## ", fmt.Sprintf("## Section %d, ", i), 1) + "\n" + rest + "\n")
		}
		before := b.String()
		if rapid.Bool().Draw(rt, "crlf") {
			before = strings.ReplaceAll(before, "\n", "\r\n")
		}
		p := prune(t, with(map[string]string{"MEMORY.md": before}), func(o *consolidation.PruneOptions) { o.MemoryLines = rapid.IntRange(3, 40).Draw(rt, "limit") })
		after := became(p, "MEMORY.md")
		if after == "" {
			return
		}
		holds(rt, p, before, after)
		stands := without(leaves(after))
		for _, s := range sections {
			if s.list {
				continue
			}
			var here, gone int
			for _, l := range leaves(s.text) {
				if strings.HasPrefix(l, "/Heading") || strings.HasPrefix(l, "/ThematicBreak") {
					continue
				}
				all, left := count(leaves(before), l), count(stands, l)
				here, gone = here+left, gone+all-left
				if all > 1 {
					here = 0 // a section that is twice may leave once
					break
				}
			}
			if here > 0 && gone > 0 {
				rt.Fatalf("%q was taken apart:\n%s\nbecame\n%s", s.text, before, after)
			}
		}
	})
}

func count(ls []string, l string) int {
	n := 0
	for _, x := range ls {
		if x == l {
			n++
		}
	}
	return n
}

// holds checks that what stays means what it meant, and that what left means the same
// where it is now.
func holds(rt *rapid.T, p *consolidation.Pruning, before, after string) {
	rt.Helper()
	if strings.Contains(before, "\r\n") && strings.Count(after, "\r\n") != strings.Count(after, "\n") {
		rt.Fatalf("line ends changed:\n%q", after)
	}
	left, ordered := missing(without(leaves(before)), without(leaves(after)))
	if !ordered {
		rt.Fatalf("what stays means something else:\n%s\nbecame\n%s\n%q\n%q", before, after, leaves(before), leaves(after))
	}
	for _, l := range left {
		if strings.HasPrefix(l, "/Heading") || strings.HasPrefix(l, "/ThematicBreak") {
			continue
		}
		if !slices.ContainsFunc(p.Moves, func(m consolidation.Move) bool {
			return slices.Contains(leaves(strings.ReplaceAll(m.Text, "\r\n", "\n")), strings.ReplaceAll(l, "\r", ""))
		}) {
			rt.Fatalf("%q left and is in no move of\n%s\nwhich became\n%s", l, before, after)
		}
	}
	for _, m := range p.Moves {
		if m.To == "" {
			continue
		}
		got := uncommented(without(leaves(became(p, m.To))))
		want := uncommented(without(leaves(strings.ReplaceAll(m.Text, "\r\n", "\n"))))
		at := slices.Index(got, want[0])
		for ; at >= 0 && !slices.Equal(got[at:min(at+len(want), len(got))], want); at++ {
			if next := slices.Index(got[at+1:], want[0]); next < 0 {
				at = -2
			} else {
				at += next
			}
		}
		if at < 0 {
			rt.Fatalf("%q is not whole in\n%s", m.Text, became(p, m.To))
		}
	}
}

func uncommented(ls []string) []string {
	for i, l := range ls {
		l, _, _ = strings.Cut(l, " <!-- from ")
		ls[i] = l
	}
	return ls
}

// An entry that somebody touched, put somewhere else or wrote himself stays, unless it is
// named.
func TestPruneInclude(t *testing.T) {
	own := "## 2026-01-01\n\n- [lesson] The crane needs two pulls before it starts. <!-- from memory/2026-01-01.md#L3 -->\n- [lesson] The lamps want oil of the better sort. <!-- from memory/2026-01-01.md#L4 -->\n- [lesson] The nets dry sooner in the wind. <!-- from memory/2026-01-01.md#L5 -->\n"
	wrote := func(_, marker, text string) bool {
		return marker == "up-1" && slices.Contains(strings.Split(own, "\n"), text)
	}
	memory := "# Memory\n\n## Tasks\n\n- [x] renew the certificate of the gate\n- ~~the parcels go out on Mondays~~\n- the gate is oiled by Ingrid alone\n\n## Rules\n\nNever do this:\n\n- the gate is oiled by Ingrid alone\n\n" +
		strings.Replace(own, "two pulls", "three pulls", 1) + "- A line of mine.\n<!-- mk:up-1 -->\n"
	set := func(include ...string) func(o *consolidation.PruneOptions) {
		return func(o *consolidation.PruneOptions) { o.MemoryLines, o.Include, o.Wrote = 1, include, wrote }
	}
	p := prune(t, with(map[string]string{"MEMORY.md": memory}), set())
	if len(p.Moves) != 2 || !strings.Contains(p.Moves[0].Text, "The lamps want oil") || strings.Contains(became(p, "MEMORY.md"), "lamps") {
		t.Fatalf("what leaves is %+v", p.Moves)
	}
	q := prune(t, with(map[string]string{"MEMORY.md": memory}), set("rules", "No such thing"))
	if !slices.Equal(q.Unknown, []string{"No such thing"}) || len(q.Moves) != 3 || q.Moves[0].Text != "Never do this:\n\n- the gate is oiled by Ingrid alone" {
		t.Errorf("%q, %+v", q.Unknown, q.Moves)
	}
	if got := became(q, "memory/rules.md"); !strings.Contains(got, "## Rules\n\n<!-- from MEMORY.md -->\n\nNever do this:\n\n- the gate") {
		t.Errorf("what arrives is\n%s", got)
	}
}

// What stays is not joined to what it was apart from.
func TestPruneJoinsNothing(t *testing.T) {
	memory := "# Memory\n\nWords of a person.\n### Old\n- something that is old enough to leave\n---\n## Next\n"
	for _, text := range []string{memory, strings.ReplaceAll(memory, "\n", "\r\n")} {
		p := prune(t, with(map[string]string{"MEMORY.md": text}), func(o *consolidation.PruneOptions) { o.MemoryLines, o.Include = 1, []string{"Old"} })
		if after := strings.ReplaceAll(became(p, "MEMORY.md"), "\r\n", "\n"); !strings.Contains(after, "person.\n\n---\n## Next\n\nMore memory: ") {
			t.Errorf("what stays is\n%s", after)
		}
	}
}

// A lead holds the sections below it as well.
func TestPruneKeepsLeadsOfSections(t *testing.T) {
	memory := "# Memory\n\n## Rules\n\nNever without asking:\n\n### On the gate\n\n- open it at night, whoever asks\n\n### On the quay\n\n- light a fire in any weather\n\n## Rest\n\n- something that may leave at any time\n"
	p := prune(t, with(map[string]string{"MEMORY.md": memory}), func(o *consolidation.PruneOptions) { o.MemoryLines = 2 })
	if len(p.Moves) != 1 || p.Moves[0].Text != "- something that may leave at any time" {
		t.Errorf("%+v", p.Moves)
	}
}

// A topic file is named by its heading in any script, and by nothing that a file
// system stumbles over; its title is the heading as it is written.
func TestTopicNames(t *testing.T) {
	for heading, want := range map[string]string{
		"码头":                    "memory/码头.md # 码头",
		"Moorings (2026-02-03)": "memory/moorings.md # Moorings",
		"`ls -1` lists":         "memory/ls-1-lists.md # `ls -1` lists",
		"git checkout":          "memory/git-checkout.md # git checkout",
		"src/main.go":           "memory/src-main-go.md # src/main.go",
		"CON":                   "memory/con-notes.md # CON",
		"lpt1.":                 "memory/lpt1-notes.md # lpt1.",
		"हिन्दी में":            "memory/हिन्दी-में.md # हिन्दी में",
		"Über Größen":           "memory/über-größen.md # Über Größen",
		"🚀🚀":                    "memory/notes.md # Notes",
		"...":                   "memory/notes.md # Notes",
		"HARBOUR":               "memory/Harbour.md ",
		strings.Repeat("प्रणाली", 30): "memory/" + strings.Repeat("प्रणाली", 9) + " # ",
		"\xff\xfe bad": "memory/bad.md",
	} {
		memory := "# Memory\n\n## " + heading + "\n\n- something that is said of it here\n- and another thing that is said\n"
		p := prune(t, with(map[string]string{"MEMORY.md": memory, "memory/Harbour.md": "# Harbour\n"}), func(o *consolidation.PruneOptions) { o.MemoryLines = 3 })
		got := ""
		for _, c := range p.Changes {
			if c.Path != "MEMORY.md" {
				if got = c.Path + " # " + c.Title; !c.New {
					got = c.Path + " "
				}
			}
		}
		if len([]rune(heading)) > 40 {
			if path, _, _ := strings.Cut(got, " "); len(path) > 255 || !utf8.ValidString(path) || !strings.HasPrefix(got, "memory/"+strings.Repeat("प्रणाली", 9)) {
				t.Errorf("the file of %q is %q", heading, got)
			}
		} else if !strings.HasPrefix(got, want) {
			t.Errorf("the file of %q is %q, want %q", heading, got, want)
		}
	}
}
