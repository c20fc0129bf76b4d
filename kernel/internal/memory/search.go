package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/sessions"
)

// scope is the part of memory that a search may and should cover.
type scope struct {
	// Private includes MEMORY.md, USER.md and past sessions.
	Private bool
	// Agent owns the past sessions that are searched. Session is the asking session, which is
	// left out.
	Agent, Session string
	// Source is one of the sources, or "" for all sources.
	Source string
	// Collection names the workspace or an additional folder, whose files are then searched
	// alone. "" searches all files.
	Collection string
	// Named selects files by their folders, tags and front matter. See [api.SearchRequest].
	Named []string
	// Project is the project that the session works in. Files whose front matter names other
	// projects are left out. The zero value leaves out none.
	Project project
	// Loaded are the names of files that the host shows by itself, such as CLAUDE.md. Searches
	// leave out these files in every folder of the workspace. "claude:MEMORY.md" is a file of the
	// additional folder claude.
	Loaded []string
	// own is the place of Session's documents, as package sessions names it.
	own string
}

// Scope returns the scope of a session. If agent is "", the session's agent is used.
func (m *Memory) Scope(private bool, agent, session, source string) scope {
	if agent == "" {
		agent = m.Agent(session)
	}
	return scope{Private: private, Agent: agent, Session: session, Source: source, own: sessions.Folder(agent, textutil.SafeName(session))}
}

// Check returns an error for a scope that names an unknown source or an unknown collection.
func (sc *scope) Check(collections []string) error {
	if sources := []string{api.SourceMemory, api.SourceSessions}; sc.Source != "" && !slices.Contains(sources, sc.Source) {
		return fmt.Errorf("unknown source %q: give one of %s, or none for all", sc.Source, strings.Join(sources, ", "))
	}
	if err := checkNames(sc.Named); err != nil {
		return err
	}
	if sc.Collection == "" || slices.ContainsFunc(collections, func(c string) bool { return strings.EqualFold(c, sc.Collection) }) {
		return nil
	}
	return fmt.Errorf("there is no collection %q; they are %s", sc.Collection, strings.Join(collections, ", "))
}

// Search searches files and spans. It always returns a result, which reports a fault of the
// index.
func (m *Memory) Search(ctx context.Context, sc scope, q retrieval.Query, p Patience) retrieval.Result {
	if reason, why := m.refusal(sc); reason == retrieval.Disabled {
		return retrieval.Result{Hits: []retrieval.Hit{}, Reason: reason, Mode: retrieval.NoSearch, Detail: why}
	} else if reason != "" {
		q.Denied = why
	}
	if len(sc.Loaded) > 0 {
		q.Want = m.corpus.without(sc.Loaded, q.Want)
	}
	q.Age = m.age
	whole := len(q.Text)
	q.Text = bounded(q.Text, m.o.Masker.Text) // the text may go to a provider of vectors or to another program
	want, others, unknown := q.Want, 0, ""
	ask := func() (retrieval.Result, index.Lag) {
		var r readied
		var err error
		if q.Want, err = m.want(sc, want); err == nil {
			r, err = m.ready(ctx, p)
		}
		if err == nil {
			q.Want, others, err = sc.among(ctx, r, q.Want)
		}
		if err == nil {
			unknown, err = m.unknownScope(ctx, sc, r)
		}
		if err != nil {
			return retrieval.New(failing{err}, &m.o.Ranking).Search(ctx, q), r.lag
		}
		return m.ask(ctx, r, q), r.lag
	}
	m.hear(ctx, sc, p)
	began := time.Now()
	res, lag := ask()
	nothing := p.Asked && len(res.Hits) == 0 && res.Reason == retrieval.NoMatch && lag.Zero()
	if nothing && !m.Sync.Since(began) && m.bring.wanted(m.o.Wait, m.Sync.Look(ctx)) || m.bring.doubt(m.o.Wait, res.Err) {
		res, _ = ask()
	}
	if whole > maxQuery {
		res.Detail = strings.TrimPrefix(res.Detail+fmt.Sprintf("; the question has %d bytes, of which the first and the last %d were searched for", whole, maxQuery/2), "; ")
	}
	if p.Asked {
		partly(&res, m.Withheld(sc.Private, sc.Source))
	}
	switch {
	case unknown != "" && len(res.Hits) > 0:
		res.Note = strings.TrimPrefix(res.Note+"; "+unknown, "; ")
	case unknown != "" && res.Reason == retrieval.NoMatch:
		res.Detail = unknown
	case len(res.Hits) == 0 && res.Reason == retrieval.NoMatch && len(sc.Named) > 0:
		res.Detail += "; only files in the scope " + strings.Join(sc.Named, ", ") + " were searched"
	}
	if len(res.Hits) == 0 && res.Reason == retrieval.NoMatch && others > 0 {
		res.Detail += fmt.Sprintf("; %d files of other projects were left out", others)
	}
	if len(res.Hits) == 0 && res.Reason != retrieval.Disabled && sc.Source != api.SourceSessions {
		if left := m.LastLeft(); left.Files > 0 {
			res.Detail += "; " + left.String()
		}
	}
	return sourced(m, sc, res)
}

