package ui

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/sessions"
	"github.com/memkernel/memkernel/transcript"
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
	brief     brief
	// again means that the list also has the transcript of this session, so that this entry is not
	// shown.
	again bool
}

// brief sums up what was said in a session. It is empty until the session was read.
type brief struct {
	id, host, prompt string
	prompts, calls   int
	begun            time.Time
}

// briefly sums up a conversation.
func (t *talk) briefly(host string) brief {
	b := brief{id: t.id, host: host, prompts: len(t.prompts)}
	for i := range t.msgs {
		if m := &t.msgs[i]; m.Role == memkernel.RoleAssistant && m.Origin == memkernel.OriginHost {
			b.calls++
		}
		if b.begun.IsZero() {
			b.begun = t.msgs[i].Time
		}
	}
	if len(t.prompts) > 0 {
		b.prompt = oneLine(t.words(t.prompts[0]))
	}
	return b
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
	tracks []*track // in the order of their last use
	closed bool
	// briefs has the summaries by the state of their sessions. reading reports that the missing ones
	// are being read.
	briefs  map[string]brief
	reading bool
}

// state returns a text that changes when the session changes.
func (f *found) state() string { return fmt.Sprint(f.id, f.bytes, f.modified.UnixNano()) }

// read sums up the listed sessions that have no summary yet, the newest first.
func (s *shelf) read(list []found) {
	for i := range list {
		f := &list[i]
		s.mu.Lock()
		_, known := s.briefs[f.state()]
		closed := s.closed
		s.mu.Unlock()
		if closed {
			return
		}
		if known {
			continue
		}
		b := s.brief(f)
		s.mu.Lock()
		if s.briefs == nil {
			s.briefs = map[string]brief{}
		}
		s.briefs[f.state()], s.listed = b, time.Time{}
		s.mu.Unlock()
	}
	s.mu.Lock()
	s.reading = false
	s.mu.Unlock()
}

// brief reads a session and sums it up. The summary of an unreadable session is empty. The person
// sees the error on opening the session.
func (s *shelf) brief(f *found) brief {
	t, host, err := s.talk(context.Background(), f)
	if err != nil {
		return brief{}
	}
	return t.briefly(host)
}

// talk reads the conversation of a session, and the name of its host.
func (s *shelf) talk(ctx context.Context, f *found) (*talk, string, error) {
	if f.source == fromTranscript {
		session, err := transcript.LoadFile(f.path, &transcript.Options{Name: f.path, SkipBroken: true})
		if err != nil {
			return nil, "", err
		}
		t := newTalk(session.View(transcript.Full), session.Compactions())
		t.id, t.cwd = session.ID, session.Cwd
		return t, string(session.Dialect), nil
	}
	kept, err := s.o.Kernel.Kept(ctx, f.key)
	if err != nil {
		return nil, "", err
	}
	host, _, _ := strings.Cut(f.key, ":")
	return talkOfKept(kept), host, nil
}

// keyOf returns the key of the session in the state folder that has a host's id, "" if none has.
func (s *shelf) keyOf(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.report != nil && id != "" {
		for i := range s.report.Sessions {
			if key := s.report.Sessions[i].Key; key == id || strings.HasSuffix(key, ":"+id) {
				return key
			}
		}
	}
	return ""
}

// mostTracks bounds the open tracks.
const mostTracks = 8

// all lists the sessions, the newest first.
func (s *shelf) all(ctx context.Context) ([]found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.listed) < fresh {
		return s.list, nil
	}
	report, err := s.o.Kernel.Status(ctx, nil)
	if err != nil {
		return nil, err
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
	hosts := map[string]bool{} // the ids of the transcripts
	for i := range out {
		if out[i].brief = s.briefs[out[i].state()]; out[i].source == fromTranscript {
			hosts[out[i].brief.id], hosts[out[i].name] = true, true
		}
	}
	for i := range out {
		_, id, _ := strings.Cut(out[i].key, ":")
		out[i].again = id != "" && hosts[id]
	}
	slices.SortStableFunc(out, func(a, b found) int { return cmp.Or(b.modified.Compare(a.modified), cmp.Compare(a.id, b.id)) })
	s.list, s.report, s.listed = out, report, time.Now()
	if !s.reading && !s.closed {
		s.reading = true
		go s.read(slices.Clone(out))
	}
	return out, nil
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
		if c.Size > 0 && !strings.HasPrefix(filepath.Base(c.Path), "agent-") { // a subagent's file is part of another session
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
	list, err := s.all(ctx)
	if err != nil {
		return found{}, err
	}
	i := slices.IndexFunc(list, func(f found) bool { return f.id == id })
	if i < 0 {
		return found{}, errNoSession
	}
	return list[i], nil
}

// track returns the track of a transcript. If there is no such track, it begins one.
func (s *shelf) track(f found) (*track, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errNoSession
	}
	i := slices.IndexFunc(s.tracks, func(t *track) bool { return t.path == f.path })
	if i < 0 {
		t, err := newTrack(f.path, s.o)
		if err != nil {
			return nil, err
		}
		s.tracks = append(s.tracks, t)
	} else {
		t := s.tracks[i]
		s.tracks = append(slices.Delete(s.tracks, i, i+1), t)
	}
	if len(s.tracks) > mostTracks {
		go s.tracks[0].Close()
		s.tracks = slices.Delete(s.tracks, 0, 1)
	}
	return s.tracks[len(s.tracks)-1], nil
}

// Close ends all tracks.
func (s *shelf) Close() {
	s.mu.Lock()
	all := s.tracks
	s.tracks, s.closed = nil, true
	s.mu.Unlock()
	for _, t := range all {
		t.Close()
	}
}
