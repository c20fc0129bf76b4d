package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
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
	page, from, to := cutLines(id)
	c, err := s.get(page)
	if err != nil {
		return lostContent(id, err), nil
	}
	if c.Reason == ReasonNoMatch {
		if e, err := k.endedContent(s.key, page); e != nil || err != nil {
			return e, err
		}
		if c.Detail == "" && !s.keeps() && !store.Exists(s.files, "") {
			c.Detail = fmt.Sprintf("there is no session %q", shortKey(s.key))
		}
	}
	if from == 0 || c.Reason != ReasonOK {
		return c, nil
	}
	c.ID = id
	if c.Page != nil {
		c.Text = plainContent(c.Page, c.Text)
	}
	c.Text = linesOf(c.Text, from, to)
	return c, nil
}

// lostContent is the answer for what is known and can't be read.
func lostContent(id string, err error) *Content {
	return &Content{ID: id, Reason: ReasonBackend, Detail: err.Error(),
		Fault: &Fault{Code: FaultSilentRecall, Page: id, Cause: ReasonBackend, Detail: err.Error()}}
}

func (s *session) get(id string) (*Content, error) {
	if store.IsHash(id) {
		return s.getBlob(id)
	}
	if workstate.IsCheckpoint(id) {
		return s.getCheckpoint(id)
	}
	if p := s.pages[id]; p != nil {
		text, err := (&reader{s: s}).content(p)
		if errors.Is(err, errRetired) {
			return goneContent(id, s.retired[id], "its content is no longer kept"), nil
		}
		if err != nil {
			return nil, err
		}
		return &Content{ID: id, Reason: ReasonOK, Text: text, Page: p, References: references(p, text)}, nil
	}
	if c, ok := s.buriedPage(id); ok {
		return c, nil
	}
	if sp, ok := s.spans[id]; ok {
		return s.getSpan(sp)
	}
	if st, ok := s.summaryFor(id); ok {
		return &Content{ID: id, Reason: ReasonOK, Text: st}, nil
	}
	return &Content{ID: id, Reason: ReasonNoMatch}, nil
}

func (s *session) getBlob(hash string) (*Content, error) {
	b, err := s.blobs.Get(hash)
	if forgotten, gone := s.goneBlobs[hash]; gone && (errors.Is(err, fs.ErrNotExist) || err == nil && forgotten) && !s.holds(hash) {
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
func (s *session) getSpan(sp branch.Span) (*Content, error) {
	c := &Content{ID: sp.ID, Reason: ReasonOK, Pages: sp.Pages}
	var b strings.Builder
	r := &reader{s: s}
	for _, id := range sp.Pages {
		p := s.pages[id]
		if p == nil {
			if _, gone := s.forgotten[id]; gone {
				fmt.Fprintf(&b, "--- %s\n%s\n", id, ingest.ForgottenPart)
			}
			continue
		}
		text, err := r.content(p)
		if errors.Is(err, errRetired) {
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

// holds tells whether a page of the session has a blob that is to be there.
func (s *session) holds(hash string) bool {
	for id, p := range s.pages {
		if _, retired := s.retired[id]; !retired && slices.Contains(blobsOf(p), hash) {
			return true
		}
	}
	return false
}

// errRetired: the content went by retention.
var errRetired = errors.New("its content is no longer kept")

// reader reads what pages hold. The contents of small pages are in the journal,
// which it reads once, when the first of them is wanted.
type reader struct {
	s      *session
	inline map[string]string // by page id and content hash
}

// content reads a page from its representation, its blob, or the journal.
func (r *reader) content(p *pagevm.Page) (string, error) {
	if rep := ingest.FullRep(p); rep != nil {
		return rep.Text, nil
	}
	if p.Blob != "" {
		b, err := r.s.blobs.Get(p.Blob)
		if err != nil && r.gone(p) {
			return "", errRetired
		}
		if err != nil {
			return "", fmt.Errorf("get page %s: %w", p.ID, err)
		}
		return string(b), nil
	}
	if err := r.load(); err != nil {
		return "", fmt.Errorf("get page %s: %w", p.ID, err)
	}
	text, ok := r.inline[p.ID+p.Hash]
	if !ok {
		return "", fmt.Errorf("get page %s: its content is not in %s", p.ID, r.s.files.Where(journalFile))
	}
	return text, nil
}

func (r *reader) load() error {
	if r.inline != nil || r.s.journal == nil {
		return nil
	}
	r.inline = map[string]string{}
	for rec, err := range r.s.journal.Records() {
		if err != nil {
			return err
		}
		if rec.Op != opIngest {
			continue
		}
		var b ingest.Body
		if err := unmarshal(rec, &b); err != nil {
			return err
		}
		for _, p := range b.Pages {
			if text, ok := b.Content[p.ID]; ok {
				r.inline[p.ID+p.Hash] = text
			}
		}
	}
	return nil
}

// summaryFor gives the whole list that a capped summary points back to: the id
// is the summary's page, a dot, and the list's name.
func (s *session) summaryFor(id string) (string, bool) {
	page, kind, _ := strings.Cut(id, ".")
	for _, l := range s.lines {
		if page == ids.Page("su", s.name, l.Branch) {
			text := summary.List(l.Summary, kind)
			if n, err := s.notes(l.Branch); err == nil && kind == summary.KindNotes {
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
