package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Write stages, validates and commits updates of pages.
func (d *Desk) Write(ctx context.Context, req api.WriteRequest) (*journal.Receipt, error) {
	return session.In(ctx, d.Sessions, req.SessionKey, func(s *session.Session) (r *journal.Receipt, err error) {
		tx := journal.Transaction{Key: req.Key, Time: d.at(req.Now), Point: cmp.Or(req.Point, journal.PointFlush), AllOrNothing: req.AllOrNothing,
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
	req.Now = d.at(req.Now)
	named := func(out *api.Remembered, err error) (*api.Remembered, error) {
		if err != nil {
			return nil, fmt.Errorf("remember: %w", err)
		}
		return out, nil
	}
	if req.Voice != "" {
		return named(d.rememberByHand(ctx, &req))
	}
	return session.In(ctx, d.Sessions, req.SessionKey, func(s *session.Session) (*api.Remembered, error) { return named(d.remember(ctx, s, req)) })
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
	text = consolidation.AsAgent(text)
	if !slices.Contains(req.Tags, consolidation.Human) {
		text = consolidation.ByAgent(req.Path, text)
	}
	text = consolidation.TagEntry(text, consolidation.MakeTags(req.Tags...))
	if err := session.Appendable(store, req.Path); err != nil {
		return nil, err
	}
	switch c, _ := markdownstore.Classify(req.Path); {
	case req.ID == "":
		req.ID = ingest.PageID("me", s.Name, req.Path, text)
	case !strings.HasPrefix(req.ID, "me-") && (c.Kind == markdownstore.KindDaily || c.Kind == markdownstore.KindBuffer):
		req.ID = ingest.PageID("me", req.ID) // in a log the kind of an id shows the author
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
		// Without this record the entry is kept all the same, and only its undo is not.
		if edit, err := d.Upkeep.Appended(ctx, s.Name, req.Path, before.Text, missing == nil, req.Now); err == nil {
			out.Edit = edit
		}
	}
	return out, nil
}

// remembered returns the author of a text to remember. The author is the agent, unless the request
// says that the user asked for the text. For the log of a day it returns no lines, because nobody
// may change such a log. Lines that are already in the file are left out, because a caller that
// repeats a line is not its author.
func remembered(files *markdownstore.Store, req *api.RememberRequest, text string) upkeep.Heard {
	h := upkeep.Heard{ID: req.ID, Path: req.Path, Lines: map[string]consolidation.Origin{}, Now: req.Now}
	if c, ok := markdownstore.Classify(req.Path); !ok || c.Kind == markdownstore.KindDaily {
		return h
	}
	o := consolidation.OriginAgent
	if slices.Contains(req.Tags, consolidation.Human) {
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
