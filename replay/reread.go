package replay

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/replay/recall"
)

// afterCompaction is for how many calls what the agent reads again may be owed to
// its own host's compaction and not to the policy.
const afterCompaction = 30

// rereads finds the recorded reads that a prompt would have caused: every line of
// the result was seen before in results of the same file, so that neither the file
// nor the part of it is new, and some line of it is not in the prompt.
type rereads struct {
	rec   *Recording
	known map[string]map[string]bool // lines seen, by canonical path
	told  int                        // messages looked at
	calls map[string]*memkernel.ToolCall
}

func newRereads(rec *Recording) *rereads {
	return &rereads{rec: rec, known: map[string]map[string]bool{}, calls: map[string]*memkernel.ToolCall{}}
}

// call judges what the agent does after call n with this prompt. Edits are judged
// by their anchors, which the score has.
func (r *rereads) call(c *Call, n int, shown *recall.Prompt) {
	r.learn(r.rec.End(n))
	after := r.rec.after[n]
	judged := after == 0 || after > afterCompaction
	answer := &r.rec.Messages[r.rec.Calls[n].Index]
	for i := range answer.Parts {
		call := answer.Parts[i].Call
		path := ReadPath(call)
		if path == "" {
			continue
		}
		c.Reads++
		if lines := r.resultOf(n, call.ID); judged && r.seen(path, lines) && !showsAll(shown, lines) {
			c.CausedReads++
		}
	}
	if judged {
		c.CausedEdits = c.Recall.Edits - c.Recall.EditsShown
	}
}

// ReadPath returns the file that a call reads, "" if it reads none.
func ReadPath(call *memkernel.ToolCall) string {
	if call == nil {
		return ""
	}
	if kind, paths := toolcall.Classify(call.Name, call.Input); kind == toolcall.CallRead && len(paths) > 0 {
		return paths[0]
	}
	return ""
}

// learn remembers the lines of the results before message end.
func (r *rereads) learn(end int) {
	for ; r.told < end; r.told++ {
		m := &r.rec.Messages[r.told]
		for i := range m.Parts {
			p := &m.Parts[i]
			if p.Call != nil {
				r.calls[p.Call.ID] = p.Call
			}
			if p.Result == nil || p.Result.IsError {
				continue
			}
			if path := ReadPath(r.calls[p.Result.CallID]); path != "" {
				r.keep(path, linesOf(p))
			}
		}
	}
}

func (r *rereads) keep(path string, lines []string) {
	known := r.known[path]
	if known == nil {
		known = map[string]bool{}
		r.known[path] = known
	}
	for _, l := range lines {
		known[l] = true
	}
}

// resultOf returns the result of a call of answer n as lines; none if it
// failed.
func (r *rereads) resultOf(n int, id string) []string {
	end := len(r.rec.Messages)
	if n+1 < len(r.rec.Calls) {
		end = r.rec.Calls[n+1].Index
	}
	for i := r.rec.Calls[n].Index; i < end; i++ {
		for j := range r.rec.Messages[i].Parts {
			p := &r.rec.Messages[i].Parts[j]
			if p.Result != nil && p.Result.CallID == id && !p.Result.IsError {
				return linesOf(p)
			}
		}
	}
	return nil
}

func linesOf(p *memkernel.Part) []string {
	var out []string
	text, _ := ResultText(p)
	for l := range strings.SplitSeq(text, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// seen reports whether all lines were seen in this file; none is nothing seen.
func (r *rereads) seen(path string, lines []string) bool {
	for _, l := range lines {
		if !r.known[path][l] {
			return false
		}
	}
	return len(lines) > 0
}

// showsAll reports whether the prompt shows every line.
func showsAll(shown *recall.Prompt, lines []string) bool {
	for _, l := range lines {
		if !shown.Contains(l) {
			return false
		}
	}
	return true
}
