package turn

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/transcript"
)

// hearWrites records the lines that the calls of a turn wrote into memory's files. It must run
// before the turn is committed: delivered again after a kill, the turn would be a duplicate. A
// line that can't be recorded is reported as a fault. It is then taken for a line that a person
// wrote.
func (d *Desk) hearWrites(ctx context.Context, s *session.Session, msgs []memkernel.Message, t api.Turn) []fault.Fault {
	if d.Memory == nil {
		return nil
	}
	var out []fault.Fault
	for i := ingest.Unseen(s.Account.Observed[t.Branch].Offset.Key, msgs); i < len(msgs); i++ {
		for j := range msgs[i].Parts {
			c := msgs[i].Parts[j].Call
			if c == nil || !strings.Contains(c.Input, ".md") {
				continue
			}
			kind, paths := toolcall.Classify(c.Name, c.Input)
			if kind != toolcall.CallEdit {
				continue
			}
			var r *memkernel.ToolResult // the answer to the call
			for _, m := range slices.Backward(msgs[i+1:]) {
				for _, part := range slices.Backward(m.Parts) {
					if part.Result != nil && part.Result.CallID == c.ID {
						r = part.Result // the first one counts
					}
				}
			}
			if r == nil || r.IsError || r.Synthetic {
				continue
			}
			for _, p := range paths {
				if p = d.memoryPath(p); p == "" {
					continue
				}
				h := d.heard(s, msgs[:i], c, r, p)
				h.ID, h.Now = ingest.PageID("said", s.Name, t.Branch, c.ID, ingest.Hash(c.Input)), t.Now
				if err := d.Upkeep.Hear(ctx, h); err != nil {
					out = append(out, fault.Fault{Code: fault.Net, Key: msgs[i].Key, Cause: p, Detail: "who wrote what was not recorded: " + err.Error()})
				}
			}
		}
	}
	return out
}

// memoryPath returns the path of a call as a path in memory, or "" if the path is not in memory.
func (d *Desk) memoryPath(p string) string {
	files := d.Memory.Private
	if files.Dir() == "" {
		return "" // files that tools write into a folder are not memory's
	}
	if path.IsAbs(p) || filepath.IsAbs(filepath.FromSlash(p)) {
		rest, ok := strings.CutPrefix(p, strings.TrimSuffix(filepath.ToSlash(files.Dir()), "/")+"/")
		if !ok {
			return ""
		}
		p = rest
	}
	if _, ok := files.Classify(p); !ok {
		return ""
	}
	return p
}

// leastSaid is the least length, in bytes, of a line that is not found in other texts by chance.
const leastSaid = 8

// heard returns the lines that a successful call wrote into a file, with the author of each. A
// line that a person typed before is the person's. A line that a tool printed or a person pasted
// is the tool's. A line that was read before, or that is part of the replaced text, was there
// already and is left out.
func (d *Desk) heard(s *session.Session, before []memkernel.Message, c *memkernel.ToolCall, r *memkernel.ToolResult, p string) upkeep.Heard {
	text := toolcall.Written(c.Name, c.Input)
	e := d.evidence(before, p)
	e.stood = append(e.stood, text.Old...)
	h := upkeep.Heard{Path: p, Lines: map[string]consolidation.Origin{}, Whole: text.Whole, Read: e.read || strings.Contains(strings.ToLower(textOf(r)), "created")}
	for _, block := range text.New {
		for l := range strings.SplitSeq(strings.ReplaceAll(block, "\r\n", "\n"), "\n") {
			if o := e.origin(consolidation.LineKey(l)); o != "" && s.Masker.Text(l) == l {
				h.Lines[consolidation.LineHash(l)] = o
			}
		}
	}
	return h
}

// evidence are the texts of a conversation up to a call.
type evidence struct {
	typed, tools, stood []string
	words               []string // typed, as keys
	read                bool     // the file was read or fully written before
}

// evidence sorts the earlier messages by author. A result of a tool that searches memory or reads
// a file may show a person's lines.
func (d *Desk) evidence(msgs []memkernel.Message, p string) *evidence {
	e := &evidence{}
	calls := map[string]*memkernel.ToolCall{}
	for i := range msgs {
		m := &msgs[i]
		own, quoted := transcript.Typed(*m)
		if own != "" {
			e.typed = append(e.typed, own)
			e.words = append(e.words, " "+consolidation.Key(own)+" ")
		}
		if quoted != "" {
			e.tools = append(e.tools, quoted) // a person showed it, and did not say it
		}
		for j := range m.Parts {
			switch part := &m.Parts[j]; {
			case part.Call != nil:
				calls[part.Call.ID] = part.Call
				if strings.Contains(part.Call.Input, ".md") {
					e.stood = append(e.stood, toolcall.Written(part.Call.Name, part.Call.Input).Old...)
				}
			case part.Result != nil:
				c := calls[part.Result.CallID]
				if c == nil {
					e.stood = append(e.stood, textOf(part.Result))
					continue
				}
				kind, paths := toolcall.Classify(c.Name, c.Input)
				for _, q := range paths {
					e.read = e.read || !part.Result.IsError && d.memoryPath(q) == p && (kind == toolcall.CallRead || toolcall.Written(c.Name, c.Input).Whole)
				}
				if kind == toolcall.CallRead || strings.Contains(strings.ToLower(c.Name), "memory") {
					e.stood = append(e.stood, textOf(part.Result))
				} else if kind != toolcall.CallEdit {
					e.tools = append(e.tools, textOf(part.Result))
				}
			case m.Role != memkernel.RoleAssistant && part.Text != "" && quoted == "":
				e.stood = append(e.stood, part.Text) // texts from hosts
			}
		}
	}
	return e
}

// origin returns the author of the line with a key. It returns "" if the line may have been in
// the file already, or is too short to tell its author.
func (e *evidence) origin(key string) consolidation.Origin {
	plain, _ := consolidation.CutTags(key)
	words := consolidation.Key(plain)
	switch {
	case len(key) < leastSaid:
		return ""
	case holds(e.typed, key), len(words) >= leastSaid && holds(e.words, " "+words+" "):
		return consolidation.OriginWords
	case holds(e.stood, key):
		return ""
	case holds(e.tools, key):
		return consolidation.OriginTool
	}
	return consolidation.OriginAgent
}

func holds(texts []string, s string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, s) })
}

// textOf returns the text of a result.
func textOf(r *memkernel.ToolResult) string {
	var b strings.Builder
	for i := range r.Content {
		b.WriteString(r.Content[i].Text)
		b.WriteByte('\n')
	}
	return b.String()
}
