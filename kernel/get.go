package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/erasure"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/summary"
)

// Content is a page restored by its pointer.
type Content struct {
	// ID is the page, span or blob that was asked for.
	ID string `json:"id"`
	// Reason is OK, or why Text is empty: NO_MATCH, FORGOTTEN, or BACKEND_ERROR for
	// what is known and can't be read. Detail says more.
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	// Fault is silent_recall if content that was stored is gone or damaged.
	Fault *Fault `json:"fault,omitempty"`
	// Text is the content as stored, secrets masked where they were found.
	Text string `json:"text"`
	// Page describes the page; nil for a span or a blob.
	Page *pagevm.Page `json:"page,omitempty"`
	// References are what of the page is stored as blobs.
	References []Reference `json:"references,omitempty"`
	// Pages are the members of a span, in order.
	Pages []string `json:"pages,omitempty"`
}

// The reasons of [Content] that this package gives.
const (
	ReasonOK      = "OK"
	ReasonNoMatch = "NO_MATCH"
	ReasonBackend = "BACKEND_ERROR"
	// ReasonForgotten is that of what was forgotten, or went by retention; Detail says
	// which, and why.
	ReasonForgotten = "FORGOTTEN"
)

// Get restores a page, a span or a blob of a session, byte for byte as stored; an
// id with lines, as a search cites them, gives these lines of what the page says.
// An id that nothing is known of is no error: the content says NO_MATCH. Nor is
// content that is known and gone or damaged: it says BACKEND_ERROR, with the fault,
// and never passes for empty.
func (k *Kernel) Get(ctx context.Context, sessionKey, id string) (*Content, error) {
	s, unlock, err := k.open(ctx, sessionKey, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	page, from, to := archive.CutLines(id)
	c, err := contentOf(s, page)
	if err != nil {
		return lostContent(id, err), nil
	}
	if c.Reason == ReasonNoMatch {
		if e, err := endedContent(k, s.Key, page); e != nil || err != nil {
			return e, err
		}
		if c.Detail == "" && !s.Keeps() && !store.Exists(s.Files, "") {
			c.Detail = fmt.Sprintf("there is no session %q", shortKey(s.Key))
		}
	}
	if from == 0 || c.Reason != ReasonOK {
		return c, nil
	}
	c.ID = id
	if c.Page != nil {
		c.Text = archive.Plain(c.Page, c.Text)
	}
	c.Text = archive.LinesOf(c.Text, from, to)
	return c, nil
}

// lostContent is the answer for what is known and can't be read.
func lostContent(id string, err error) *Content {
	return &Content{ID: id, Reason: ReasonBackend, Detail: err.Error(),
		Fault: &Fault{Code: FaultSilentRecall, Page: id, Cause: ReasonBackend, Detail: err.Error()}}
}

func contentOf(s *session.Session, id string) (*Content, error) {
	if store.IsHash(id) {
		return blobContent(s, id)
	}
	if workstate.IsCheckpoint(id) {
		return checkpointContent(s, id)
	}
	if p := s.Pages[id]; p != nil {
		text, err := s.Reader().Content(p)
		if errors.Is(err, archive.ErrRetired) {
			return goneContent(id, s.Graves.Retirement(id), "its content is no longer kept"), nil
		}
		if err != nil {
			return nil, err
		}
		return &Content{ID: id, Reason: ReasonOK, Text: text, Page: p, References: references(p, text)}, nil
	}
	if g, ok := s.Graves.Burial(id); ok {
		return goneContent(id, g, "it was forgotten"), nil
	}
	if sp, ok := s.Spans[id]; ok {
		return spanContent(s, sp)
	}
	if st, ok := summaryList(s, id); ok {
		return &Content{ID: id, Reason: ReasonOK, Text: st}, nil
	}
	return &Content{ID: id, Reason: ReasonNoMatch}, nil
}

func blobContent(s *session.Session, hash string) (*Content, error) {
	b, err := s.Blobs.Get(hash)
	if forgotten, gone := s.Graves.GoneBlob(hash); gone && (errors.Is(err, fs.ErrNotExist) || err == nil && forgotten) && !s.Erasable().Holds(hash) {
		return &Content{ID: hash, Reason: ReasonForgotten, Detail: "what it belonged to was forgotten, or is no longer kept"}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &Content{ID: hash, Reason: ReasonNoMatch}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", hash, err)
	}
	return &Content{ID: hash, Reason: ReasonOK, Text: string(b)}, nil
}

// getSpan joins the pages of a span, each under a line that names it.
func spanContent(s *session.Session, sp branch.Span) (*Content, error) {
	c := &Content{ID: sp.ID, Reason: ReasonOK, Pages: sp.Pages}
	var b strings.Builder
	r := s.Reader()
	for _, id := range sp.Pages {
		p := s.Pages[id]
		if p == nil {
			if _, gone := s.Graves.Forgotten(id); gone {
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

// goneContent is the answer for what was forgotten or went by retention.
func goneContent(id string, g erasure.Grave, what string) *Content {
	detail := what
	if !g.Time.IsZero() {
		detail += " on " + g.Time.UTC().Format("2006-01-02")
	}
	if r := strings.TrimSpace(g.Reason); r != "" {
		detail += ": " + r
	}
	return &Content{ID: id, Reason: ReasonForgotten, Detail: detail}
}

// pageForm is how the ids of pages and spans look.
var pageForm = regexp.MustCompile(`^[a-z]{2}-[0-9a-f]{16}\b`)

// endedContent is the answer for what a session of that key held before it ended, nil if
// none ended.
func endedContent(k *Kernel, key, id string) (*Content, error) {
	if !store.IsHash(id) && !workstate.IsCheckpoint(id) && !pageForm.MatchString(id) {
		return nil, nil
	}
	e, at, err := folder.EndOf(k.state, key)
	if e == nil || err != nil {
		return nil, err
	}
	return goneContent(id, erasure.Grave{Reason: e.Reason, Time: at}, "its session ended"), nil
}

// summaryFor gives the whole list that a capped summary points back to: the id
// is the summary's page, a dot, and the list's name.
func summaryList(s *session.Session, id string) (string, bool) {
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

// sortedKeys lists the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
