package ui

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

// mostEntries bounds the listed entries of memory.
const mostEntries = 20_000

// made returns a function that makes the document of an answer, unless there is an error.
func made[T, D any](of func(T) D) func(T, error) (any, error) {
	return func(v T, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		return of(v), nil
	}
}

// list answers with the entries of memory, or of one file of it.
func (s *Server) list(r *http.Request) (any, error) {
	return made(document.Of[*api.MemoryList])(s.o.Kernel.Editor().List(r.Context(), api.ListRequest{Path: r.FormValue("path"), Max: mostEntries, Private: s.o.Private}))
}

// read answers with a file, secrets masked.
func (s *Server) read(r *http.Request) (any, error) {
	path := r.FormValue("path")
	c, err := s.o.Kernel.Read(r.Context(), api.ReadRequest{Path: path, Private: s.o.Private, SessionKey: api.DefaultSession})
	if errors.Is(err, markdownstore.ErrDenied) {
		return nil, mistake{err}
	}
	if err != nil {
		return nil, err
	}
	shown := *c
	shown.Text = textutil.Visible(s.o.Masker.Lines(c.Text))
	return document.OfLines(path, &shown), nil
}

func (s *Server) search(r *http.Request) (any, error) {
	q := r.FormValue("q")
	if q == "" {
		return nil, mistakef("q is empty: a search needs a question")
	}
	n, err := number(r, "n", 0)
	if err != nil {
		return nil, err
	}
	res, err := s.o.Kernel.Search(r.Context(), api.SearchRequest{Query: q, Private: s.o.Private, MaxResults: n, Source: r.FormValue("source")})
	if err != nil {
		return nil, err
	}
	return document.OfSearch(q, res), nil
}

// aged is the largest age of an answer that is slow to make.
const aged = 10 * time.Second

func (s *Server) audit(r *http.Request) (any, error) {
	return cached(&s.slow, "audit", "", aged, func() (any, error) {
		return made(func(report *health.Report) document.Health {
			for i := range report.Findings {
				report.Findings[i].Hint = s.o.Hint(report.Findings[i].Hint)
			}
			return document.OfAudit(report)
		})(s.o.Kernel.Maintenance().Audit(r.Context(), s.o.Audit))
	})
}

func (s *Server) why(r *http.Request) (any, error) {
	doc, err := made(document.Of[*api.Grounds])(s.o.Kernel.Maintenance().Why(r.Context(), api.WhyRequest{Entry: r.FormValue("entry")}))
	return doc, wrong(err)
}

func (s *Server) history(r *http.Request) (any, error) {
	line, err1 := number(r, "line", 0)
	limit, err2 := number(r, "limit", 20)
	if err := errors.Join(err1, err2); err != nil {
		return nil, wrong(err)
	}
	doc, err := made(document.Of[*api.History])(s.o.Kernel.Maintenance().History(r.Context(), api.HistoryRequest{Path: r.FormValue("path"), Line: line, Limit: limit, Diff: true}))
	return doc, wrong(err)
}

// change is a visitor's wish to change memory.
type change struct {
	// Path is the file, Line and EndLine are the entry's lines. Text is the new text. Was is the
	// entry's text as the visitor read it.
	Path    string `json:"path"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	Text    string `json:"text"`
	Was     string `json:"was"`
	// Edit is the change to undo, "" for the newest.
	Edit string `json:"edit"`
}

// changes returns the handler of a change. It refuses every change of a window that only reads.
func (s *Server) changes(f func(context.Context, *change) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var c change
		var doc any
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody)).Decode(&c)
		switch {
		case s.o.Voice == "":
			err = mistakef("this window only reads: start memkernel ui at a terminal, or with --write")
		case err != nil:
			err = mistakef("a change is sent as JSON: %w", err)
		default:
			doc, err = f(r.Context(), &c)
		}
		stale := (*api.StaleError)(nil)
		if wrong := (mistake{}); err != nil && !errors.As(err, &stale) && !errors.As(err, &wrong) {
			err = mistake{err} // nothing was changed, and the error says why
		}
		s.answer(w, r, doc, err)
	}
}

// mostBody bounds a change: an edit takes at most as much.
const mostBody = 2 << 20

func (s *Server) remember(ctx context.Context, c *change) (any, error) {
	of := func(r *api.Remembered) any { return document.Of(r.Edited()) }
	return made(of)(s.o.Kernel.Remember(ctx, api.RememberRequest{Text: c.Text, Path: c.Path, Voice: s.o.Voice, Private: s.o.Private}))
}

// edit replaces an entry, or removes it if the new text is empty.
func (s *Server) edit(ctx context.Context, c *change) (any, error) {
	if c.Was == "" {
		return nil, mistakef("a change names the text that the entry had")
	}
	return made(document.Of[*api.EntryEdited])(s.o.Kernel.Editor().Entry(ctx, api.EntryRequest{Path: c.Path, Line: c.Line, EndLine: c.EndLine, Text: c.Text, Was: c.Was, Delete: c.Text == "", Voice: s.o.Voice, Private: s.o.Private}))
}

// undo takes back a change of memory by hand or of upkeep.
func (s *Server) undo(ctx context.Context, c *change) (any, error) {
	return made(document.Of[*api.EditUndone])(s.o.Kernel.Editor().Undo(ctx, api.UndoRequest{Edit: c.Edit, Voice: s.o.Voice, Private: s.o.Private}))
}

func (s *Server) doctor(r *http.Request) (any, error) {
	if s.o.Doctor == nil {
		return nil, mistakef("nobody is there to ask")
	}
	return cached(&s.slow, "doctor", "", aged, func() (any, error) { return made(document.OfDoctor)(s.o.Doctor(r.Context())) })
}
