package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	mem "github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/kernel/internal/session"
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

// room are the options as package memory has them.
func (o *SessionOptions) room(state store.Store) mem.SessionOptions {
	out := mem.SessionOptions{Enabled: o.Enabled, Sources: o.Sources, Agent: o.Agent, DeltaBytes: o.DeltaBytes, DeltaMessages: o.DeltaMessages, Settle: o.Settle,
		Folder: func(key string) (string, error) { return folder.Of(state, key) }}
	if !o.NoOwn {
		out.Own = journals{state}.list
	}
	return out
}

// journals are those of the sessions in a state directory, as past sessions.
type journals struct{ state store.Store }

// list lists the sessions.
func (m journals) list(ctx context.Context, yield func(sessions.Conversation) bool, failed func(string, error)) {
	in := m.state.In(folder.Sessions)
	root := in.Where("")
	entries, err := in.List("")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		failed(root, fmt.Errorf("list sessions: %w", err))
	}
	for _, e := range entries {
		path := in.In(e.Name).Where(folder.JournalFile)
		fi, err := in.In(e.Name).Stat(folder.JournalFile)
		if err != nil {
			continue // nothing was said in it yet
		}
		key, err := folder.KeyIn(m.state, e.Name)
		if err == nil && key == e.Name {
			_, err = folder.KeyOf(key)
		}
		if err != nil {
			failed(path, err)
			continue
		}
		c := sessions.Conversation{Key: key, Name: e.Name, Path: path, Size: fi.Size, ModTime: fi.Time, Read: m.read}
		if !yield(c) || ctx.Err() != nil {
			return
		}
	}
}

// read reads what people and models said from a session's journal. Positions
// count its records.
func (m journals) read(ctx context.Context, c *sessions.Conversation, from sessions.Position, turn func(sessions.Turn) error) (sessions.Position, error) {
	j, err := journal.OpenJournalIn(m.state.In(folder.Sessions).In(c.Name), folder.JournalFile, &journal.Options{ReadOnly: true})
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
		if rec.Op != ingest.Op {
			continue
		}
		var b ingest.Body
		if err := json.Unmarshal(rec.Body, &b); err != nil {
			return from, fmt.Errorf("read %s record %s: %w", rec.Op, rec.ID, err)
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
func (m journals) said(p *pagevm.Page, content map[string]string, seen map[string]bool) (sessions.Turn, bool) {
	if p.Type != pagevm.Conversation || p.Role != "user" && p.Role != "assistant" || seen[p.ID] {
		return sessions.Turn{}, false
	}
	stored, ok := content[p.ID]
	if rep := ingest.FullRep(p); !ok && rep != nil {
		stored, ok = rep.Text, true
	}
	if !ok && p.Blob != "" {
		b, err := store.BlobsIn(m.state.In(folder.Blobs)).Get(p.Blob)
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

// forgetPast forgets the conversations of a session, or says which would be. It
// comes before all else of the session goes, since from here on nobody finds them.
func (k *Kernel) forgetPast(ctx context.Context, req *ForgetRequest, out *Forgotten) error {
	m := k.memory
	out.Transcripts = []sessions.Forgotten{}
	if m == nil || !req.Session || !m.Past.Exists() && !m.opts.Sessions.Enabled {
		return nil
	}
	found, err := m.Past.Matching(req.SessionKey)
	if err == nil && req.Apply {
		var name string
		if name, err = folder.Of(k.state, req.SessionKey); err != nil {
			return err
		}
		own := sessions.Folder(m.Agent(req.SessionKey), name)
		found, err = m.Past.Forget(ctx, sessions.ForgetRequest{Key: req.SessionKey, Folders: []string{own}, Reason: k.masker.Text(req.Reason), Now: req.Now})
	}
	out.Transcripts = append(out.Transcripts, found...)
	return err
}

// forgetSaid forgets what pages say in the documents of past sessions.
func (m *memory) forgetSaid(ctx context.Context, s *session.Session, pages []*pagevm.Page) error {
	if m == nil || !m.Past.Exists() {
		return nil
	}
	var turns []sessions.Turn
	r := s.Reader()
	for _, p := range pages {
		if p.Type != pagevm.Conversation {
			continue
		}
		text, err := r.Content(p)
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
	return m.Past.ForgetTurns(ctx, turns)
}

// dropPast takes what was forgotten out of the index now. Where that can't be done
// now, searches leave it out until it is.
func (m *memory) dropPast(ctx context.Context, out *Forgotten) {
	if m == nil || !m.Past.Exists() {
		return
	}
	if err := m.Drop(ctx); err != nil {
		out.Elsewhere = append(out.Elsewhere, "the index, where nobody finds it any more: the next reindex removes it ("+err.Error()+")")
	}
}

// sources are what a search may be told to look in.
var sources = []string{SourceMemory, SourceSessions}

// The sources of memory.
const (
	// SourceMemory are the workspace's files.
	SourceMemory = mem.SourceMemory
	// SourceSessions is what was said: in this session and no longer shown, and in
	// others.
	SourceSessions = mem.SourceSessions
)

func checkSource(source string) error {
	if source == "" || slices.Contains(sources, source) {
		return nil
	}
	return fmt.Errorf("search: unknown source %q: give one of %s, or none for all", source, strings.Join(sources, ", "))
}
