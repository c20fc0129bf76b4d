package plan

import (
	"path"
	"strings"
	"sync/atomic"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// scores gathers the worth of every shown item, for the selector. It looks from the newest
// message back, so that the later messages are known.
type scores struct {
	c      *Call
	texts  map[string]string // of items of a special size, by hash
	seen   []pagevm.Seen     // all messages as a cut sees them
	newest int               // the newest atom
	traits [][]pagevm.Traits
	ids    map[represent.Name]int32
	uses   []pagevm.NameUse
	// worked are the tools and paths of newer results that were not errors.
	worked map[string]bool
	// found are the names of every segment's levels, by its place in the messages.
	found [][][pagevm.Full + 1][]represent.Name
	// lastEdit is the newest atom that edited a path.
	lastEdit map[string]int
	// reread is the size of the path's largest newer read.
	reread map[string]int
	// edited is the path that was edited last.
	edited string
	// asked are the names in the user's newest words.
	asked map[represent.Name]bool
}

// score looks at all messages. Messages that have left count only with their words, because a
// name that was said once is likelier to be said again.
func score(c *Call, texts map[string]string, seen []pagevm.Seen) *scores {
	a := &scores{c: c, texts: texts, seen: seen, traits: make([][]pagevm.Traits, len(c.Hosts)), ids: map[represent.Name]int32{},
		worked: map[string]bool{}, lastEdit: map[string]int{}, reread: map[string]int{}, asked: map[represent.Name]bool{}, newest: c.Places[len(c.Places)-1].Atom}
	_, words, _ := c.userTurn()
	for _, n := range represent.Names(words) {
		a.asked[n] = true
	}
	a.find()
	a.edits()
	for i := len(c.Hosts) - 1; i >= 0; i-- {
		a.traits[i] = make([]pagevm.Traits, len(c.Hosts[i].Segments))
		for j := range c.Hosts[i].Segments {
			if s := &c.Hosts[i].Segments[j]; s.Kind == pagevm.ItemResult {
				a.result(i, j)
			} else {
				a.dialogue(i, j)
			}
		}
	}
	return a
}

func (a *scores) age(i int) int { return a.newest - a.c.Places[i].Atom }

// edits looks for the newest edit of every file.
func (a *scores) edits() {
	for i := range a.c.Msgs {
		for _, p := range a.c.Msgs[i].Parts {
			if p.Call == nil {
				continue
			}
			if kind, paths := toolcall.Classify(p.Call.Name, p.Call.Input); kind == toolcall.CallEdit {
				for _, path := range paths {
					a.lastEdit[path] = a.c.Places[i].Atom
				}
			}
		}
	}
}

// since returns the number of atoms that are newer than the newest edit of a file, plus one. It
// returns 0 if the file was not edited.
func (a *scores) since(path string) int {
	if atom, ok := a.lastEdit[path]; ok && path != "" {
		return a.newest - atom + 1
	}
	return 0
}

// find looks for the names in all texts. It uses helpers because this is most of the work.
func (a *scores) find() {
	a.found = make([][][pagevm.Full + 1][]represent.Name, len(a.c.Hosts))
	a.c.Page("") // the index of pages is made on first use, by one
	var next atomic.Int32
	longwork.Run(len(a.found), func() {
		for i := int(next.Add(1)) - 1; i < len(a.found); i = int(next.Add(1)) - 1 {
			a.found[i] = make([][pagevm.Full + 1][]represent.Name, len(a.c.Hosts[i].Segments))
			for j := range a.found[i] {
				a.found[i][j] = a.namesOf(i, j)
			}
		}
	})
}

// namesOf returns the names that each level of a segment shows. For results that have left it
// returns no names.
func (a *scores) namesOf(i, j int) (names [pagevm.Full + 1][]represent.Name) {
	m, s := &a.c.Msgs[i], &a.c.Hosts[i].Segments[j]
	if s.Kind != pagevm.ItemResult {
		names[pagevm.Full] = represent.Names(saidIn(m.Parts[s.Part : s.Part+s.Parts]))
	} else if a.seen[i].Gone || a.c.Page(s.Page) == nil {
		return names
	} else {
		names[pagevm.Full] = represent.Names(ingest.ResultText(m.Parts[s.Part].Result))
	}
	for l := pagevm.Pointer; l < pagevm.Full; l++ {
		if s.At[l].Hash != "" {
			names[l] = represent.Names(a.c.text(a.texts, s.At[l].Hash))
		}
	}
	return names
}

// saidIn returns the text of a run of parts, tool inputs included.
func saidIn(parts []memkernel.Part) string {
	var text strings.Builder
	for i := range parts {
		switch p := &parts[i]; {
		case p.Call != nil:
			text.WriteString(unescape.Replace(p.Call.Input))
		case p.Kind == memkernel.PartText:
			text.WriteString(p.Text)
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// dialogue scores words and tool inputs.
func (a *scores) dialogue(i, j int) {
	m, s, t := &a.c.Msgs[i], &a.c.Hosts[i].Segments[j], &a.traits[i][j]
	t.Act, t.Age = toolcall.ActUser, a.age(i)
	if m.Role == memkernel.RoleAssistant {
		t.Act = toolcall.ActSay
	}
	for _, p := range m.Parts[s.Part : s.Part+s.Parts] {
		if p.Call != nil && toolcall.IsEdit(p.Call.Name, p.Call.Input) {
			t.Act, t.Edited = toolcall.ActEdit, a.since(toolcall.Path(p.Call.Name, p.Call.Input))
		}
	}
	if s.Lowest(true) < pagevm.Full { // mostly pasted: every level shows its request
		t.Act, t.InHand = toolcall.ActRead, a.c.Places[i].Opener
	}
	for l, names := range a.found[i][j] {
		if len(names) > 0 || pagevm.Level(l) == pagevm.Full {
			t.Names[l] = a.names(names, t.Age)
		}
	}
	for _, id := range t.Names[pagevm.Full] {
		a.uses[id].Said++
	}
}

// unescape undoes JSON's escapes in the text of a call's input, as far as names are concerned.
var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\/`, "/")

// result scores a tool result.
func (a *scores) result(i, j int) {
	s, t := &a.c.Hosts[i].Segments[j], &a.traits[i][j]
	r := a.c.Msgs[i].Parts[s.Part].Result
	page, call := a.c.Page(s.Page), a.c.Maker.Calls[r.CallID]
	t.Age = a.age(i)
	if page == nil || call == nil {
		return
	}
	t.Act = toolcall.ActOf(call.Name, call.Input)
	what := page.Tool + "\x00" + page.Path
	t.Resolved = r.IsError && a.worked[what]
	a.worked[what] = a.worked[what] || !r.IsError
	if t.Act == toolcall.ActEdited && a.edited == "" && !r.IsError {
		a.edited = page.Path
	}
	t.InHand = page.Path != "" && (page.Path == a.edited || a.askedFor(page.Path))
	if t.Act == toolcall.ActRead {
		size := s.At[pagevm.Full].Tokens
		t.Edited, t.Reread = a.since(page.Path), a.reread[page.Path] >= size
		a.reread[page.Path] = max(a.reread[page.Path], size)
	}
	if a.seen[i].Gone {
		return
	}
	for l, names := range a.found[i][j] {
		if len(names) > 0 {
			t.Names[l] = a.names(names, t.Age)
		}
	}
}

// askedFor reports whether a path is named, whole or by its last element. The last of
// a text's names is the longest.
func (a *scores) askedFor(p string) bool {
	for _, s := range []string{p, path.Base(p)} {
		if names := represent.Names(s); len(names) > 0 && a.asked[names[len(names)-1]] {
			return true
		}
	}
	return false
}

// names numbers the names of a text. Messages are looked at from the newest back, so that the
// first message with a name sets the name's age.
func (a *scores) names(names []represent.Name, age int) []int32 {
	out := make([]int32, len(names))
	for i, n := range names {
		id, known := a.ids[n]
		if !known {
			id = int32(len(a.uses))
			a.ids[n] = id
			a.uses = append(a.uses, pagevm.NameUse{Age: age})
		}
		out[i] = id
	}
	return out
}
