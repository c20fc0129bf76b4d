package kernel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/blob"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/sessions"
)

// SessionOptions say whether what was said in other sessions is searched. It is off
// by default.
type SessionOptions struct {
	// Enabled makes documents of past sessions, secrets masked, whenever the index is
	// brought up to date, and lets private sessions of the same agent find them.
	Enabled bool
	// Sources are folders of transcripts that hosts write.
	Sources []sessions.Source
	// NoOwn leaves out the sessions that this kernel keeps journals of.
	NoOwn bool
	// Agent is whose sessions this kernel's are, unless their keys name another, as
	// in agent:NAME:REST. Default: LifeOptions.Source, or [sessions.DefaultAgent].
	Agent string
	// DeltaBytes, DeltaMessages and Settle say how much must be new of a session for
	// it to be read again; see [sessions.Options]. An explicit Reindex reads all.
	DeltaBytes    int64
	DeltaMessages int
	Settle        time.Duration
}

// pastDir is where documents of past sessions are kept, in the state directory.
const pastDir = "transcripts"

func (m *memory) openPast() {
	o := &m.opts.Sessions
	mask := func(s string) string { return m.masker.Text(s) }
	m.past = sessions.Open(m.state.Sub(pastDir), &sessions.Options{Mask: mask, Location: m.location(),
		DeltaBytes: o.DeltaBytes, DeltaMessages: o.DeltaMessages, Settle: o.Settle})
}

func (m *memory) location() *time.Location {
	if loc := m.opts.Store.Timezone; loc != nil {
		return loc
	}
	return time.Local
}

// agent is whose a session is: the one that its key names, or the kernel's.
func (m *memory) agent(key string) string {
	return cmp.Or(sessions.AgentOf(key), m.opts.Sessions.Agent, sessions.DefaultAgent)
}

// readPast makes documents of what is new in past sessions. What can't be read is
// told as skipped.
func (m *memory) readPast(ctx context.Context, opts *ReindexOptions, r *ReindexReport) error {
	o := &m.opts.Sessions
	if !o.Enabled {
		return nil
	}
	from := []sessions.Lister{}
	for _, src := range o.Sources {
		from = append(from, m.transcripts(src))
	}
	if !o.NoOwn {
		from = append(from, m.ownSessions)
	}
	report, err := m.past.Update(ctx, sessions.UpdateOptions{All: !opts.delta, Wait: !opts.delta, Now: m.now()}, from...)
	if errors.Is(err, sessions.ErrBusy) {
		err = nil // the other process does it
	}
	r.Sessions = report
	return err
}

// transcripts lists those of a source; those that are nobody's are the kernel's
// agent's.
func (m *memory) transcripts(src sessions.Source) sessions.Lister {
	return func(ctx context.Context, yield func(sessions.Conversation) bool, failed func(string, error)) {
		src.Find(ctx, func(c sessions.Conversation) bool {
			c.Agent = cmp.Or(c.Agent, m.agent(c.Key))
			return yield(c)
		}, failed)
	}
}

// ownSessions lists the sessions that this state directory has journals of.
func (m *memory) ownSessions(ctx context.Context, yield func(sessions.Conversation) bool, failed func(string, error)) {
	in := m.state.Sub(sessionsFolder)
	root := in.Path("")
	entries, err := in.ReadDir("")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		failed(root, fmt.Errorf("list sessions: %w", err))
	}
	for _, e := range entries {
		path := in.Sub(e.Name()).Path(journalFile)
		fi, err := in.Sub(e.Name()).Stat(journalFile)
		if err != nil {
			continue // nothing was said in it yet
		}
		key, err := sessionKeyIn(m.state, e.Name())
		if err == nil && key == e.Name() {
			_, err = sessionKeyOf(key)
		}
		if err != nil {
			failed(path, err)
			continue
		}
		c := sessions.Conversation{Agent: m.agent(key), Key: key, Name: e.Name(), Path: path, Size: fi.Size(), ModTime: fi.ModTime(), Read: m.readJournal}
		if !yield(c) || ctx.Err() != nil {
			return
		}
	}
}

