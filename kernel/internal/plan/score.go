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

// scores is the worth of every shown item, for the selector.
type scores struct {
	hosts  []pagevm.HostMessage // with superseded evidence marked
	seen   []pagevm.Seen        // all messages as a cut sees them
	traits [][]pagevm.Traits
	uses   []pagevm.NameUse
}

// score looks at all messages from the newest back, so that the later messages are known. Messages
// that have left count only with their words, because a name that was said once is likelier to be
// said again. The texts are those of items of a special size, by hash.
func score(c *Call, texts map[string]string, seen []pagevm.Seen) *scores {
	out := &scores{hosts: c.Supersede(), seen: seen, traits: make([][]pagevm.Traits, len(c.Hosts))}
	newest := c.Places[len(c.Places)-1].Atom
	found, edits, asked := namesShown(c, texts, seen), newestEdits(c), askedNames(c)
	numbers := map[represent.Name]int32{}
	all := []int32{}            // the names of all levels, which take their part of it
	worked := map[string]bool{} // the tools and paths of newer results that were not errors
	reread := map[string]int{}  // the size of a path's largest newer read
	edited := ""                // the path that was edited last
	for i := len(c.Hosts) - 1; i >= 0; i-- {
		age := newest - c.Places[i].Atom
		out.traits[i] = make([]pagevm.Traits, len(c.Hosts[i].Segments))
		for j := range c.Hosts[i].Segments {
			s := &c.Hosts[i].Segments[j]
			t := pagevm.Traits{Age: age}
			if s.Kind != pagevm.ItemResult {
				t.Act, t.Edited, t.InHand = dialogueAct(c, i, s, edits, newest)
			} else if page, call := c.Page(s.Page), c.Maker.Calls[c.Msgs[i].Parts[s.Part].Result.CallID]; page != nil && call != nil {
				failed := c.Msgs[i].Parts[s.Part].Result.IsError
				what := page.Tool + "\x00" + page.Path
				t.Act = call.Act
				t.Resolved = failed && worked[what]
				worked[what] = worked[what] || !failed
				if t.Act == toolcall.ActEdited && edited == "" && !failed {
					edited = page.Path
				}
				t.InHand = page.Path != "" && (page.Path == edited || namedIn(asked, page.Path))
				if t.Act == toolcall.ActRead {
					size := s.At[pagevm.Full].Tokens
					t.Edited, t.Reread = editedSince(edits, page.Path, newest), reread[page.Path] >= size
					reread[page.Path] = max(reread[page.Path], size)
				}
			}
			for level, names := range found[i][j] {
				if len(names) == 0 && (s.Kind == pagevm.ItemResult || pagevm.Level(level) < pagevm.Full) {
					continue
				}
				from := len(all)
				for _, n := range names {
					id, known := numbers[n]
					if !known { // the newest message with a name sets the name's age
						id = int32(len(out.uses))
						numbers[n] = id
						out.uses = append(out.uses, pagevm.NameUse{Age: age})
					}
					all = append(all, id)
				}
				t.Names[level] = all[from:len(all):len(all)]
			}
			if s.Kind != pagevm.ItemResult {
				for _, id := range t.Names[pagevm.Full] {
					out.uses[id].Said++
				}
			}
			out.traits[i][j] = t
		}
	}
	return out
}

// newestEdits returns the newest atom that edited each path.
func newestEdits(c *Call) map[string]int {
	edits := map[string]int{}
	for i := range c.Msgs {
		for _, p := range c.Msgs[i].Parts {
			if p.Call == nil {
				continue
			}
			if call := c.shown(p.Call); call.Kind == toolcall.CallEdit {
				for _, path := range call.Paths {
					edits[path] = c.Places[i].Atom
				}
			}
		}
	}
	return edits
}

// editedSince returns the number of atoms that are newer than the newest edit of a path, plus one.
// It returns 0 if the path was not edited.
func editedSince(edits map[string]int, path string, newest int) int {
	if atom, ok := edits[path]; ok && path != "" {
		return newest - atom + 1
	}
	return 0
}

