package imports

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/index"
)

// OpenCode 1.x keeps sessions in SQLite, in the tables session, message and part. The column data
// of message and part holds a document. OpenCode's command export writes the same content as one
// document.

type ocMessage struct {
	ID       string `json:"id"`
	ParentID string `json:"parentID"`
	Role     string `json:"role"`
	ModelID  string `json:"modelID"`
	Summary  any    `json:"summary"` // true on a summary of the assistant's
	Time     struct {
		Created int64 `json:"created"`
	} `json:"time"`
	Tokens json.RawMessage `json:"tokens"`
}

type ocPart struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"`
	Ignored   bool   `json:"ignored"`
	CallID    string `json:"callID"`
	Tool      string `json:"tool"`
	Filename  string `json:"filename"`
	Prompt    string `json:"prompt"`
	State     struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
		Output string          `json:"output"`
		Error  string          `json:"error"`
	} `json:"state"`
}

// ocSaid returns the messages made from one OpenCode message. An assistant's calls are followed
// by their results. The parameter place is the position of the message, for reports of lost
// records.
func (r *reader) ocSaid(place string, m *ocMessage, parts []json.RawMessage) []memkernel.Message {
	out := memkernel.Message{Key: m.ID, Role: memkernel.RoleUser, Time: millis(m.Time.Created), Model: m.ModelID}
	if m.Role == "assistant" {
		out.Role = memkernel.RoleAssistant
		out.Usage, _ = memkernel.ReadUsage(m.Tokens) // usage that can't be read counts as unknown
		if m.Summary == true {
			out.Origin = memkernel.OriginSummary
		}
	}
	results := memkernel.Message{Key: m.ID + "_results", Role: memkernel.RoleTool, Time: out.Time}
	for i, raw := range parts {
		var p ocPart
		if err := json.Unmarshal(raw, &p); err != nil {
			r.lost(OpenCode, "%s: message %s: part %d: %w", place, m.ID, i+1, err)
			continue
		}
		switch p.Type {
		case "text":
			if strings.TrimSpace(p.Text) != "" && !p.Ignored {
				said := textPart(p.Text)
				said.Typed = out.Role == memkernel.RoleUser && !p.Synthetic
				out.Parts = append(out.Parts, said)
			}
		case "reasoning":
			if p.Text != "" {
				out.Parts = append(out.Parts, thought(p.Text))
			}
		case "file":
			out.Parts = append(out.Parts, textPart("["+cmp.Or(p.Filename, "file")+"]"))
		case "subtask":
			out.Parts = append(out.Parts, textPart(p.Prompt))
		case "tool":
			id := cmp.Or(p.CallID, fmt.Sprintf("%s_call_%d", m.ID, i))
			out.Parts = append(out.Parts, callPart(memkernel.ToolCall{ID: id, Name: p.Tool, Input: inputOf(p.State.Input)}))
			failed := p.State.Status == "error"
			if p.State.Status == "completed" || failed {
				text := p.State.Output
				if failed {
					text = p.State.Error
				}
				results.Parts = append(results.Parts, resultPart(id, p.Tool, memkernel.Text(text), failed))
			}
		case "step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction": // nobody said them
		default:
			r.lost(OpenCode, "%s: message %s: a part of type %q is not known", place, m.ID, p.Type)
		}
	}
	var said []memkernel.Message
	for _, m := range []memkernel.Message{out, results} {
		if len(m.Parts) > 0 {
			said = append(said, m)
		}
	}
	return said
}