// maxQuery is the number of bytes of a question that a search uses. It is more than a person
// types, and small enough not to delay other searches.
const maxQuery = 8 << 10

// bounded masks a question. If a question is too long, it keeps the beginning and the end. It masks
// more text than it keeps, so that no secret is cut in two before masking.
func bounded(q string, mask func(string) string) string {
	if len(q) <= maxQuery {
		return mask(q)
	}
	const half, seen = maxQuery / 2, maxQuery
	head, tail := mask(q[:seen]), mask(q[len(q)-seen:])
	return strings.ToValidUTF8(head[:min(half, len(head))]+"\n"+tail[max(0, len(tail)-half):], "")
}

// hear makes documents of the turns in past sessions since they were last read. For a caller's
// search it reads all past sessions. For a plan it reads new sessions, and reads other sessions
// only if they have enough new turns.
func (m *Memory) hear(ctx context.Context, sc scope, p Patience) {
	if !sc.Private || !m.o.Sessions.Enabled || sc.Source == api.SourceMemory || p.Peek || m.o.Wait < 0 || !m.heard.any(ctx) {
		return
	}
	var r api.Reindexed
	// After an error the documents stay as they were. The next reindex reports the error.
	if m.heard.read(ctx, p.Asked, false, &r); r.Sessions.Read+r.Sessions.Removed > 0 {
		m.Sync.Look(ctx)
	}
}

// ask searches an index.
func (m *Memory) ask(ctx context.Context, r readied, q retrieval.Query) retrieval.Result {
	retriever := r.retriever
	vectorless := false
	if m.o.Embedder != nil && r.MemoryIndex != nil && r.err == nil {
		if model, _, err := r.Model(ctx); err == nil && model == "" {
			retriever, vectorless = m.worded(r), true
		}
	}
	if !r.indexing {
		q.StaleBy = behindBy(r.lag)
	}
	res := retriever.Search(ctx, q)
	if res.Reason == retrieval.Denied {
		return res
	}
	if !r.lag.Zero() {
		res.Behind = &r.lag
	}
	say := func(detail string) {
		if res.Detail != "" {
			detail = res.Detail + "; " + detail
		}
		res.Detail = detail
	}
	switch {
	case r.reading == m.nothing && !r.indexing && res.Reason == retrieval.NoMatch:
		res.Detail = r.detail
	case r.detail != "":
		say(r.detail)
	case vectorless && res.Reason != retrieval.BackendError:
		say("searched by words alone: there are no vectors yet")
	}
	res.Err = errors.Join(res.Err, r.err)
	if locked(r.err) && len(res.Hits) == 0 {
		res.Reason, res.Detail = retrieval.BackendError, "the index can't be searched: "+r.detail
	}
	if r.indexing && (res.Reason == retrieval.OK || res.Reason == retrieval.NoMatch || res.Reason == retrieval.StaleIndex) {
		res.Reason, res.Progress = retrieval.Indexing, m.progress(ctx, r.reading)
		if len(res.Hits) == 0 {
			res.Detail = ""
		}
		how := "the index is being made: it has %d of %d files so far, and soon the rest"
		if r.held {
			how = "the index has %d of %d files, and the rest has to wait: another process is at work in it, or holds " + m.o.Backend.Place + " locked"
		}
		say(fmt.Sprintf(how, res.Progress.Files, res.Progress.Total))
	}
	return res
}