// namesShown returns the names that each level of each segment shows. Results that have left show
// none. It uses helpers because this is most of the work.
func namesShown(c *Call, texts map[string]string, seen []pagevm.Seen) [][]levelNames {
	found := make([][]levelNames, len(c.Hosts))
	c.Page("") // the index of pages is made on first use, by one
	var next atomic.Int32
	longwork.Run(len(found), func() {
		for i := int(next.Add(1)) - 1; i < len(found); i = int(next.Add(1)) - 1 {
			found[i] = make([]levelNames, len(c.Hosts[i].Segments))
			for j := range found[i] {
				s := &c.Hosts[i].Segments[j]
				if s.Kind == pagevm.ItemResult && (seen[i].Gone || c.Page(s.Page) == nil || c.Maker.Calls[c.Msgs[i].Parts[s.Part].Result.CallID] == nil) {
					continue
				}
				found[i][j] = namesOf(c, texts, &c.Msgs[i], s)
			}
		}
	})
	return found
}

// levelNames are the names that each level of a segment shows.
type levelNames [pagevm.Full + 1][]represent.Name

func namesOf(c *Call, texts map[string]string, m *memkernel.Message, s *pagevm.Segment) (names levelNames) {
	if s.Kind == pagevm.ItemResult {
		names[pagevm.Full] = represent.Names(ingest.ResultText(m.Parts[s.Part].Result))
	} else {
		names[pagevm.Full] = represent.Names(saidIn(m.Parts[s.Part : s.Part+s.Parts]))
	}
	for level := pagevm.Pointer; level < pagevm.Full; level++ {
		if s.At[level].Hash != "" {
			names[level] = represent.Names(c.text(texts, s.At[level].Hash))
		}
	}
	return names
}

// saidIn returns the text of a run of parts, tool inputs included.
func saidIn(parts []memkernel.Part) string {
	var text strings.Builder
	size := 0
	for i := range parts {
		if size += len(parts[i].Text) + 1; parts[i].Call != nil {
			size += len(parts[i].Call.Input)
		}
	}
	text.Grow(size)
	for i := range parts {
		switch p := &parts[i]; {
		case p.Call != nil:
			unescape.WriteString(&text, p.Call.Input)
		case p.Kind == memkernel.PartText:
			text.WriteString(p.Text)
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// dialogueAct returns the act that left a segment of words or of a tool's input, the edit that it
// is about, and whether it is in hand.
func dialogueAct(c *Call, i int, s *pagevm.Segment, edits map[string]int, newest int) (act toolcall.Act, edited int, inHand bool) {
	act = toolcall.ActUser
	if c.Msgs[i].Role == memkernel.RoleAssistant {
		act = toolcall.ActSay
	}
	for _, p := range c.SegmentParts(i, s) {
		if p.Call == nil {
			continue
		}
		if call := c.shown(p.Call); call.Kind == toolcall.CallEdit {
			act, edited = toolcall.ActEdit, editedSince(edits, call.Path(), newest)
		}
	}
	if s.Lowest(true) < pagevm.Full { // mostly pasted: every level shows its request
		act, inHand = toolcall.ActRead, c.Places[i].Opener
	}
	return act, edited, inHand
}

// unescape undoes JSON's escapes in the text of a call's input, as far as names are concerned.
var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\/`, "/")

// askedNames returns the names in the user's newest words.
func askedNames(c *Call) map[represent.Name]bool {
	_, words, _ := c.userTurn()
	asked := map[represent.Name]bool{}
	for _, n := range represent.Names(words) {
		asked[n] = true
	}
	return asked
}

// namedIn reports whether a path is among names, whole or by its last element. The last of a
// text's names is the longest.
func namedIn(names map[represent.Name]bool, p string) bool {
	for _, s := range []string{p, path.Base(p)} {
		if own := represent.Names(s); len(own) > 0 && names[own[len(own)-1]] {
			return true
		}
	}
	return false
}
