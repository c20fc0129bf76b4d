package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/transcript"
)

// Write stages, validates and commits updates of pages.
func (d *Desk) Write(ctx context.Context, req api.WriteRequest) (*journal.Receipt, error) {
	return session.In(ctx, d.Sessions, "", req.SessionKey, func(s *session.Session) (r *journal.Receipt, err error) {
		tx := journal.Transaction{Key: req.Key, Time: d.At(req.Now), Point: cmp.Or(req.Point, journal.PointFlush), AllOrNothing: req.AllOrNothing,
			By: journal.Principal{Name: cmp.Or(req.By, "host"), Session: s.Name, Project: req.Project}}
		var scope memkernel.Scope
		if tx.Updates, scope, err = session.Masked(s.Masker, req.Updates); err == nil && tx.Key == "" {
			var raw []byte
			raw, err = json.Marshal(tx.Updates)
			tx.Key = ingest.PageID("wr", s.Name, string(raw))
		}
		if err != nil {
			return nil, fmt.Errorf("write to session %s: %w", s.Key, err)
		}
		tx.Key = "write:" + tx.Key
		write := func(to *session.Session) error {
			got, err := to.Writeback(tx, s)
			if err != nil {
				to.Invalidate()
				return fmt.Errorf("write to session %s: %w", s.Key, err)
			}
			r = &got
			return nil
		}
		if scope == memkernel.ScopeProject {
			err = d.Sessions.WriteFolder(ctx, folder.Project, write)
		} else {
			err = write(s)
		}
		return r, err
	})
}

// Remember appends a text to a file of the workspace, durably and once.
func (d *Desk) Remember(ctx context.Context, req api.RememberRequest) (*api.Remembered, error) {
	if d.Memory == nil {
		return nil, errors.New("remember: memory is switched off")
	}
	req.Now = d.At(req.Now)
	named := func(out *api.Remembered, err error) (*api.Remembered, error) {
		if err != nil {
			return nil, fmt.Errorf("remember: %w", err)
		}
		return out, nil
	}
	if req.Voice != "" {
		return named(d.rememberByHand(ctx, &req))
	}
	return session.In(ctx, d.Sessions, "", req.SessionKey, func(s *session.Session) (*api.Remembered, error) { return named(d.remember(ctx, s, req)) })
}

func (d *Desk) rememberByHand(ctx context.Context, req *api.RememberRequest) (*api.Remembered, error) {
	if strings.TrimSpace(req.Text) == "" {
		return nil, errNoText
	}
	if req.Path == "" {
		req.Path = d.Memory.Store(req.Private).DailyPath(req.Now)
	}
	e, err := editing(ctx, d, "", req.Voice, req.Private, req.Now, func(e upkeep.Editor) (*api.EntryEdited, error) {
		return d.Upkeep.Add(ctx, e, req.Path, req.Text)
	})
	if err != nil {
		return nil, err
	}
	d.Memory.Sync.Written()
	return &api.Remembered{Ref: memkernel.Ref{Path: e.Path, StartLine: e.Line, EndLine: e.EndLine}, Duplicate: e.Duplicate, Masked: e.Masked, Edit: e.Edit, Text: e.After}, nil
}

var errNoText = errors.New("there is nothing to keep: the text is empty")

func (d *Desk) remember(ctx context.Context, s *session.Session, req api.RememberRequest) (*api.Remembered, error) {
	text, masked := s.Masker.Mask(strings.ToValidUTF8(req.Text, "\uFFFD"))
	if strings.TrimSpace(text) == "" {
		return nil, errNoText
	}
	store := d.Memory.Store(req.Private)
	if req.Path == "" {
		req.Path = store.DailyPath(req.Now)
	}
	text = consolidation.Remembered(req.Path, text, req.Tags)
	if err := session.Appendable(store, req.Path); err != nil {
		return nil, err
	}
	switch c, _ := markdownstore.Classify(req.Path); {
	case req.ID == "":
		req.ID = ingest.PageID("me", s.Name, req.Path, text)
	case !strings.HasPrefix(req.ID, "me-") && (c.Kind == markdownstore.KindDaily || c.Kind == markdownstore.KindBuffer):
		req.ID = ingest.PageID("me", req.ID) // in a log, the beginning of an id shows the kind of author
	}
	if err := d.Upkeep.Hear(ctx, remembered(store, &req, text)); err != nil {
		return nil, err
	}
	before, missing := store.ReadFile(req.Path)
	a, err := s.Remember(ctx, req.ID, workstate.Entry{Path: req.Path, Text: text, Private: req.Private}, req.Evidence, req.Now)
	if kept := (*session.UnwrittenError)(nil); errors.As(err, &kept) {
		return &api.Remembered{ID: kept.ID, Ref: memkernel.Ref{Path: kept.Path}, Masked: masked, Unwritten: kept.Error()}, nil
	}
	if err != nil {
		s.Invalidate()
		return nil, err
	}
	d.Memory.Sync.Written()
	out := &api.Remembered{ID: req.ID, Ref: a.Ref, Duplicate: a.Existed, Late: a.Late, Masked: masked}
	if req.Undo && !a.Existed && a.Late == "" {
		// If this record fails, the entry is kept all the same, but it can't be undone.
		if edit, err := d.Upkeep.Appended(ctx, s.Name, req.Path, before.Text, missing == nil, req.Now); err == nil {
			out.Edit = edit
		}
	}
	return out, nil
}

// remembered returns the author of each line of a text to remember. The author is the agent, unless
// the request reports that the user asked for the text. For the log of a day it returns no lines,
// because nobody may change such a log. It leaves out lines that are already in the file, because a
// caller that repeats a line is not its author.
func remembered(files *markdownstore.Store, req *api.RememberRequest, text string) upkeep.Heard {
	h := upkeep.Heard{ID: req.ID, Path: req.Path, Lines: map[string]consolidation.Origin{}, Now: req.Now}
	if c, ok := markdownstore.Classify(req.Path); !ok || c.Kind == markdownstore.KindDaily {
		return h
	}
	o := consolidation.OriginAgent
	if req.Tags.Said() {
		o = consolidation.OriginWords
	}
	for l := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(l) != "" {
			h.Lines[consolidation.LineHash(l)] = o
		}
	}
	if now, err := files.ReadFile(req.Path); err == nil {
		for l := range strings.SplitSeq(now.Text, "\n") {
			delete(h.Lines, consolidation.LineHash(l))
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		clear(h.Lines) // the file's lines are unknown
	}
	return h
}

// hearWrites records the lines that the calls of a turn wrote into memory's files. It must run
// before the commit, because a turn that is delivered again after the commit is a duplicate. Lines
// that can't be recorded are reported as a fault, and then count as a person's.
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
		return "" // files that tools write into an additional folder are not memory's
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

// leastSaid is the least length, in bytes, of a line that occurs in other texts only because it was
// copied.
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

// evidence holds the texts of a conversation before a call, by author. stood are texts with lines
// that may have been in the file before.
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
			e.tools = append(e.tools, quoted) // a person pasted this text and did not type it
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

// origin returns the author of the line with a key. It returns "" if the line may have been in the
// file before, or is too short to identify an author.
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
