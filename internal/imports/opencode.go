package imports

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// OpenCode 1.x keeps sessions in SQLite, in the tables session, message and part. The column data
// of message and part holds a document. OpenCode's command export writes the same content as one
// document.

// openCodeExport hands out the session in a document of OpenCode's command export.
func (r *reader) openCodeExport(c *candidate) error {
	c.format = openCode
	if c.size > maxGemini {
		return tooLarge(c.size, maxGemini)
	}
	data, err := io.ReadAll(io.LimitReader(c, maxGemini))
	if err != nil {
		return err
	}
	var doc struct {
		Info struct{ ID, ParentID, Directory string }
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return fmt.Errorf("it can't be read: %w", orEnd(err))
	}
	switch {
	case !strings.HasPrefix(doc.Info.ID, "ses"):
		if c.named {
			return errUnknown
		}
		return nil
	case doc.Info.ParentID != "":
		return errors.New("it is a subagent's part of another session")
	}
	s := &Session{Format: openCode, Plugin: true, ID: doc.Info.ID, Place: c.place, Print: hash(string(data))}
	if err := r.ocSaid(s, data); err != nil {
		return err
	}
	return r.session(s, doc.Info.Directory)
}

// ocSaid reads the messages of a session's document.
func (r *reader) ocSaid(s *Session, document []byte) error {
	said, err := transcript.Load(bytes.NewReader(document), "", &transcript.Options{Dialect: "opencode", MaxLineBytes: 2 * maxSession})
	if err != nil {
		return err
	}
	for _, n := range said.Notes {
		r.lost(openCode, "%s: %s", s.Place, n.Text)
	}
	for _, m := range said.Messages {
		if m.Role == memkernel.RoleAssistant && m.Model != "" {
			s.Model = m.Model
		}
	}
	s.Messages = said.Messages
	return nil
}

// openCode hands out the sessions of OpenCode's database. Sessions with a parent belong to
// subagents and are parts of other sessions.
func (r *reader) openCode(c *candidate, db *sql.DB) error {
	var heads [][2]string // id and folder
	if err := r.rows(db, func(scan func(...any) error) error {
		var h [2]string
		err := scan(&h[0], &h[1])
		heads = append(heads, h)
		return err
	}, "SELECT id, directory FROM session WHERE parent_id IS NULL OR parent_id = '' ORDER BY id"); err != nil {
		return err
	}
	for _, h := range heads {
		s := &Session{Format: openCode, Plugin: true, ID: h[0], Place: c.place + "#" + h[0]}
		if r.o.All || r.isHere(h[1]) {
			if err := r.ocSession(db, s); err != nil {
				return err
			}
			if len(s.Messages) == 0 {
				continue
			}
			s.Live = time.Since(s.Messages[len(s.Messages)-1].Time) < resting
		}
		if err := r.session(s, h[1]); err != nil {
			return err
		}
	}
	return nil
}

// resting is the silence after which a session counts as ended.
const resting = time.Hour

// ocMessage is a message as the command export writes it.
type ocMessage struct {
	Info  map[string]json.RawMessage `json:"info"`
	Parts []json.RawMessage          `json:"parts"`
}

// ocSession reads the messages of a session, in the document that the command export would write.
func (r *reader) ocSession(db *sql.DB, s *Session) error {
	var doc struct {
		Info     map[string]string `json:"info"`
		Messages []ocMessage       `json:"messages"`
	}
	doc.Info = map[string]string{"id": s.ID}
	size, last, broken := 0, "", false
	if err := r.rows(db, func(scan func(...any) error) error {
		var id, data string
		var created int64
		var part sql.NullString
		if err := scan(&id, &created, &data, &part); err != nil {
			return err
		}
		if id != last {
			size += len(data)
		}
		if size += len(part.String); size > maxSession {
			return fmt.Errorf("%s: %w", s.Place, tooLarge(int64(size), maxSession))
		}
		if id != last {
			m := ocMessage{Parts: []json.RawMessage{}}
			err := json.Unmarshal([]byte(data), &m.Info)
			if last, broken = id, err != nil || m.Info == nil; broken {
				r.lost(openCode, "%s: message %s: %w", s.Place, id, cmp.Or(err, errUnknown))
				return nil
			}
			m.Info["id"] = json.RawMessage(strconv.Quote(id))
			if m.Info["time"] == nil {
				m.Info["time"] = fmt.Appendf(nil, `{"created":%d}`, created)
			}
			doc.Messages = append(doc.Messages, m)
		}
		switch at := len(doc.Messages) - 1; {
		case broken || !part.Valid:
		case json.Valid([]byte(part.String)):
			doc.Messages[at].Parts = append(doc.Messages[at].Parts, json.RawMessage(part.String))
		default:
			r.lost(openCode, "%s: message %s: a part is no JSON", s.Place, id)
		}
		return nil
	}, "SELECT m.id, m.time_created, m.data, p.data FROM message m LEFT JOIN part p ON p.message_id = m.id WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.id", s.ID); err != nil {
		return err
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	s.Print = hash(string(text))
	if len(doc.Messages) == 0 {
		return nil
	}
	return r.ocSaid(s, text)
}