// namesAgent is how the folder of a session begins whose key names an agent, and
// ends if its key could not stand there as it is.
var namesAgent = regexp.MustCompile(`^agent_.*-[0-9a-f]{16}$`)

// maxColons bounds the places where a colon is tried.
const maxColons = 12

// sessionKeyOf is the key of a session by its folder's name. Of keys that name an agent the
// folder has the colons replaced: where they stood is told by the hash behind it. If
// it can't be told, nobody knows whose the session is.
func sessionKeyOf(folder string) (string, error) {
	if !namesAgent.MatchString(folder) {
		return folder, nil
	}
	body, sum := folder[:len(folder)-17], folder[len(folder)-16:]
	var at []int
	for i := range len(body) {
		if body[i] == '_' {
			at = append(at, i)
		}
	}
	for set := 1; len(at) <= maxColons && set < 1<<len(at); set++ {
		key := []byte(body)
		for i, p := range at {
			if set>>i&1 == 1 {
				key[p] = ':'
			}
		}
		if h := sha256.Sum256(key); hex.EncodeToString(h[:8]) == sum {
			return string(key), nil
		}
	}
	return "", fmt.Errorf("session %s: its key can't be told from its folder, so nobody knows whose it is: it is not searched", folder)
}

// readJournal reads what people and models said from a session's journal. Positions
// count its records.
func (m *memory) readJournal(ctx context.Context, c *sessions.Conversation, from sessions.Position, turn func(sessions.Turn) error) (sessions.Position, error) {
	j, err := journal.OpenJournalIn(m.state.Sub(sessionsFolder).Sub(c.Name), journalFile, &journal.Options{ReadOnly: true})
	if err != nil {
		return from, err
	}
	defer j.Close()
	at, seen := sessions.Position{Dialect: "journal"}, map[string]bool{}
	for rec, err := range j.Records() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return from, err
		}
		at.Line++
		if rec.Op != opIngest {
			continue
		}
		var b ingest.Body
		if err := unmarshal(rec, &b); err != nil {
			return from, err
		}
		for _, p := range b.Pages {
			t, ok := m.said(p, b.Content, seen)
			if t.Line = at.Line; !ok || at.Line <= from.Line {
				continue
			}
			if err := turn(t); err != nil {
				return from, err
			}
		}
	}
	at.Offset = j.Size()
	return at, nil
}

// said is what a page of a conversation says, the first time that it comes.
func (m *memory) said(p *pagevm.Page, content map[string]string, seen map[string]bool) (sessions.Turn, bool) {
	if p.Type != pagevm.Conversation || p.Role != "user" && p.Role != "assistant" || seen[p.ID] {
		return sessions.Turn{}, false
	}
	stored, ok := content[p.ID]
	if rep := ingest.FullRep(p); !ok && rep != nil {
		stored, ok = rep.Text, true
	}
	if !ok && p.Blob != "" {
		b, err := blob.Open(m.state.Sub("blobs")).Get(p.Blob)
		stored, ok = string(b), err == nil // gone by retention otherwise
	}
	seen[p.ID] = ok
	t := turnOf(p, stored)
	return t, ok && t.Text != ""
}

// turnOf is the text of a page's parts, without calls and media.
func turnOf(p *pagevm.Page, stored string) sessions.Turn {
	var said []string
	dec := json.NewDecoder(strings.NewReader(stored))
	for dec.More() {
		var part struct{ Type, Text string }
		if err := dec.Decode(&part); err != nil {
			said = []string{stored}
			break
		}
		if strings.HasSuffix(part.Type, "text") && strings.TrimSpace(part.Text) != "" {
			said = append(said, strings.TrimSpace(part.Text))
		}
	}
	return sessions.Turn{Role: p.Role, Time: p.Created, Text: strings.Join(said, "\n")}
}

