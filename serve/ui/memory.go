package ui

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/serve/meter"
)

// Files is the list of memory's files.
type Files struct {
	Schema    string `json:"schema"`
	Workspace string `json:"workspace"`
	// Enabled reports whether memory is on.
	Enabled bool `json:"enabled"`
	// Files are at most 2,000.
	Files []FileRow `json:"files"`
	// More reports whether there are more files than the list has.
	More bool `json:"more"`
}

// FileRow is one of them.
type FileRow struct {
	Path     string    `json:"path"`
	Kind     string    `json:"kind"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
	// Indexed reports whether the search index has the file.
	Indexed bool `json:"indexed"`
}

// mostFiles bounds the listed files.
const mostFiles = 2000

func (s *Server) files(r *http.Request) (any, error) {
	out := &Files{Schema: "memkernel/ui_files/v1", Workspace: s.o.Workspace, Enabled: s.o.Files != nil, Files: []FileRow{}}
	if s.o.Files == nil {
		return out, nil
	}
	for f, err := range s.o.Files.Walk(r.Context()) {
		switch {
		case r.Context().Err() != nil:
			return nil, r.Context().Err()
		case err != nil:
			out.More = out.More || errors.Is(err, markdownstore.ErrTooMany)
			continue // the audit reports files that can't be read
		case len(out.Files) == mostFiles:
			out.More = true
			return out, nil
		}
		out.Files = append(out.Files, FileRow{f.Path, string(f.Kind), f.Size, f.ModTime.UTC(), f.Indexed && !f.Shadowed && !f.TooLarge})
	}
	slices.SortStableFunc(out.Files, func(a, b FileRow) int { return rank(a) - rank(b) })
	return out, nil
}

// rank returns a file's place in the list. The most read files come first, old files last.
func rank(f FileRow) int {
	for i, name := range []string{"MEMORY.md", "USER.md", "AGENTS.md"} {
		if f.Path == name {
			return i
		}
	}
	if f.Indexed {
		return 3
	}
	return 4
}

// File is a file of memory, entry by entry.
type File struct {
	Schema string `json:"schema"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
	Detail string `json:"detail"`
	Bytes  int    `json:"bytes"`
	Lines  int    `json:"lines"`
	// Entries are at most 1,000.
	Entries []Item `json:"entries"`
	// Cut reports whether the file has more entries than the list has.
	Cut bool `json:"cut"`
}

// Item is an entry of a file.
type Item struct {
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	Kind    string `json:"kind"`
	// Trail are the headings above the entry.
	Trail []string `json:"trail"`
	Text  string   `json:"text"`
	Date  string   `json:"date"`
	Tags  []string `json:"tags"`
	// State is "" for a fact that holds. From is the source of the fact.
	State      string   `json:"state"`
	From       []string `json:"from"`
	Supersedes []string `json:"supersedes"`
	ID         string   `json:"id"`
}

const (
	mostItems = 1000
	itemText  = 1500
)

func (s *Server) file(r *http.Request) (any, error) {
	path := r.URL.Query().Get("path")
	c, err := s.o.Kernel.Read(r.Context(), api.ReadRequest{Path: path, Private: s.o.Private, SessionKey: api.DefaultSession})
	if errors.Is(err, markdownstore.ErrDenied) {
		return nil, mistake{err}
	}
	if err != nil {
		return nil, err
	}
	text := textutil.Visible(s.o.Masker.Lines(c.Text))
	out := &File{Schema: "memkernel/ui_file/v1", Path: c.Path, Reason: string(c.Reason), Detail: c.Detail, Bytes: len(c.Text), Lines: bytes.Count([]byte(c.Text), []byte("\n")), Entries: []Item{}}
	for _, e := range consolidation.Entries(markdownstore.Parse(path, text)) {
		if len(out.Entries) == mostItems {
			out.Cut = true
			break
		}
		it := Item{Line: e.StartLine, EndLine: e.EndLine, Kind: string(e.Kind), Trail: document.List(e.Trail), Text: clip(e.Text, itemText), Date: e.Date, Tags: []string{}, State: string(e.State),
			From: document.List(e.From), Supersedes: document.List(e.Supersedes), ID: e.ID}
		for _, t := range e.Tags {
			it.Tags = append(it.Tags, string(t))
		}
		out.Entries = append(out.Entries, it)
	}
	return out, nil
}

