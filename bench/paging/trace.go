package paging

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/transcript"
)

// unitTokens is the number of tokens in a unit of trace-derived workloads. It is the cost of a
// pointer in a real prompt. With it, the paper's budget of 300 is 15,000 tokens.
const unitTokens = 50

// bytesPerToken converts sizes of texts into tokens. The estimate is good enough to compare
// policies on equal terms.
const bytesPerToken = 4

// traceBudget is the budget of table 10, in units.
const traceBudget = 300

// fromTranscript makes a workload of the first turns model calls of a recorded session, or of all
// calls if turns is 0. Sizes are units of unitTokens.
//
//   - A turn is one model call. A page of evidence is a file, by its canonical path,
//     or the result of any other call, by its canonical form.
//   - Two calls are equal if their canonical forms are, and no edit of their file is between them.
//   - A call on a file demands the file's page, and so does a turn whose words or
//     arguments name the file.
//   - An edit makes the plan page dirty: the page is the agent's progress so far.
//   - The host's compactions keep their places; the session ends with the last turn.
func fromTranscript(s *transcript.Session, name string, turns int) *workload {
	t := &tracer{builder: build(name, "main"), pages: map[string]string{}, edits: map[string]int{}, names: map[string]string{}}
	t.builder.page("main", "bootstrap", pagevm.Bootstrap, paging.PinNone, 1, 40, 0, 12, 0)
	t.plan = t.builder.page("main", "plan", pagevm.Plan, paging.PinNone, 2, 8, 0, 3, 1)
	sizes := resultSizes(s)
	for i := range s.Messages {
		m := &s.Messages[i]
		switch {
		case m.Branch != "" || m.Origin == memkernel.OriginSynthetic:
		case m.Origin == memkernel.OriginSummary:
			t.compaction()
		case m.Role == memkernel.RoleAssistant:
			if turns > 0 && len(t.w.Turns) == turns {
				return t.end()
			}
			t.model(m, sizes)
		}
	}
	return t.end()
}

// resultSizes returns the size of every call's result in bytes.
func resultSizes(s *transcript.Session) map[string]int {
	out := map[string]int{}
	for i := range s.Messages {
		for j := range s.Messages[i].Parts {
			if r := s.Messages[i].Parts[j].Result; r != nil {
				for k := range r.Content {
					out[r.CallID] += len(r.Content[k].Text)
				}
			}
		}
	}
	return out
}

// tracer reads a session into a workload.
type tracer struct {
	*builder
	plan  string
	pages map[string]string // path or canonical call to page id
	names map[string]string // base name of a file to page id
	edits map[string]int    // number of edits so far, by path
}

// compaction adds a compaction at the end of the previous turn. Hosts record a compaction as a
// mark and a summary, which together count as one.
func (t *tracer) compaction() {
	if n := len(t.w.Turns); n > 0 {
		if last := &t.w.Turns[n-1]; !slices.Contains(last.Events, eventCompaction) {
			last.event(eventCompaction)
		}
	}
}

func (t *tracer) end() *workload {
	if n := len(t.w.Turns); n > 0 {
		t.w.Turns[n-1].event(eventSessionEnd)
	}
	return &t.w
}

// model reads one call of the model, with the tools that the call ran.
func (t *tracer) model(m *memkernel.Message, sizes map[string]int) {
	turn := t.turn("main")
	for i := range m.Parts {
		p := &m.Parts[i]
		t.mention(turn, p.Text)
		if p.Call != nil {
			t.mention(turn, p.Call.Input)
			t.tool(turn, p.Call, sizes[p.Call.ID])
		}
	}
}

// shortestName is the length from which a file's base name in a text counts as a mention of the
// file.
const shortestName = 6

// mention makes a turn demand the pages of the files that a text names.
func (t *tracer) mention(turn *turn, text string) {
	if text == "" {
		return
	}
	var found []string
	for name, id := range t.names {
		if !slices.Contains(turn.Demand, id) && strings.Contains(text, name) {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	turn.demand(slices.Compact(found)...)
}

// tool adds a tool call.
func (t *tracer) tool(turn *turn, c *memkernel.ToolCall, bytes int) {
	file := toolcall.Read(c.Name, c.Input).Path()
	canonical := toolcall.Canonical(c.Name, c.Input)
	key := file
	if key == "" {
		key = canonical
	}
	id, known := t.pages[key]
	if known && !slices.Contains(turn.Demand, id) && file != "" {
		turn.demand(id)
	}
	if toolcall.Read(c.Name, c.Input).Kind == toolcall.CallEdit {
		t.edits[file]++
		if !slices.Contains(turn.Dirty, t.plan) {
			turn.Dirty = append(turn.Dirty, t.plan)
		}
	}
	if !known {
		id = t.add(key, file, bytes)
	}
	turn.Calls = append(turn.Calls, call{Signature: fmt.Sprintf("%s#%d", canonical, t.edits[file]), Page: id})
}

// add makes a page for a file or a call's result.
func (t *tracer) add(key, file string, bytes int) string {
	full := units(bytes)
	id := fmt.Sprintf("evidence-%04d", len(t.pages)+1)
	t.pages[key] = id
	t.page("main", id, pagevm.Evidence, paging.PinNone, 1, full, share(full, 0.4), min(share(full, 0.15), 6), 1)
	if base := path.Base(file); file != "" && len(base) >= shortestName && strings.Contains(base, ".") {
		t.names[base] = id
	}
	return id
}

// units returns a size in token units, at least 1.
func units(bytes int) int {
	const unit = unitTokens * bytesPerToken
	return max((bytes+unit-1)/unit, 1)
}

// share returns a part of a cost, rounded up.
func share(n int, part float64) int { return max(int(float64(n)*part+0.999), 1) }
