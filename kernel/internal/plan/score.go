package plan

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// scores holds the figures by which the selector judges every shown item.
type scores struct {
	hosts  []pagevm.HostMessage // with superseded evidence marked
	seen   []pagevm.Seen        // all messages as a cut sees them
	traits [][]pagevm.Traits
	uses   []pagevm.NameUse
}

// score goes through all messages from the newest back, so that the later messages are known.
// Messages that have left count only with their words, because a name that was mentioned once is
// likelier to be mentioned again. texts has the texts of items of a special size, by hash. open has
// the keys of messages with the results of open or newest checks.
func score(c *call, texts map[string]string, seen []pagevm.Seen, open map[string]bool) *scores {
	out := &scores{hosts: bared(c, c.supersede()), seen: seen, traits: perSegment[pagevm.Traits](c.Hosts)}
	newest := c.Places[len(c.Places)-1].Atom
	found := namesShown(c, texts, seen)
	numbers := map[represent.Name]int32{}
	all := []int32{}               // the names of all levels; each level has a part of this slice
	worked := map[[2]string]bool{} // the tools and paths of newer results that were not errors
	said := []int{}                // the newest message with each name, from 1 on
	named := func(file string) int {
		if id, ok := numbers[nameOf(file)]; ok {
			return said[id]
		}
		return 0
	}
	for i := len(c.Hosts) - 1; i >= 0; i-- {
		age := newest - c.Places[i].Atom
		for j := range c.Hosts[i].Segments {
			s := &out.hosts[i].Segments[j]
			t := pagevm.Traits{Age: age}
			if s.Kind != pagevm.ItemResult {
				t.Act, t.State = dialogueAct(c, i, s, named)
			} else if page, call := c.Page(s.Page), c.Maker.Calls[c.Msgs[i].Parts[s.Part].Result.CallID]; page != nil && call != nil {
				failed := c.Msgs[i].Parts[s.Part].Result.IsError
				what := [2]string{page.Tool, page.Path}
				t.Act = call.Act
				switch {
				case s.Superseded || failed && worked[what]:
					t.State = pagevm.TextGone
				case c.did().done(call, named):
					t.State = pagevm.TaskDone
				case failed || open[c.Msgs[i].Key] || t.Act == toolcall.ActRead:
					t.State = pagevm.InWork
				}
				worked[what] = worked[what] || !failed
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
						said = append(said, i+1)
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

// leavesThinking reports whether a cut shows a segment of message i without its thinking. It does
// so in a finished step or turn, whose answer has the result of the thinking. Providers need
// thinking only within an open tool loop, but charge for all of it, unless they bind it to its
// prefix and drop it.
func (c *call) leavesThinking(i int, s *pagevm.Segment) bool {
	return s.Bare.Hash != "" && c.Places[i].Settled() && !c.Hosts[i].Held && !c.Request.Price.PreservedThinking
}

// bared returns messages without the thinking that a cut removes.
func bared(c *call, hosts []pagevm.HostMessage) []pagevm.HostMessage {
	for i := range hosts {
		if !slices.ContainsFunc(hosts[i].Segments, func(s pagevm.Segment) bool { return c.leavesThinking(i, &s) }) {
			continue
		}
		hosts[i].Segments = slices.Clone(hosts[i].Segments)
		for j := range hosts[i].Segments {
			if s := &hosts[i].Segments[j]; c.leavesThinking(i, s) {
				s.At[pagevm.Full] = s.Bare
			}
		}
	}
	return hosts
}

// namesShown returns the names that each level of each segment shows. Results that have left show
// none. It uses helpers because this is most of the work.
func namesShown(c *call, texts map[string]string, seen []pagevm.Seen) [][]levelNames {
	found := perSegment[levelNames](c.Hosts)
	c.Page("") // one goroutine makes the index of pages, on first use
	var next atomic.Int32
	longwork.Run(len(found), func() {
		for i := int(next.Add(1)) - 1; i < len(found); i = int(next.Add(1)) - 1 {
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

// perSegment returns a value for each segment of each message.
func perSegment[T any](hosts []pagevm.HostMessage) [][]T {
	n := 0
	for i := range hosts {
		n += len(hosts[i].Segments)
	}
	all, out := make([]T, n), make([][]T, len(hosts))
	for i := range hosts {
		n := len(hosts[i].Segments)
		out[i], all = all[:n:n], all[n:]
	}
	return out
}

// levelNames are the names that each level of a segment shows.
type levelNames [pagevm.Full + 1][]represent.Name

func namesOf(c *call, texts map[string]string, m *memkernel.Message, s *pagevm.Segment) (names levelNames) {
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

// saidIn returns the text of a run of parts, including tool inputs.
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

// dialogueAct returns the act by which words or a tool's input came into the conversation, and the
// segment's state. i is the index of the segment's message.
func dialogueAct(c *call, i int, s *pagevm.Segment, named func(string) int) (act toolcall.Act, state pagevm.State) {
	act = toolcall.ActUser
	if c.Msgs[i].Role == memkernel.RoleAssistant {
		act = toolcall.ActSay
	}
	for _, p := range c.SegmentParts(i, s) {
		if p.Call == nil {
			continue
		}
		if call := c.shown(p.Call); call.Kind == toolcall.CallEdit {
			switch act = toolcall.ActEdit; {
			case c.did().replaced(call, i+2): // the next message has the call's result
				state = pagevm.TextGone
			case c.did().done(call, named):
				state = pagevm.TaskDone
			default:
				state = pagevm.InWork
			}
		}
	}
	if s.Lowest(true) < pagevm.Full { // mostly pasted text: every level shows the person's request
		act, state = toolcall.ActRead, pagevm.Ordinary
		if c.Places[i].Opener {
			state = pagevm.InWork
		}
	}
	return act, state
}

// unescape undoes those JSON escapes in a call's input that could hide names.
var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\/`, "/")