// openCodeExport hands out the session in a document of OpenCode's command export.
func (r *reader) openCodeExport(c *candidate) error {
	c.format = OpenCode
	if c.size > maxGemini {
		return tooLarge(c.size, maxGemini)
	}
	data, err := io.ReadAll(io.LimitReader(c, maxGemini))
	if err != nil {
		return err
	}
	var doc struct {
		Info struct {
			ID, ParentID, Directory string
		} `json:"info"`
		Messages []struct {
			Info  ocMessage         `json:"info"`
			Parts []json.RawMessage `json:"parts"`
		} `json:"messages"`
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
	s := &Session{Format: OpenCode, ID: doc.Info.ID, Place: c.place, Print: hash(string(data))}
	for i := range doc.Messages {
		m := &doc.Messages[i]
		s.add(r.ocSaid(c.place, &m.Info, m.Parts))
	}
	return r.session(s, doc.Info.Directory)
}

func (s *Session) add(msgs []memkernel.Message) {
	for i := range msgs {
		if msgs[i].Role == memkernel.RoleAssistant && msgs[i].Model != "" {
			s.Model = msgs[i].Model
		}
	}
	s.Messages = append(s.Messages, msgs...)
}

// database reads a SQLite file. The tables in the file decide the format.
func (r *reader) database(c *candidate) error {
	db, err := index.OpenBorrowed(r.ctx, c.path)
	if err != nil {
		if c.named || errors.Is(err, context.Canceled) {
			return err
		}
		r.found.Left("", c.place, err.Error())
		return nil
	}
	defer db.Close()
	for _, known := range []struct {
		format Format
		tables map[string][]string
		read   func(*candidate, *sql.DB) error
	}{
		{OpenCode, map[string][]string{"session": {"id", "directory", "title", "parent_id"}, "message": {"id", "session_id", "data", "time_created"}, "part": {"id", "message_id", "data"}}, r.openCode},
		{claudeMem, map[string][]string{"observations": {"id", "project", "type", "created_at"}, "session_summaries": {"id", "project", "learned", "created_at"}}, r.claudeMem},
		{mem0, map[string][]string{"history": {"id", "memory_id", "new_memory", "event", "created_at"}}, r.mem0History},
	} {
		has, err := hasTables(r.ctx, db, known.tables)
		if err != nil {
			return index.PlainBorrowed(err)
		}
		if has {
			c.format = known.format
			if err := known.read(c, db); err != nil {
				if s := (stop{}); errors.As(err, &s) {
					return err
				}
				return index.PlainBorrowed(err)
			}
			return nil
		}
	}
	if c.named {
		return errUnknown
	}
	return nil
}

func hasTables(ctx context.Context, db *sql.DB, want map[string][]string) (bool, error) {
	for table, columns := range want {
		has, err := index.BorrowedColumns(ctx, db, table)
		if err != nil {
			return false, err
		}
		for _, c := range columns {
			if !has[c] {
				return false, nil
			}
		}
	}
	return true, nil
}

// rows calls f with the scanner of every row that a query finds.
func (r *reader) rows(db *sql.DB, f func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := db.QueryContext(r.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
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
		s := &Session{Format: OpenCode, ID: h[0], Place: c.place + "#" + h[0]}
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

// ocSession reads the messages of a session.
func (r *reader) ocSession(db *sql.DB, s *Session) error {
	var m ocMessage
	var parts []json.RawMessage
	var print strings.Builder
	size, end := 0, func() {
		if m.ID != "" {
			s.add(r.ocSaid(s.Place, &m, parts))
		}
		parts = nil
	}
	skipped := ""
	err := r.rows(db, func(scan func(...any) error) error {
		var id, data string
		var created int64
		var part sql.NullString
		if err := scan(&id, &created, &data, &part); err != nil {
			return err
		}
		if size += len(part.String); size > maxSession {
			return fmt.Errorf("%s: %w", s.Place, tooLarge(int64(size), maxSession))
		}
		if id == skipped {
			return nil
		}
		if id != m.ID {
			end()
			m = ocMessage{}
			print.WriteString(hash(data))
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				r.lost(OpenCode, "%s: message %s: %w", s.Place, id, err)
				m, skipped = ocMessage{}, id
				return nil
			}
			m.ID = id
			if m.Time.Created == 0 {
				m.Time.Created = created
			}
		}
		if part.Valid {
			print.WriteString(hash(part.String))
			parts = append(parts, json.RawMessage(part.String))
		}
		return nil
	}, "SELECT m.id, m.time_created, m.data, p.data FROM message m LEFT JOIN part p ON p.message_id = m.id WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.id", s.ID)
	if err == nil {
		end()
		s.Print = hash(print.String())
	}
	return err
}

// claudeMem hands out the notes of claude-mem: observations, and summaries of sessions. The
// project is the name of a folder.
func (r *reader) claudeMem(c *candidate, db *sql.DB) error {
	if err := r.claudeMemRows(c, db, "observation", "SELECT id, project, created_at, type, title, text, narrative, facts FROM observations ORDER BY id", func(v []sql.NullString) string {
		text := cmp.Or(v[3].String, v[2].String)
		if v[1].String != "" {
			text = "**" + v[1].String + "** (" + v[0].String + "): " + text
		}
		return text + "\n" + listed(v[4].String)
	}); err != nil {
		return err
	}
	return r.claudeMemRows(c, db, "summary", "SELECT id, project, created_at, request, learned, completed, next_steps, notes FROM session_summaries ORDER BY id", func(v []sql.NullString) string {
		var b strings.Builder
		for i, name := range []string{"Request", "Learned", "Completed", "Next steps", "Notes"} {
			if v[i].String != "" {
				fmt.Fprintf(&b, "**%s**: %s ", name, v[i].String)
			}
		}
		return b.String()
	})
}

func (r *reader) claudeMemRows(c *candidate, db *sql.DB, kind, query string, text func([]sql.NullString) string) error {
	return r.rows(db, func(scan func(...any) error) error {
		var id int64
		var project, created string
		v := make([]sql.NullString, 5)
		if err := scan(&id, &project, &created, &v[0], &v[1], &v[2], &v[3], &v[4]); err != nil {
			return err
		}
		if !r.o.All && project != filepath.Base(r.workspace) {
			r.found.Elsewhere(claudeMem)
			return nil
		}
		f := &Fact{Format: claudeMem, Text: text(v), Source: fmt.Sprintf("%s/%d", kind, id), Day: day(parseTime(created))}
		if r.o.All {
			f.Topic = project
		}
		return r.fact(f)
	}, query)
}

// listed returns a JSON list of texts as one line.
func listed(list string) string {
	var texts []string
	if json.Unmarshal([]byte(list), &texts) != nil {
		return list
	}
	return strings.Join(texts, "; ")
}