// PastStatus counts what is kept of past sessions.
type PastStatus struct {
	Enabled bool   `json:"enabled"`
	Agent   string `json:"agent"`
	// Sources are the folders of transcripts, Own tells whether the kernel's own
	// sessions are read too.
	Sources   []string `json:"sources"`
	Own       bool     `json:"own"`
	Sessions  int      `json:"sessions"`
	Turns     int      `json:"turns"`
	Forgotten int      `json:"forgotten"`
	// Error is why they can't be counted, "" if they can.
	Error string `json:"error,omitempty"`
}

func (m *memory) pastStatus() PastStatus {
	o := &m.opts.Sessions
	st := PastStatus{Enabled: o.Enabled, Agent: m.agent(""), Sources: []string{}, Own: o.Enabled && !o.NoOwn}
	for _, src := range o.Sources {
		st.Sources = append(st.Sources, src.Path)
	}
	n, err := m.past.Stats()
	if err != nil {
		st.Error = err.Error()
	}
	st.Sessions, st.Turns, st.Forgotten = n.Conversations, n.Turns, n.Forgotten
	return st
}

// forgetPast forgets the conversations of a session, or says which would be. It
// comes before all else of the session goes, since from here on nobody finds them.
func (k *Kernel) forgetPast(ctx context.Context, req *ForgetRequest, out *Forgotten) error {
	m := k.memory
	out.Transcripts = []sessions.Forgotten{}
	if m == nil || !req.Session || !m.past.Exists() && !m.opts.Sessions.Enabled {
		return nil
	}
	found, err := m.past.Matching(req.SessionKey)
	if err == nil && req.Apply {
		var name string
		if name, err = folderOf(k.state, req.SessionKey); err != nil {
			return err
		}
		own := sessions.Folder(m.agent(req.SessionKey), name)
		found, err = m.past.Forget(ctx, sessions.ForgetRequest{Key: req.SessionKey, Folders: []string{own}, Reason: m.masker.Text(req.Reason), Now: req.Now})
	}
	out.Transcripts = append(out.Transcripts, found...)
	return err
}

// forgetSaid forgets what pages say in the documents of past sessions.
func (m *memory) forgetSaid(ctx context.Context, s *session, pages []*pagevm.Page) error {
	if m == nil || !m.past.Exists() {
		return nil
	}
	var turns []sessions.Turn
	r := &reader{s: s}
	for _, p := range pages {
		if p.Type != pagevm.Conversation {
			continue
		}
		text, err := r.content(p)
		if err != nil {
			continue // it is gone already
		}
		if t := turnOf(p, text); t.Text != "" {
			turns = append(turns, t)
		}
	}
	if len(turns) == 0 {
		return nil
	}
	return m.past.ForgetTurns(ctx, turns)
}

// dropPast takes what was forgotten out of the index now. Where that can't be done
// now, searches leave it out until it is.
func (m *memory) dropPast(ctx context.Context, out *Forgotten) {
	if m == nil || !m.past.Exists() {
		return
	}
	if _, err := m.reader(ctx); err != nil {
		return
	}
	r := &ReindexReport{}
	ix, err := m.writer(ctx, r, false)
	if err == nil {
		err = errors.Join(m.sync(ctx, ix, &ReindexOptions{}, r), ix.Close())
	}
	if err != nil {
		out.Elsewhere = append(out.Elsewhere, "the index, where nobody finds it any more: the next reindex removes it ("+err.Error()+")")
	}
}

// sources are what a search may be told to look in.
var sources = []string{SourceMemory, SourceSessions}

// The sources of memory.
const (
	// SourceMemory are the workspace's files.
	SourceMemory = "memory"
	// SourceSessions is what was said: in this session and no longer shown, and in
	// others.
	SourceSessions = "sessions"
)

func checkSource(source string) error {
	if source == "" || slices.Contains(sources, source) {
		return nil
	}
	return fmt.Errorf("search: unknown source %q: give one of %s, or none for all", source, strings.Join(sources, ", "))
}
