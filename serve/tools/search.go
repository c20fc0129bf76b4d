package tools

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

// The reasons that come from this package itself.
const (
	reasonOK       = string(retrieval.OK)
	reasonNoMatch  = string(retrieval.NoMatch)
	reasonDenied   = string(retrieval.Denied)
	reasonDisabled = string(retrieval.Disabled)
	reasonBackend  = string(retrieval.BackendError)
	// The reasons of edits: the text has changed since it was read, a person wrote it, it has a
	// secret, or the edit can't be made as requested.
	reasonConflict = "CONFLICT"
	reasonPerson   = "PERSON"
	reasonSecret   = "SECRET"
	reasonRefused  = "REFUSED"
)

// found is the answer of memory_search.
type found struct {
	said
	Results []result `json:"results"`
	// Model is the model that made the vectors. It is absent if there are no vectors.
	Model string `json:"model,omitempty"`
	// Mode is hybrid, keyword, vector or disabled. Fallback reports whether a part of the search
	// was missing.
	Mode      string    `json:"mode,omitempty"`
	Fallback  bool      `json:"fallback,omitempty"`
	Citations citations `json:"citations"`
	// Behind is how far the index lags behind the files.
	Behind *index.Lag `json:"behind,omitempty"`
	// Progress is the progress of the index. It is set with the reason INDEXING.
	Progress *retrieval.Progress `json:"progress,omitempty"`
	// Withheld are parts of memory that this session may not see, whether or not they
	// hold an answer.
	Withheld []retrieval.Withheld `json:"withheld,omitempty"`
	// Weak reports whether the results likely do not answer the question.
	Weak bool `json:"weak,omitempty"`
	// Also lists the spellings that were searched in addition to the question's words.
	Also []retrieval.Also `json:"alsoAsked,omitempty"`
	// Unavailable and TimedOut are further reasons why nothing could be searched. Action
	// tells the model how to proceed.
	Unavailable bool   `json:"unavailable,omitempty"`
	TimedOut    bool   `json:"timedOut,omitempty"`
	Error       string `json:"error,omitempty"`
	Action      string `json:"action,omitempty"`
}

// result is one hit.
type result struct {
	// Path is the path for memory_get, with StartLine and EndLine. It is "" for content that left
	// this session's prompt. For such content memory_get takes the ID as path.
	Path      string  `json:"path"`
	ID        string  `json:"id,omitempty"`
	StartLine int     `json:"startLine"`
	EndLine   int     `json:"endLine"`
	Score     float64 `json:"score"`
	// TextScore and VectorScore are the parts of the score.
	TextScore   float64  `json:"textScore,omitempty"`
	VectorScore float64  `json:"vectorScore,omitempty"`
	Snippet     string   `json:"snippet"`
	Source      string   `json:"source"`
	Trail       []string `json:"trail,omitempty"`
	Date        string   `json:"date,omitempty"`
	Citation    string   `json:"citation,omitempty"`
	// Origin says which agent wrote the text by itself, as "written by Claude Code".
	Origin string `json:"origin,omitempty"`
	// Dates are the days that the snippet names relative to its own day.
	Dates string `json:"dates,omitempty"`
	// SupersededBy is the place of the text that replaces the result. If the result itself states
	// that it no longer holds, it is the result's own place.
	SupersededBy string `json:"supersededBy,omitempty"`
	// More lists the other answers in the same file, in the order of their lines.
	More []more `json:"more,omitempty"`
}

// more is a further run of lines in a result's file. memory_get takes these lines in the same way
// as the result's lines.
type more struct {
	ID           string   `json:"id,omitempty"`
	StartLine    int      `json:"startLine"`
	EndLine      int      `json:"endLine"`
	Snippet      string   `json:"snippet"`
	Trail        []string `json:"trail,omitempty"`
	Citation     string   `json:"citation,omitempty"`
	SupersededBy string   `json:"supersededBy,omitempty"`
}