// failing is an index whose searches find nothing and return err. With a nil err it is the index of
// no files.
type failing struct{ err error }

func (f failing) Search(context.Context, index.Query) (index.Hits, error) { return index.Hits{}, f.err }

// sourced sets the source of every hit, and the author if it is not a person. In a day's log the
// author may be a session. sourced removes the marks of entries from all shown text.
func sourced(m *Memory, sc scope, res retrieval.Result) retrieval.Result {
	for i := range res.Hits {
		h := &res.Hits[i]
		h.Source = api.SourceMemory
		if h.Kind == retrieval.Session || IsPast(h.Path) {
			h.Source = api.SourceSessions
			if IsPast(h.Path) && sessions.IsSummary(h.Trail) {
				h.Origin = retrieval.WrittenBy + "the host's compaction"
			}
			continue
		}
		if x, _ := m.corpus.folderOf(h.Path); x != nil && x.Host != "" {
			h.Origin = retrieval.WrittenBy + x.Host
		}
		h.Text, h.Snippet = markdownstore.Unmarked(h.Text), markdownstore.Unmarked(h.Snippet)
		for j := range h.More {
			h.More[j].Text = markdownstore.Unmarked(h.More[j].Text)
		}
		if h.Kind != retrieval.Memory || h.Date == "" || !strings.HasPrefix(h.Text, "- ") {
			continue
		}
		if f, _, err := m.File(sc.Private, h.Path); err == nil {
			if key := markdownstore.SessionOf(f.Text, h.StartLine); key != "" {
				h.Origin = "session " + key
			}
		}
	}
	res.Hits = unrepeated(res.Hits)
	return res
}

// behindBy describes a lag in words. It returns "" if there is no lag.
func behindBy(l index.Lag) string {
	switch {
	case l.Rules:
		return "all of them: they were indexed by other rules"
	case l.Files > 0 && l.Removed > 0:
		return fmt.Sprintf("%d changed, %d gone", l.Files, l.Removed)
	case l.Removed > 0:
		return fmt.Sprintf("%d gone", l.Removed)
	case l.Files > 0:
		return fmt.Sprintf("%d changed", l.Files)
	}
	return ""
}

// IsPast reports whether path is a document of a past session.
func IsPast(path string) bool { return strings.HasPrefix(path, sessions.Prefix) }

// want returns a function that excludes the documents that a session may not see and the documents
// that the caller excludes.
func (m *Memory) want(sc scope, also func(string) bool) (func(string) bool, error) {
	if sc.Private && sc.Source == "" && sc.Collection == "" {
		if kept, err := m.Past.Exists(); !kept || err != nil {
			return also, err
		}
	}
	past := sc.Private && m.o.Sessions.Enabled && sc.Source != api.SourceMemory
	var hidden func(string) bool
	if past {
		var err error
		if hidden, err = m.Past.Hidden(); err != nil {
			return nil, err
		}
	}
	return func(path string) bool {
		if also != nil && !also(path) {
			return false
		}
		if sc.Collection != "" && (IsPast(path) || !m.corpus.inCollection(sc.Collection, path)) {
			return false
		}
		if IsPast(path) {
			return past && strings.HasPrefix(path, sessions.Under(sc.Agent)) && !hidden(path) && !sc.asks(path)
		}
		if sc.Source == api.SourceSessions {
			return false
		}
		_, file := index.SplitOwner(path)
		if mediaType(file) != "" {
			return sc.Private
		}
		c, ok := m.corpus.classify(file, sc.Private)
		return ok && c.Memory && (sc.Private || !c.Private)
	}, nil
}

