package ui

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/sessions"
)

// errNotYet is returned for a call that is not planned yet.
var errNotYet = errors.New("the session is still being planned: that call is not reached yet")

// errNoSession is returned if there is no session of the requested name.
var errNoSession = errors.New("there is no such session any more")

// The sources of a session.
const (
	fromTranscript = "transcript"
	fromState      = "kept"
)

// found is a session that the window can show.
type found struct {
	id, name, source string
	// path is the path of a transcript. key is the key of a session in the state folder.
	path, key string
	bytes     int64
	modified  time.Time
	status    *api.SessionStatus
}

// liveFor is how long after its last change a session counts as live.
const liveFor = 5 * time.Minute

// fresh is how long a list of sessions stays valid.
const fresh = time.Second

// shelf lists all sessions, and holds the tracks of the sessions that visitors look at.
type shelf struct {
	o *Options

	mu     sync.Mutex
	listed time.Time
	list   []found
	report *api.Status
	tracks []*held // the one that was used last at the end
	closed bool
}

// held is a track that is open, or being opened.
type held struct {
	id    string
	plan  Plan
	once  sync.Once
	track *track
	err   error
}

// mostTracks bounds the held sessions.
const mostTracks = 8

// all lists the sessions, the newest first.
func (s *shelf) all(ctx context.Context) ([]found, *api.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.listed) < fresh {
		return s.list, s.report, nil
	}
	report, err := s.o.Kernel.Status(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	var out []found
	seen := map[string]bool{}
	for _, path := range s.o.Transcripts() {
		for _, f := range transcripts(ctx, path) {
			if !seen[f.id] {
				seen[f.id] = true
				out = append(out, f)
			}
		}
	}
	for i := range report.Sessions {
		st := &report.Sessions[i]
		f := found{id: "k" + short(st.Key), name: textutil.Visible(st.Key), source: fromState, key: st.Key, bytes: st.JournalBytes + st.ProjectionBytes, status: st}
		for _, l := range st.Lines {
			if l.LastStart.After(f.modified) {
				f.modified = l.LastStart
			}
		}
		out = append(out, f)
	}
	for _, o := range report.Others {
		out = append(out, found{id: "k" + short(o.Key), name: textutil.Visible(o.Key), source: fromState, key: o.Key, bytes: o.Bytes, modified: o.Last})
	}
	slices.SortStableFunc(out, func(a, b found) int { return cmp.Or(b.modified.Compare(a.modified), cmp.Compare(a.id, b.id)) })
	s.list, s.report, s.listed = out, report, time.Now()
	return out, report, nil
}

// transcripts returns the transcripts of a file or a folder. It skips files that can't be read.
func transcripts(ctx context.Context, path string) (out []found) {
	add := func(path string, size int64, modified time.Time) {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		out = append(out, found{id: "t" + short(path), name: textutil.Visible(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))), source: fromTranscript, path: path, bytes: size, modified: modified})
	}
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil
	case !st.IsDir():
		add(path, st.Size(), st.ModTime())
		return out
	}
	sessions.Source{Path: path}.Find(ctx, func(c sessions.Conversation) bool {
		if c.Size > 0 && !strings.HasPrefix(filepath.Base(c.Path), "agent-") { // a subagent's part of another
			add(c.Path, c.Size, c.ModTime)
		}
		return true
	}, func(string, error) {})
	return out
}

// short returns a short name for use in an address.
func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

// find returns the session of an id.
func (s *shelf) find(ctx context.Context, id string) (found, error) {
	list, _, err := s.all(ctx)
	if err != nil {
		return found{}, err
	}
	i := slices.IndexFunc(list, func(f found) bool { return f.id == id })
	if i < 0 {
		return found{}, errNoSession
	}
	return list[i], nil
}

// track returns the track of a transcript under a plan. If there is no such track, it begins one.
func (s *shelf) track(f found, plan Plan) (*track, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errNoSession
	}
	var h *held
	if i := slices.IndexFunc(s.tracks, func(h *held) bool { return h.id == f.id && h.plan == plan }); i >= 0 {
		h = s.tracks[i]
		s.tracks = append(slices.Delete(s.tracks, i, i+1), h)
	} else {
		h = &held{id: f.id, plan: plan}
		s.tracks = append(s.tracks, h)
	}
	var old *held
	if len(s.tracks) > mostTracks {
		old, s.tracks = s.tracks[0], slices.Delete(s.tracks, 0, 1)
	}
	s.mu.Unlock()
	if old != nil {
		go old.close()
	}
	h.once.Do(func() { h.track, h.err = newTrack(f.path, plan, s.o.Prices, s.record) })
	if h.err != nil {
		s.mu.Lock()
		s.tracks = slices.DeleteFunc(s.tracks, func(other *held) bool { return other == h })
		s.mu.Unlock()
	}
	return h.track, h.err
}

// record returns the report on a session's bills, nil if it can't be read.
func (s *shelf) record(session string) *billing.Report {
	st, _ := s.o.Kernel.Usage(context.Background(), billing.Options{Location: s.o.Location})
	return st.Session(session)
}

// close ends a track, also while the track is being opened.
func (h *held) close() {
	h.once.Do(func() { h.err = errNoSession })
	if h.track != nil {
		h.track.Close()
	}
}

// Close ends all tracks.
func (s *shelf) Close() {
	s.mu.Lock()
	all := s.tracks
	s.tracks, s.closed = nil, true
	s.mu.Unlock()
	for _, h := range all {
		h.close()
	}
}
