package policies

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/replay"
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
	replay.History
	compactions int
}

func newClaudeCode(rec *replay.Recording) replay.Chooser {
	return &claudeCode{History: replay.NewHistory(rec)}
}

func (p *claudeCode) Choose(req replay.Request) (c replay.Choice) {
	if p.Rec.Opt.FixedTokens+p.Tokens(req.End) > claudeCodeMark(req) {
		p.compactions++
		c.Cut = "full"
		c.Summarise(p.Tokens(req.End), p.Rec.Sum(p.Rec.Seen(req.N), req.End), claudeCodeSummary)
		p.Lead = append([]replay.Item{p.Rec.Summary(p.compactions, claudeCodeSummary)}, p.files(req.End)...)
		p.From = req.End
	}
	c.Items = p.Items(req.End)
	return c
}

// claudeCodeMark returns the size from which on a prompt is compacted; of a window that
// is too small for the rule, half.
func claudeCodeMark(req replay.Request) int {
	out := min(cmp.Or(req.Model.MaxOutput, claudeCodeOutput), claudeCodeOutput)
	return max(req.Window-out-claudeCodeBuffer, req.Window/2)
}

// files returns the newest read of each of the files that were read last, newest first,
// the beginning of those that are large.
func (p *claudeCode) files(end int) (out []replay.Item) {
	calls := map[string]*memkernel.ToolCall{}
	for i := range p.Rec.Messages[:end] {
		for j := range p.Rec.Messages[i].Parts {
			if call := p.Rec.Messages[i].Parts[j].Call; call != nil {
				calls[call.ID] = call
			}
		}
	}
	seen := map[string]bool{}
	for i := end - 1; i >= 0; i-- {
		for j := len(p.Rec.Messages[i].Parts) - 1; j >= 0; j-- {
			part := &p.Rec.Messages[i].Parts[j]
			if part.Result == nil || part.Result.IsError {
				continue
			}
			path := readPath(calls[part.Result.CallID])
			text, media := replay.ResultText(part)
			if path == "" || seen[path] || media {
				continue
			}
			seen[path] = true
			hash := "file " + strconv.Itoa(p.compactions) + "/" + strconv.Itoa(len(out)+1)
			out = append(out, cutText(p.Rec, hash, "["+path+"]\n", text, claudeCodeFileTokens))
			if len(out) == claudeCodeFiles {
				return out
			}
		}
	}
	return out
}

// cut returns a note of a heading and as many whole lines from the beginning of a text as
// take at most so many tokens.
func cutText(r *replay.Recording, hash, head, text string, most int) replay.Item {
	it := r.Note(hash, head+text)
	for it.Tokens > most && text != "" {
		n := min(len(text)-1, int(float64(len(text))*float64(most)/float64(it.Tokens)))
		text = text[:strings.LastIndexByte(text[:n], '\n')+1]
		it = r.Note(hash, head+text)
	}
	return it
}

// readPath returns the file that a call reads, "" if it reads none.
func readPath(call *memkernel.ToolCall) string {
	if call == nil {
		return ""
	}
	if kind, paths := toolcall.Classify(call.Name, call.Input); kind == toolcall.CallRead && len(paths) > 0 {
		return paths[0]
	}
	return ""
}