func (s *Server) search(r *http.Request) (any, error) {
	q := r.URL.Query().Get("q")
	if q == "" {
		return nil, mistakef("q is empty: a search needs a question")
	}
	n, err := number(r, "n", 0)
	if err != nil {
		return nil, err
	}
	res, err := s.o.Kernel.Search(r.Context(), api.SearchRequest{Query: q, Private: s.o.Private, MaxResults: n, Source: r.URL.Query().Get("source")})
	if err != nil {
		return nil, err
	}
	return document.OfSearch(q, res), nil
}

// aged is the largest age of an answer that is slow to make.
const aged = 10 * time.Second

func (s *Server) audit(r *http.Request) (any, error) {
	return s.slow.get("audit", aged, func() (any, error) {
		report, err := s.o.Kernel.Maintenance().Audit(r.Context(), s.o.Audit)
		if err != nil {
			return nil, err
		}
		s.hints(report.Findings)
		return document.OfAudit(s.o.Workspace, report), nil
	})
}

// hints completes the commands in hints.
func (s *Server) hints(of []health.Finding) {
	for i := range of {
		of[i].Hint = s.o.Hint(of[i].Hint)
	}
}

func (s *Server) why(r *http.Request) (any, error) {
	g, err := s.o.Kernel.Maintenance().Why(r.Context(), api.WhyRequest{Entry: r.URL.Query().Get("entry")})
	var line *api.NoLineError
	if none := (*consolidation.NoEntryError)(nil); errors.As(err, &none) || errors.As(err, &line) {
		return nil, mistake{err}
	}
	if err != nil {
		return nil, err
	}
	return document.OfGrounds(g), nil
}

func (s *Server) history(r *http.Request) (any, error) {
	line, err1 := number(r, "line", 0)
	limit, err2 := number(r, "limit", 20)
	if err := errors.Join(err1, err2); err != nil {
		return nil, mistake{err}
	}
	h, err := s.o.Kernel.Maintenance().History(r.Context(), api.HistoryRequest{Path: r.URL.Query().Get("path"), Line: line, Limit: limit, Diff: true})
	var none *api.NoLineError
	if errors.Is(err, api.ErrNoHistory) || errors.Is(err, api.ErrNoText) || errors.As(err, &none) {
		return nil, mistake{err}
	}
	if err != nil {
		return nil, err
	}
	return document.OfHistory(h), nil
}

// undo takes back the last change of memory by hand or of upkeep.
func (s *Server) undo(r *http.Request) (any, error) {
	if !s.o.Write {
		return nil, mistakef("this window only reads: start memkernel ui with --write")
	}
	u, err := s.o.Kernel.Editor().Undo(r.Context(), api.UndoRequest{Voice: api.VoicePerson, Private: true, Now: s.o.Now()})
	if err != nil {
		return nil, mistake{err}
	}
	return document.OfUndone(u), nil
}

func (s *Server) doctor(r *http.Request) (any, error) {
	if s.o.Doctor == nil {
		return nil, mistakef("nobody is there to ask")
	}
	return s.slow.get("doctor", aged, func() (any, error) {
		report, err := s.o.Doctor(r.Context())
		if err != nil {
			return nil, err
		}
		return document.OfDoctor(report), nil
	})
}

func (s *Server) check(r *http.Request) (any, error) {
	return s.slow.get("check", aged, func() (any, error) {
		found, err := s.o.Kernel.Check(r.Context())
		if err != nil {
			return nil, err
		}
		s.hints(found)
		return document.OfCheck(s.o.Kernel.StateDir(), found), nil
	})
}

func (s *Server) gain(r *http.Request) (any, error) {
	if _, err := os.Stat(s.o.StateDir); err != nil {
		return meter.GainOf(nil, s.o.Location), nil
	}
	runs, err := meter.Runs(store.Files(s.o.StateDir), time.Time{})
	if err != nil && len(runs) == 0 {
		return nil, err
	}
	return meter.GainOf(runs, s.o.Location), nil
}