func (s *Set) search(ctx context.Context, a args) (answer, error) {
	out := &found{Results: []result{}, Citations: s.opts.Citations}
	if s.opts.Disabled != "" {
		return out.off(s.opts.Disabled), nil
	}
	if done, err := s.readNamed(ctx, a.text("query"), out); done || err != nil {
		return out, err
	}
	res, err := s.k.Search(ctx, api.SearchRequest{Query: a.text("query"), MaxResults: int(a.number("maxResults")), MinScore: a.number("minScore"),
		Source: a.text("source"), Scope: a.names("scope"), Lines: a.flag("lines"), SessionKey: s.opts.SessionKey, Agent: s.opts.Agent, Private: s.opts.Private})
	if err != nil {
		return out, err
	}
	out.Reason, out.Detail, out.Mode, out.Behind, out.Progress, out.Weak = string(res.Reason), res.Detail, string(res.Mode), res.Behind, res.Progress, res.Weak
	out.Withheld, out.Also = res.Withheld, res.Also
	out.Fallback = res.Err != nil && len(res.Hits) > 0
	if res.Mode != retrieval.Keyword && res.Mode != retrieval.NoSearch {
		out.Model = s.k.EmbeddingModel()
	}
	cite := s.opts.Citations == citationsOn || s.opts.Citations == citationsAuto && s.opts.Private
	for i := range res.Hits {
		out.Results = append(out.Results, resultOf(&res.Hits[i], cite))
	}
	switch res.Reason {
	case retrieval.Disabled:
		out.off(res.Detail)
	case retrieval.Indexing:
		out.Action = "ask again in a moment, if what is missing matters"
	case retrieval.BackendError:
		out.Unavailable, out.Error, out.Action = true, res.Detail, "tell the user that memory can't be searched, and go on without it"
	}
	return out, nil
}

// named matches a citation: a path or an id, optionally with its lines, such as
// memory/deploys.md#L3-L9.
var named = regexp.MustCompile(`^(\S+?)(?:[#@]L(\d{1,9})(?:-L(\d{1,9}))?)?$`)

// anID matches the id of a page, a span or a checkpoint.
var anID = regexp.MustCompile(`^(?:[a-z]{2}-[0-9a-f]{16}|cp_\d+)$`)

// readNamed answers with the text that the query names by its path or id. It lets a client
// without memory_get read on. done is false for a question, and for a name of a text that may not
// be read. Such a query is searched for.
func (s *Set) readNamed(ctx context.Context, query string, out *found) (done bool, err error) {
	m := named.FindStringSubmatch(strings.TrimSpace(query))
	if m == nil || !markdownstore.PathLike(m[1]) && !anID.MatchString(m[1]) {
		return false, nil
	}
	from, count := 0, 0
	if m[2] != "" {
		from, _ = strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3]) // without an end, to is 0 and only the line `from` is read
		count = max(to-from, 0) + 1
	}
	got, err := s.get(ctx, m[1], from, count)
	if failed(ctx, err) {
		return false, err
	}
	if err != nil || got.Reason != reasonOK {
		return false, nil
	}
	r := result{Path: got.Path, ID: got.ID, StartLine: got.From, EndLine: got.From + got.Lines - 1, Score: 1, Snippet: got.Text, Source: api.SourceMemory}
	if got.ID != "" || strings.HasPrefix(got.Path, "sessions/") {
		r.Source = api.SourceSessions
	}
	out.Results, out.Reason, out.Detail = append(out.Results, r), reasonOK, got.Detail
	if got.NextFrom > 0 {
		out.Detail = strings.TrimPrefix(fmt.Sprintf("%s; %s#L%d-L%d has the lines that follow", got.Detail, m[1], got.NextFrom, got.NextFrom+got.Lines-1), "; ")
	}
	return true, nil
}

// off makes the answer say that memory is switched off.
func (f *found) off(why string) *found {
	f.said, f.Mode, f.Error, f.Unavailable = disabledBy(why), string(retrieval.NoSearch), why, true
	return f
}

// rounded returns x with three digits, because each digit costs tokens.
func rounded(x float64) float64 {
	out, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64) // which FormatFloat wrote
	return out
}

