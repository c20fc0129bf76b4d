package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/sessions"
	"github.com/memkernel/memkernel/transcript"
)

// Journals lists the sessions of a state directory as past sessions, from their journals.
type Journals struct{ State store.Store }

// List lists the sessions.
func (m Journals) List(ctx context.Context, yield func(sessions.Conversation) bool, failed func(string, error)) {
	_, here := m.State.(store.Disk)
	all, err := store.Logs(m.State, folder.Sessions, folder.JournalFile, markdownstore.SinceOf(ctx))
	if err != nil {
		failed(m.State.In(folder.Sessions).Where(""), fmt.Errorf("list sessions: %w", err))
	}
	for _, e := range all {
		name := e.Name
		in := folder.In(m.State, name)
		path := in.Where(folder.JournalFile)
		fi, err := e.Info()
		if store.OutOfReach(err) {
			failed(path, err)
			continue
		}
		if err != nil {
			continue // the session has no messages yet
		}
		key, err := folder.KeyIn(m.State, name)
		if err == nil && key == name {
			_, err = folder.KeyOf(key)
		}
		if err != nil {
			failed(path, err)
			continue
		}
		c := sessions.Conversation{Key: key, Name: name, Path: path, Size: fi.Size, ModTime: fi.Time, Far: !here, Read: m.read,
			Open: func() (sessions.Bytes, error) { return in.Open(folder.JournalFile) }}
		if !yield(c) || ctx.Err() != nil {
			return
		}
	}
}

// read calls turn with the words of people and models in a session's journal. Positions count the
// journal's records. It reads the journal once.
func (m Journals) read(ctx context.Context, c *sessions.Conversation, from sessions.Position, turn func(sessions.Turn) error) (sessions.Position, error) {
	in := folder.In(m.State, c.Name)
	j, err := in.OpenLog(folder.JournalFile, store.LogOptions{ReadOnly: true})
	if err != nil {
		return from, err
	}
	at, sum, seen := sessions.Position{Dialect: "journal"}, sha256.New(), map[string]bool{}
	rewritten := func() bool {
		return at.Line == from.Line && from.Line > 0 && hex.EncodeToString(sum.Sum(nil)) != from.Sum
	}
	err = j.Read(func(rec store.Record) error {
		if c.Far && rewritten() {
			return sessions.ErrRewritten
		}
		at.Line++
		if c.Far {
			fmt.Fprintf(sum, "%q %q %d ", rec.Op, rec.ID, len(rec.Body))
			sum.Write(rec.Body)
		}
		if err := ctx.Err(); err != nil || rec.Op != ingest.Op {
			return err
		}
		var b ingest.Body
		if err := json.Unmarshal(rec.Body, &b); err != nil {
			return fmt.Errorf("read %s record %s: %w", rec.Op, rec.ID, err)
		}
		for _, p := range b.Pages {
			t, ok, err := m.said(p, b.Content, seen)
			if err != nil {
				return err
			}
			if t.Line = at.Line; !ok || at.Line <= from.Line {
				continue
			}
			if err := turn(t); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && c.Far && (at.Line < from.Line || rewritten()) {
		err = sessions.ErrRewritten
	}
	if err != nil {
		return from, err
	}
	if at.Offset = j.Size(); c.Far {
		at.Sum = hex.EncodeToString(sum.Sum(nil))
	}
	return at, nil
}

// said returns a page of a conversation as a turn. It returns false if the page has occurred before
// or has no text.
func (m Journals) said(p *pagevm.Page, content map[string]string, seen map[string]bool) (sessions.Turn, bool, error) {
	if p.Type != pagevm.Conversation || p.Role != "user" && p.Role != "assistant" || seen[p.ID] {
		return sessions.Turn{}, false, nil
	}
	stored, ok := content[p.ID]
	if rep := ingest.FullRep(p); !ok && rep != nil {
		stored, ok = rep.Text, true
	}
	if !ok && p.Blob != "" {
		b, err := store.BlobsIn(m.State.In(folder.Blobs)).Get(p.Blob)
		if store.OutOfReach(err) {
			return sessions.Turn{}, false, err
		}
		stored, ok = string(b), err == nil // otherwise retention removed the blob
	}
	seen[p.ID] = ok
	t := turnOf(p, stored)
	return t, ok && t.Text != "", nil
}

// Turns returns the forms in which a document of past sessions may hold a page: the present form,
// and the form of older versions, which kept all text.
func Turns(p *pagevm.Page, stored string) []sessions.Turn {
	turns := []sessions.Turn{turnOf(p, stored), whole(p, stored)}
	return slices.DeleteFunc(turns, func(t sessions.Turn) bool { return t.Text == "" })
}

// turnOf returns a page as a turn for later readers. The turn has no calls, no media, and no text
// that a host put around a person's words.
func turnOf(p *pagevm.Page, stored string) sessions.Turn {
	t := whole(p, stored)
	if p.Summary {
		t.Role = sessions.SummaryRole
		return t
	}
	if t.Role = p.Speaker(); p.Role == string(memkernel.RoleUser) {
		t.Text = transcript.Words(memkernel.Message{Role: memkernel.RoleUser, Parts: memkernel.Text(t.Text)})
	}
	return t
}

// whole returns the text of a page's parts, without calls and media.
func whole(p *pagevm.Page, stored string) sessions.Turn {
	var said []string
	parts, err := partsOf(stored)
	if err != nil {
		said = []string{stored}
	}
	for _, part := range parts {
		if strings.HasSuffix(part.Type, "text") && strings.TrimSpace(part.Text) != "" {
			said = append(said, strings.TrimSpace(part.Text))
		}
	}
	return sessions.Turn{Role: p.Role, Time: p.Created, Text: strings.Join(said, "\n")}
}
