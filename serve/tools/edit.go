package tools

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// edited is the answer of memory_update, memory_delete and memory_undo.
type edited struct {
	said
	// Edit is the id of the edit, for memory_undo.
	Edit string `json:"edit,omitempty"`
	Path string `json:"path,omitempty"`
	// Version is the file's version after the edit, "" if the file is gone. StartLine and EndLine
	// are the written lines.
	Version   string `json:"version,omitempty"`
	StartLine int    `json:"startLine,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	// Files are the files that an undo restored.
	Files []string `json:"files,omitempty"`
	// Duplicate reports whether the edit was made before and is still in place. Masked counts
	// secrets that were masked.
	Duplicate bool `json:"duplicate,omitempty"`
	Masked    int  `json:"masked,omitempty"`
	// Current is the present state of the file, with CONFLICT.
	Current *current `json:"current,omitempty"`
}

// current is the present state of a file that has changed since it was read.
type current struct {
	Version string `json:"version,omitempty"`
	Text    string `json:"text"`
	// From is the first line of Text. Lines is the number of its lines. Total is the number of
	// lines of the file.
	From  int `json:"from,omitempty"`
	Lines int `json:"lines,omitempty"`
	Total int `json:"total,omitempty"`
}

// off returns the reason why memory can't be changed, "" if it can be changed.
func (s *Set) off() string {
	off := s.disabled()
	if off == "" && s.k.Editor().Rule() == api.EditNone {
		off = api.ErrEditsOff.Error()
	}
	return off
}

// edit replaces a passage, or removes it for a tool that takes no text.
func (s *Set) edit(ctx context.Context, a args) (answer, error) {
	_, replaces := a["text"]
	if off := s.off(); off != "" {
		return &edited{said: disabledBy(off)}, nil
	}
	e, err := s.k.Editor().Passage(ctx, api.PassageRequest{SessionKey: s.opts.SessionKey, Path: a.text("path"), Old: a.text("old"), Version: a.text("version"),
		From: int(a.number("from")), Lines: int(a.number("lines")), Text: a.text("text"), Delete: !replaces, Private: s.opts.Private})
	if err != nil {
		return refusal(ctx, a.text("path"), err)
	}
	out := &edited{said: said{Reason: reasonOK}, Edit: e.Edit, Duplicate: e.Duplicate, Masked: e.Masked}
	for _, f := range e.Files {
		out.Path, out.Version, out.StartLine, out.EndLine = f.Path, f.Version, f.StartLine, f.EndLine
	}
	if e.Edit == "" {
		out.Detail = "it said that already"
	}
	return out, nil
}

// entries is the answer of memory_list.
type entries struct {
	said
	Entries []api.MemoryEntry `json:"entries"`
	Total   int               `json:"total"`
}

// usualListed and maxListed are how many entries memory_list returns, by default and at most.
const usualListed, maxListed = 20, 200

func (s *Set) list(ctx context.Context, a args) (answer, error) {
	out := &entries{Entries: []api.MemoryEntry{}}
	if off := s.disabled(); off != "" {
		out.say(disabledBy(off))
		return out, nil
	}
	l, err := s.k.Editor().List(ctx, api.ListRequest{Path: a.text("path"), Max: cmp.Or(int(a.number("maxResults")), usualListed), Private: s.opts.Private})
	if err != nil {
		return out, err
	}
	return &entries{said{Reason: reasonOK}, l.Entries, l.Total}, nil
}

func (s *Set) undo(ctx context.Context, a args) (answer, error) {
	if off := s.off(); off != "" {
		return &edited{said: disabledBy(off)}, nil
	}
	u, err := s.k.Editor().Undo(ctx, api.UndoRequest{SessionKey: s.opts.SessionKey, Edit: a.text("edit"), Private: s.opts.Private})
	if err != nil {
		out, err := refusal(ctx, "", err)
		if err != nil {
			out.Edit = a.text("edit")
		}
		return out, err
	}
	out := &edited{said: said{Reason: reasonOK}, Edit: u.Edit, Files: []string{}}
	for _, f := range u.Files {
		out.Files = append(out.Files, f.Path)
	}
	if len(u.Files) == 1 {
		out.Path, out.Version = u.Files[0].Path, u.Files[0].Version
	}
	return out, nil
}

// refusal returns the answer to an edit that was not made.
func refusal(ctx context.Context, path string, err error) (*edited, error) {
	out := &edited{said: broken(err), Path: path}
	var stale *api.StaleError
	var person *api.PersonError
	var secret *api.SecretError
	switch {
	case errors.As(err, &stale):
		out.Reason, out.Path = reasonConflict, stale.Path
		out.Current = &current{Version: stale.Version, Text: stale.Text, From: stale.StartLine, Total: stale.Lines}
		if stale.StartLine > 0 {
			out.Current.Lines = stale.EndLine - stale.StartLine + 1
		}
	case errors.As(err, &person):
		out.Reason, out.Path, out.StartLine, out.EndLine = reasonPerson, person.Path, person.StartLine, person.EndLine
	case errors.As(err, &secret):
		out.Reason, out.Path = reasonSecret, secret.Path
	case errors.As(err, new(*api.EditError)):
		out.Reason = reasonRefused
	case errors.Is(err, markdownstore.ErrDenied):
		out.Reason = reasonDenied
	case failed(ctx, err):
		return out, err
	}
	return out, nil
}

// kept is the answer of memory_append.
type kept struct {
	said
	// ID is the id of the entry. Path and the lines are the place of the entry.
	ID        string `json:"id,omitempty"`
	Path      string `json:"path,omitempty"`
	StartLine int    `json:"startLine,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	// Duplicate reports whether the entry existed before. Late is the past day's log that the
	// entry was meant for. Masked counts secrets that were masked.
	Duplicate bool   `json:"duplicate,omitempty"`
	Late      string `json:"late,omitempty"`
	Masked    int    `json:"masked,omitempty"`
}

func (s *Set) append(ctx context.Context, a args) (answer, error) {
	out := &kept{Path: a.text("path")}
	if off := s.disabled(); off != "" {
		return &kept{said: disabledBy(off)}, nil
	}
	text := a.text("text")
	if strings.TrimSpace(text) == "" {
		return out, &argumentError{Tool: memoryAppend, Argument: "text", Problem: "it is empty"}
	}
	r, err := s.k.Remember(ctx, api.RememberRequest{SessionKey: s.opts.SessionKey, Text: text, Path: out.Path, Private: s.opts.Private, Undo: true})
	var refused *journal.RejectionError
	switch {
	case errors.Is(err, markdownstore.ErrDenied):
		out.Reason, out.Detail = reasonDenied, err.Error()
		return out, nil
	case errors.As(err, &refused):
		out.Reason, out.Detail = refused.Code, refused.Detail
		return out, nil
	case err != nil:
		return out, err
	}
	return &kept{said: said{Reason: reasonOK, Detail: r.Unwritten}, ID: r.ID, Path: r.Ref.Path, StartLine: r.Ref.StartLine, EndLine: r.Ref.EndLine,
		Duplicate: r.Duplicate, Late: r.Late, Masked: r.Masked}, nil
}