func resultOf(h *retrieval.Hit, cite bool) result {
	r := result{Path: h.Path, StartLine: h.SnippetStart, EndLine: h.SnippetEnd, Score: rounded(h.Score), TextScore: rounded(h.Parts.Keyword), VectorScore: rounded(h.Parts.Vector),
		Snippet: h.Snippet, Source: h.Source, Trail: h.Trail, Date: h.Date, Dates: retrieval.DatesText(h.Dates), SupersededBy: h.SupersededBy}
	if h.Path == "" {
		r.ID = h.ID
	}
	if strings.HasPrefix(h.Origin, retrieval.WrittenBy) {
		r.Origin = h.Origin
	}
	if cite {
		r.Citation = h.Citation
	}
	for _, m := range h.More {
		r.More = append(r.More, more{"", m.StartLine, m.EndLine, m.Text, m.Trail, "", m.SupersededBy})
		n := &r.More[len(r.More)-1]
		if h.Path == "" {
			n.ID = m.ID
		}
		if cite {
			n.Citation = m.Citation
		}
	}
	return r
}

// maxText bounds the text of one answer, in bytes.
const maxText = 32 << 10

// lines is the answer of memory_get.
type lines struct {
	said
	Text string `json:"text"`
	// Path or ID is the requested path or id.
	Path string `json:"path,omitempty"`
	ID   string `json:"id,omitempty"`
	// From is the first line of Text. Lines is the number of its lines. NextFrom is the line from
	// which to continue, 0 at the end.
	From     int `json:"from,omitempty"`
	Lines    int `json:"lines,omitempty"`
	NextFrom int `json:"nextFrom,omitempty"`
	// Version is the version of the whole file, for memory_update and memory_delete.
	Version string `json:"version,omitempty"`
	// Truncated reports whether a line was longer than an answer may be, so that the end of the
	// line is missing.
	Truncated bool `json:"truncated,omitempty"`
}

// get returns count lines of a path or an id, all if count is 0.
func (s *Set) get(ctx context.Context, name string, from, count int) (*lines, error) {
	from = max(from, 1)
	if !markdownstore.PathLike(name) {
		return s.page(ctx, &lines{ID: name}, from, count)
	}
	out := &lines{Path: name}
	if off := s.disabled(); off != "" {
		out.say(disabledBy(off))
		return out, nil
	}
	c, err := s.k.Read(ctx, api.ReadRequest{Path: out.Path, From: from, Lines: count, Private: s.opts.Private, Agent: s.opts.Agent, SessionKey: s.opts.SessionKey})
	if errors.Is(err, markdownstore.ErrDenied) {
		out.Reason, out.Detail = reasonDenied, err.Error()
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Path, out.Reason, out.Detail = c.Path, string(c.Reason), c.Detail
	if c.Reason != markdownstore.ReasonNoMatch {
		out.fill(c.Text, c.StartLine, c.Truncated)
		out.Version = c.Hash
	}
	return out, nil
}

// failed reports whether err must not be reported to the model.
func failed(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, api.ErrClosed))
}

// fill takes as many whole lines as an answer may have. more says whether the text was already
// cut before the call.
func (l *lines) fill(text string, from int, more bool) {
	l.From = from
	if len(text) > maxText {
		cut := strings.LastIndexByte(text[:maxText], '\n') + 1
		if cut == 0 {
			l.Truncated = true
			for cut = maxText; !utf8.RuneStart(text[cut]); {
				cut--
			}
			l.Detail = fmt.Sprintf("line %d is longer than an answer may be: its end is missing", from)
		}
		// After a line that was cut there may be another line.
		more = more || !l.Truncated || strings.ContainsRune(strings.TrimSuffix(text[cut:], "\n"), '\n')
		text = text[:cut]
	}
	l.Text = strings.ToValidUTF8(text, "�")
	l.Lines = strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	if more {
		l.NextFrom = from + l.Lines
	}
}

// page reads the content that an id in the conversation points to.
func (s *Set) page(ctx context.Context, out *lines, from, count int) (*lines, error) {
	c, err := s.k.Get(ctx, s.opts.SessionKey, out.ID)
	if err != nil {
		return out, err
	}
	out.Reason, out.Detail = c.Reason, c.Detail
	if c.Reason != api.GetOK {
		return out, nil
	}
	all := strings.SplitAfter(c.Text, "\n")
	if n := len(all); n > 1 && all[n-1] == "" {
		all = all[:n-1]
	}
	if from > len(all) {
		out.Reason, out.Detail = reasonNoMatch, fmt.Sprintf("line %d is behind the end, the page has %d lines", from, len(all))
		return out, nil
	}
	to := len(all)
	if count > 0 {
		to = min(from-1+count, to)
	}
	out.fill(strings.Join(all[from-1:to], ""), from, to < len(all))
	return out, nil
}