// asks reports whether a document belongs to the asking session. It is not searched, because the
// session's spans hold the parts that its prompt no longer shows.
func (sc *scope) asks(path string) bool {
	return sc.Session != "" && (sessions.Of(path, sc.Agent, sc.Session) || sc.own != "" && strings.HasPrefix(path, sc.own))
}

// refusal returns why past sessions that the scope names may not be searched.
func (m *Memory) refusal(sc scope) (retrieval.Reason, string) {
	switch {
	case sc.Source != api.SourceSessions:
	case !sc.Private:
		return retrieval.Denied, "what was said in other sessions is private, and this session is shared"
	case !m.o.Sessions.Enabled:
		return retrieval.Disabled, "past sessions are not searched: retrieval.sessions.enabled is false"
	}
	return "", ""
}

// age returns the time from which a file ages. A document of a past session ages from the day of
// its turns, or from the time when they were read.
func (m *Memory) age(path, date string, mod time.Time) (time.Time, bool) {
	if IsPast(path) {
		if t, err := time.ParseInLocation(time.DateOnly, sessions.Date(path), m.location()); err == nil {
			return t, true
		}
		return mod, true
	}
	_, path = index.SplitOwner(path)
	if mediaType(path) != "" {
		return time.Time{}, false // a file's date does not show when it was taken
	}
	c, _ := m.corpus.classify(path, true)
	f := markdownstore.File{Path: path, ModTime: mod, Class: c}
	return f.AgesFrom(m.location())
}

// Document returns count lines of a document of a past session. The first line is number from,
// counted from 0. If count is 0, all later lines are returned.
func (m *Memory) Document(sc scope, path string, from, count int) (*markdownstore.Content, error) {
	deny := func(r markdownstore.DenyReason) error { return &markdownstore.DeniedError{Path: path, Reason: r} }
	switch {
	case !sc.Private:
		return nil, deny(markdownstore.DenyPrivate)
	case !m.o.Sessions.Enabled:
		return nil, deny(markdownstore.DenyNotMemory)
	case !strings.HasPrefix(path, sessions.Under(sc.Agent)):
		return nil, deny(markdownstore.DenyAgent)
	case from < 0 || count < 0:
		return nil, fmt.Errorf("read %s: line %d, count %d: neither may be negative", path, from, count)
	}
	text, err := m.Past.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &markdownstore.Content{Path: path, Reason: markdownstore.ReasonNoMatch, Detail: "there is no such session, or it was forgotten"}, nil
	}
	if err != nil {
		return nil, err
	}
	return markdownstore.Lines(path, text, from, count)
}

// repeats is the share of a host's own note's words that a hit in the workspace's files must hold,
// so that the note counts as a repetition. Our choice: the hosts copy notes with a word or two
// changed.
const repeats = 0.8

// unrepeated returns the hits without those from a host's own notes that nearly repeat another hit.
func unrepeated(hits []retrieval.Hit) []retrieval.Hit {
	agents := func(h retrieval.Hit) bool { return strings.HasPrefix(h.Origin, retrieval.WrittenBy) }
	if !slices.ContainsFunc(hits, agents) {
		return hits
	}
	return slices.DeleteFunc(slices.Clone(hits), func(h retrieval.Hit) bool {
		words := wordsOf(h.Text)
		return agents(h) && slices.ContainsFunc(hits, func(own retrieval.Hit) bool {
			n, has := 0, wordsOf(own.Text)
			for w := range words {
				if has[w] {
					n++
				}
			}
			return !agents(own) && float64(n) >= repeats*float64(len(words))
		})
	})
}

// wordsOf returns the words of a text in lower case, without punctuation around them.
func wordsOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(strings.ToLower(text)) {
		if w = strings.Trim(w, ".,;:!?()[]*_`\"'#->"); w != "" {
			out[w] = true
		}
	}
	return out
}
