// Package fetch follows a pointer of a session to the stored content: a page, a span, a blob, a
// checkpoint, or the whole of a capped list. Known content that can't be read is reported as a
// fault, never as empty. The package writes nothing.
package fetch

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/erasure"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/summary"
)

// Get returns the content that a session's pointer names. none returns the error for a session
// without kept data.
func Get(state store.Store, s *session.Session, id string, none func(key string) string) (*api.Content, error) {
	page, from, to := archive.CutLines(id)
	c, err := Of(s, page)
	if store.OutOfReach(err) {
		return nil, fmt.Errorf("get %s of session %s: %w", id, s.Key, err)
	}
	if err != nil {
		return lost(id, err), nil
	}
	if c.Reason == api.GetNoMatch {
		if e, err := ended(state, s.Key, page); e != nil || err != nil {
			return e, err
		}
		if c.Detail == "" && !s.Keeps() {
			there, err := store.Find(s.Files, "")
			if err != nil {
				return nil, err
			}
			if !there {
				c.Detail = none(s.Key)
			}
		}
	}
	if c.Reason != api.GetOK {
		return c, nil
	}
	if from > 0 {
		c.ID = id
		if c.Page != nil {
			c.Text = archive.Plain(c.Page, c.Text)
		}
		c.Text = archive.LinesOf(c.Text, from, to)
	}
	if n := mask.Marks(c.Text); n > 0 && c.Detail == "" {
		c.Detail = fmt.Sprintf("secrets were masked when this was stored: at %d places it reads [masked:…] where the original has a value, so it must not be written back as it is", n)
	}
	return c, nil
}

// lost returns the answer for content that is known and can't be read.
func lost(id string, err error) *api.Content {
	return &api.Content{ID: id, Reason: api.GetBackendError, Detail: err.Error(),
		Fault: &fault.Fault{Code: fault.SilentRecall, Page: id, Cause: api.GetBackendError, Detail: err.Error()}}
}

// Of returns the content that a session's pointer names. It returns an error if the content is
// known and can't be read.
func Of(s *session.Session, id string) (*api.Content, error) {
	if store.IsHash(id) {
		return blob(s, id)
	}
	if workstate.IsCheckpoint(id) {
		return checkpoint(s, id)
	}
	if p := s.Pages[id]; p != nil {
		text, err := s.Reader().Content(p)
		if errors.Is(err, archive.ErrRetired) {
			return gone(id, s.Graves.Retirement(id), "its content is no longer kept"), nil
		}
		if err != nil {
			return nil, err
		}
		return &api.Content{ID: id, Reason: api.GetOK, Text: text, Page: p, References: archive.References(p, text)}, nil
	}
	if g, ok := s.Graves.Burial(id); ok {
		return gone(id, g, "it was forgotten"), nil
	}
	if sp, ok := s.Spans[id]; ok {
		return span(s, sp)
	}
	if st, ok := list(s, id); ok {
		return &api.Content{ID: id, Reason: api.GetOK, Text: st}, nil
	}
	return &api.Content{ID: id, Reason: api.GetNoMatch}, nil
}

func blob(s *session.Session, hash string) (*api.Content, error) {
	b, err := s.Blobs.Get(hash)
	if forgotten, buried := s.Graves.GoneBlob(hash); buried && (errors.Is(err, fs.ErrNotExist) || err == nil && forgotten) && !s.Erasable().Holds(hash) {
		return &api.Content{ID: hash, Reason: api.GetForgotten, Detail: "what it belonged to was forgotten, or is no longer kept"}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &api.Content{ID: hash, Reason: api.GetNoMatch}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", hash, err)
	}
	return &api.Content{ID: hash, Reason: api.GetOK, Text: string(b)}, nil
}

// span joins the pages of a span. A line above each page names the page.
func span(s *session.Session, sp branch.Span) (*api.Content, error) {
	c := &api.Content{ID: sp.ID, Reason: api.GetOK, Pages: sp.Pages}
	var b strings.Builder
	r := s.Reader()
	for _, id := range sp.Pages {
		p := s.Pages[id]
		if p == nil {
			if _, buried := s.Graves.Forgotten(id); buried {
				fmt.Fprintf(&b, "--- %s\n%s\n", id, ingest.ForgottenPart)
			}
			continue
		}
		text, err := r.Content(p)
		if errors.Is(err, archive.ErrRetired) {
			text, err = "[no longer kept]", nil
		}
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "--- %s %s %s\n%s\n", p.ID, p.Role, p.Tool, text)
	}
	c.Text = b.String()
	return c, nil
}

// gone returns the answer for content that was forgotten or removed by retention.
func gone(id string, g erasure.Grave, what string) *api.Content {
	detail := what
	if !g.Time.IsZero() {
		detail += " on " + g.Time.UTC().Format("2006-01-02")
	}
	if r := strings.TrimSpace(g.Reason); r != "" {
		detail += ": " + r
	}
	return &api.Content{ID: id, Reason: api.GetForgotten, Detail: detail}
}

// pageForm is how the ids of pages and spans look.
var pageForm = regexp.MustCompile(`^[a-z]{2}-[0-9a-f]{16}\b`)

// ended returns the answer for content of an ended session with a key. It returns nil if no
// session with the key has ended.
func ended(state store.Store, key, id string) (*api.Content, error) {
	if !store.IsHash(id) && !workstate.IsCheckpoint(id) && !pageForm.MatchString(id) {
		return nil, nil
	}
	e, at, err := folder.EndOf(state, key)
	if e == nil || err != nil {
		return nil, err
	}
	return gone(id, erasure.Grave{Reason: e.Reason, Time: at}, "its session ended"), nil
}

// list returns the whole list to which a capped summary points. The id is the summary's page, a
// dot, and the list's name.
func list(s *session.Session, id string) (string, bool) {
	page, kind, _ := strings.Cut(id, ".")
	for _, l := range s.Branches.All {
		if page == ids.Page("su", s.Name, l.Branch) {
			text := summary.List(l.Summary, kind)
			if n, err := turn.NotesOf(s, l.Branch); err == nil && kind == summary.KindNotes {
				text = summary.ListNotes(n)
			}
			return text, text != ""
		}
	}
	return "", false
}

// checkpoint returns the text of a checkpoint, or one section in full.
func checkpoint(s *session.Session, id string) (*api.Content, error) {
	text, note, ok, err := workstate.CheckpointText(s.Files, id)
	if err != nil || !ok {
		return &api.Content{ID: id, Reason: api.GetNoMatch}, err
	}
	return &api.Content{ID: id, Reason: api.GetOK, Detail: note, Text: text}, nil
}
