package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/sessions"
)

// scope says what of memory somebody may see, and wants to.
type scope struct {
	// private: MEMORY.md, USER.md and past sessions are there.
	private bool
	// agent is whose past sessions are there, session whose is left out, being the
	// one that asks.
	agent, session string
	// own is where documents of that session are, as package sessions names them.
	own string
	// source is one of the sources, "" for all.
	source string
}

func (m *memory) scope(private bool, agent, session, source string) scope {
	if agent == "" {
		agent = m.agent(session)
	}
	sc := scope{private: private, agent: agent, session: session, source: source}
	if name, err := folderOf(m.state, session); err == nil {
		sc.own = sessions.Folder(agent, name)
	}
	return sc
}

// isPast tells the path of a document of a past session.
func isPast(path string) bool { return strings.HasPrefix(path, sessions.Prefix) }

// want keeps out what a session may not see, on top of what the caller wants.
func (m *memory) want(sc scope, also func(string) bool) (func(string) bool, error) {
	if sc.private && sc.source == "" && !m.past.Exists() {
		return also, nil
	}
	past := sc.private && m.opts.Sessions.Enabled && sc.source != SourceMemory
	var hidden func(string) bool
	if past {
		var err error
		if hidden, err = m.past.Hidden(); err != nil {
			return nil, err
		}
	}
	return func(path string) bool {
		if also != nil && !also(path) {
			return false
		}
		if isPast(path) {
			return past && strings.HasPrefix(path, sessions.Under(sc.agent)) && !hidden(path) && !sc.asks(path)
		}
		if sc.source == SourceSessions {
			return false
		}
		_, file := index.SplitOwner(path)
		if mediaType(file) != "" {
			return sc.private
		}
		c, ok := markdownstore.Classify(file)
		return ok && (sc.private || !c.Private)
	}, nil
}

// asks tells whether a document is of the session that asks: what it no longer
// shows, its spans hold.
func (sc *scope) asks(path string) bool {
	return sc.session != "" && (sessions.Of(path, sc.agent, sc.session) || sc.own != "" && strings.HasPrefix(path, sc.own))
}

// refusal is why past sessions, asked for by name, may not be searched.
func (m *memory) refusal(sc scope) (retrieval.Reason, string) {
	switch {
	case sc.source != SourceSessions:
	case !sc.private:
		return retrieval.Denied, "what was said in other sessions is private, and this session is shared"
	case !m.opts.Sessions.Enabled:
		return retrieval.Disabled, "past sessions are not searched: retrieval.sessions.enabled is false"
	}
	return "", ""
}

// agePast tells from when on a document of a past session ages: the day of its
// turns, or when they were read.
func (m *memory) agePast(path string, mod time.Time) (time.Time, bool) {
	if t, err := time.ParseInLocation(time.DateOnly, sessions.Date(path), m.location()); err == nil {
		return t, true
	}
	return mod, true
}

// readDocument returns lines of a document of a past session.
func (m *memory) readDocument(sc scope, req ReadRequest) (*markdownstore.Content, error) {
	deny := func(r markdownstore.DenyReason) error { return &markdownstore.DeniedError{Path: req.Path, Reason: r} }
	switch {
	case !sc.private:
		return nil, deny(markdownstore.DenyPrivate)
	case !m.opts.Sessions.Enabled:
		return nil, deny(markdownstore.DenyNotMemory)
	case !strings.HasPrefix(req.Path, sessions.Under(sc.agent)):
		return nil, deny(markdownstore.DenyAgent)
	case req.From < 0 || req.Lines < 0:
		return nil, fmt.Errorf("read %s: line %d, count %d: neither may be negative", req.Path, req.From, req.Lines)
	}
	c := &markdownstore.Content{Path: req.Path, Reason: markdownstore.ReasonNoMatch}
	text, err := m.past.Read(req.Path)
	if errors.Is(err, fs.ErrNotExist) {
		c.Detail = "there is no such session, or it was forgotten"
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n")+"\n", "\n")
	lines = lines[:len(lines)-1]
	from := max(req.From, 1)
	if from > len(lines) {
		c.Detail = fmt.Sprintf("line %d is behind the end, the file has %d lines", from, len(lines))
		return c, nil
	}
	to := len(lines)
	if req.Lines > 0 {
		to = min(from-1+req.Lines, to)
	}
	c.Text, c.StartLine, c.EndLine, c.Reason = strings.Join(lines[from-1:to], ""), from, to, markdownstore.ReasonOK
	return c, nil
}
