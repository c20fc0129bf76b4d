package replay

import (
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// Claude Code's rule for compacting by itself (its program, 2026): the prompt may grow to
// the window less what a summary may take and a buffer, which is 167,000 of 200,000
// tokens. Everything is then replaced by a summary, of which the size is what recorded
// ones have, and by the files that were read last, read again.
const (
	claudeCodeOutput     = 20_000
	claudeCodeBuffer     = 13_000
	claudeCodeSummary    = 4_500
	claudeCodeFiles      = 5
	claudeCodeFileTokens = 5_000
)

// claudeCode appends until the prompt is over Claude Code's mark, and compacts as it does.
type claudeCode struct {
	history
	compactions int
}

func newClaudeCode(rec *recording) *claudeCode { return &claudeCode{history: newHistory(rec)} }

func (p *claudeCode) choose(req request) (c choice) {
	if p.rec.opt.FixedTokens+p.tokens(req.end) > claudeCodeMark(req) {
		p.compactions++
		c.cut = "full"
		c.summarise(p.tokens(req.end), p.rec.sum(p.rec.seen(req.n), req.end), claudeCodeSummary)
		p.lead = append([]item{p.rec.summary(p.compactions, claudeCodeSummary)}, p.files(req.end)...)
		p.from = req.end
	}
	c.items = p.items(req.end)
	return c
}

// claudeCodeMark returns the size from which on a prompt is compacted; of a window that
// is too small for the rule, half.
func claudeCodeMark(req request) int {
	out := min(orElse(req.model.MaxOutput, claudeCodeOutput), claudeCodeOutput)
	return max(req.window-out-claudeCodeBuffer, req.window/2)
}

// files returns the newest read of each of the files that were read last, newest first,
// the beginning of those that are large.
func (p *claudeCode) files(end int) (out []item) {
	calls := map[string]*memkernel.ToolCall{}
	for i := range p.rec.msgs[:end] {
		for j := range p.rec.msgs[i].Parts {
			if call := p.rec.msgs[i].Parts[j].Call; call != nil {
				calls[call.ID] = call
			}
		}
	}
	seen := map[string]bool{}
	for i := end - 1; i >= 0; i-- {
		for j := len(p.rec.msgs[i].Parts) - 1; j >= 0; j-- {
			part := &p.rec.msgs[i].Parts[j]
			if part.Result == nil || part.Result.IsError {
				continue
			}
			path := readPath(calls[part.Result.CallID])
			text, media := textOf(part)
			if path == "" || seen[path] || media {
				continue
			}
			seen[path] = true
			hash := "file " + strconv.Itoa(p.compactions) + "/" + strconv.Itoa(len(out)+1)
			out = append(out, p.rec.cut(hash, "["+path+"]\n", text, claudeCodeFileTokens))
			if len(out) == claudeCodeFiles {
				return out
			}
		}
	}
	return out
}

// cut returns a note of a heading and as many whole lines from the beginning of a text as
// take at most so many tokens.
func (r *recording) cut(hash, head, text string, most int) item {
	it := r.note(hash, head+text)
	for it.tokens > most && text != "" {
		n := min(len(text)-1, int(float64(len(text))*float64(most)/float64(it.tokens)))
		text = text[:strings.LastIndexByte(text[:n], '\n')+1]
		it = r.note(hash, head+text)
	}
	return it
}
