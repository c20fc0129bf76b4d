package imports

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/jsonl"
)

// MCP's memory server keeps a graph in memory.jsonl. Each line is a record: an entity with
// observations, or a relation.

type mcpRecord struct {
	Type         string   `json:"type"`
	Name         string   `json:"name"`
	EntityType   string   `json:"entityType"`
	Observations []string `json:"observations"`
	From         string   `json:"from"`
	To           string   `json:"to"`
	RelationType string   `json:"relationType"`
}

func (m *mcpRecord) known() bool {
	return m.Type == "entity" && m.Name != "" || m.Type == "relation" && m.From != "" && m.To != ""
}

// isMCP reports whether one of the first lines is a record of the graph.
func isMCP(head []byte) bool {
	return jsonl.Find(bytes.NewReader(head), maxValue, 20, func(raw string) bool {
		var m mcpRecord
		return strings.Contains(raw, `ype"`) && json.Unmarshal([]byte(raw), &m) == nil && m.known() && (m.EntityType != "" || m.RelationType != "")
	})
}

func (r *reader) mcpMemory(c *candidate) error {
	c.format = mcpMemory
	var m mcpRecord
	for v, err := range jsonl.Values(c, maxValue, func(v *jsonl.Value) error {
		m = mcpRecord{}
		if err := json.Unmarshal([]byte(v.Raw), &m); err != nil || m.known() {
			return err
		}
		return errors.New("it is neither an entity nor a relation")
	}) {
		if err != nil {
			r.lost(c.format, "%s: %w", c.place, err)
			return nil
		}
		switch err = r.ctx.Err(); {
		case err != nil:
		case v.Err != nil:
			r.lost(c.format, "%s:%d: %s: %w", c.place, v.Line, v.Place(), v.Err)
		case !v.Blank():
			err = r.mcpFacts(&m, fmt.Sprintf("%s#L%d", path.Base(filepath.ToSlash(c.place)), v.Line))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mcpFacts hands out the facts of a record.
func (r *reader) mcpFacts(m *mcpRecord, source string) error {
	if m.Type == "relation" {
		return r.fact(&Fact{Format: mcpMemory, Topic: m.From, Text: m.From + " " + m.RelationType + " " + m.To, Source: source})
	}
	for _, text := range m.Observations {
		if m.EntityType != "" {
			text = m.Name + " (" + m.EntityType + "): " + text
		}
		if err := r.fact(&Fact{Format: mcpMemory, Topic: m.Name, Text: text, Source: source}); err != nil {
			return err
		}
	}
	return nil
}

// isMem0 reports whether head begins mem0's answer to a request for all memories. The answer is a
// list of memories, or an object with the list under results.
func isMem0(head []byte) bool {
	if !bytes.Contains(head, []byte(`"memory"`)) || !bytes.Contains(head, []byte(`"id"`)) {
		return false
	}
	list := bytes.IndexByte(head, '[')
	if head[0] != '[' && (head[0] != '{' || !bytes.Contains(head[:max(list, 0)], []byte(`"results"`))) {
		return false
	}
	return hasMembers(bytes.TrimLeft(head[list+1:], " \t\r\n"), "id", "memory")
}

type mem0Memory struct {
	ID        string `json:"id"`
	Memory    string `json:"memory"`
	UserID    string `json:"user_id"`
	AgentID   string `json:"agent_id"`
	CreatedAt string `json:"created_at"`
}

func (r *reader) mem0(c *candidate) error {
	c.format = mem0
	return r.elements(c, func(raw json.RawMessage) error {
		var m mem0Memory
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		if m.Memory == "" || m.ID == "" {
			return errors.New("it is no memory: it has no id or no text")
		}
		return r.fact(&Fact{Format: mem0, Topic: cmp.Or(m.UserID, m.AgentID), Text: m.Memory, Source: m.ID})
	})
}

// sqlStore is a program that keeps its data in SQLite.
type sqlStore struct {
	format Format
	// tables are the tables and columns by which a file of the program is recognized.
	tables map[string][]string
	// facts are queries for the facts of a store. Each row has the source, the project, the time and
	// the text of a fact. The project and the time may be NULL. If the source is NULL, the text says
	// what can't be read.
	facts []string
}

var sqlStores = []sqlStore{
	{openCode, map[string][]string{"session": {"id", "directory", "title", "parent_id"}, "message": {"id", "session_id", "data", "time_created"}, "part": {"id", "message_id", "data"}}, nil},
	{claudeMem, map[string][]string{"observations": {"id", "project", "type", "created_at"}, "session_summaries": {"id", "project", "learned", "created_at"}}, []string{
		`SELECT 'observation/' || id, coalesce(project, ''), created_at,
			coalesce('**' || nullif(title, '') || '** (' || coalesce(type, '') || '): ', '') || coalesce(nullif(narrative, ''), text, '') || ' ' ||
			coalesce(CASE WHEN json_valid(facts) AND json_type(facts) = 'array' THEN (SELECT group_concat(value, '; ') FROM json_each(facts)) ELSE facts END, '')
			FROM observations ORDER BY id`,
		`SELECT 'summary/' || id, coalesce(project, ''), created_at,
			coalesce('**Request**: ' || nullif(request, '') || ' ', '') || coalesce('**Learned**: ' || nullif(learned, '') || ' ', '') ||
			coalesce('**Completed**: ' || nullif(completed, '') || ' ', '') || coalesce('**Next steps**: ' || nullif(next_steps, '') || ' ', '') ||
			coalesce('**Notes**: ' || nullif(notes, ''), '')
			FROM session_summaries ORDER BY id`}},
	{mem0, map[string][]string{"history": {"id", "memory_id", "new_memory", "event", "created_at"}}, []string{
		`SELECT NULL, NULL, NULL, 'row ' || rowid || ' of its history names no memory' FROM history WHERE coalesce(memory_id, '') = '' ORDER BY rowid`,
		// The memories that are present at the end of the history.
		`SELECT memory_id, NULL, NULL, new_memory FROM (SELECT *, row_number() OVER (PARTITION BY memory_id ORDER BY created_at DESC, updated_at DESC, rowid DESC) AS back FROM history)
			WHERE back = 1 AND memory_id <> '' AND upper(coalesce(event, '')) <> 'DELETE' ORDER BY memory_id`}},
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
	for _, st := range sqlStores {
		has := true
		for table, columns := range st.tables {
			all, err := db.Columns(r.ctx, table)
			if err != nil {
				return db.Plain(err)
			}
			has = has && !slices.ContainsFunc(columns, func(name string) bool { return !all[name] })
		}
		if !has {
			continue
		}
		c.format = st.format
		if st.format == openCode {
			err = r.openCode(c, db.DB)
		}
		for i := 0; i < len(st.facts) && err == nil; i++ {
			err = r.facts(c, db.DB, st.facts[i])
		}
		if _, ended := errors.AsType[stop](err); err == nil || ended {
			return err
		}
		return db.Plain(err)
	}
	if c.named {
		return errUnknown
	}
	return nil
}

// facts hands out the facts that a query of a store finds. The project is the name of a folder.
func (r *reader) facts(c *candidate, db *sql.DB, query string) error {
	return r.rows(db, func(scan func(...any) error) error {
		var source, project, created, text sql.NullString
		if err := scan(&source, &project, &created, &text); err != nil {
			return err
		}
		switch {
		case !source.Valid:
			r.lost(c.format, "%s: %s", c.place, text.String)
			return nil
		case !r.o.All && project.Valid && project.String != filepath.Base(r.workspace):
			r.found.Elsewhere(c.format)
			return nil
		}
		f := &Fact{Format: c.format, Text: text.String, Source: source.String, Day: day(parseTime(created.String))}
		if r.o.All {
			f.Topic = project.String
		}
		return r.fact(f)
	}, query)
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

// archive reads the conversations in a .zip, as chat services send them.
func (r *reader) archive(c *candidate) error {
	z, err := zip.NewReader(c.file, c.size)
	if err != nil {
		return fmt.Errorf("the archive is broken: %w", err)
	}
	found := 0
	for _, f := range z.File {
		name := path.Base(f.Name)
		if f.FileInfo().IsDir() || !strings.HasPrefix(name, "conversations") || path.Ext(name) != ".json" {
			continue
		}
		found++
		in := candidate{path: f.Name, place: c.place + "!" + f.Name, size: int64(min(f.UncompressedSize64, 1<<62)), named: true}
		if err := r.told(&in, r.member(f, &in)); err != nil {
			return err
		}
	}
	if found == 0 && c.named {
		return errors.New("it has no conversations.json, as the exports of ChatGPT and Claude do")
	}
	return nil
}

func (r *reader) member(f *zip.File, c *candidate) error {
	in, err := f.Open()
	if err != nil {
		return fmt.Errorf("the archive is broken: %w", err)
	}
	defer in.Close()
	if c.head, err = headOf(in); err != nil {
		return fmt.Errorf("the archive is broken: %w", err)
	}
	c.Reader = io.MultiReader(bytes.NewReader(c.head), in)
	if trimmed := bytes.TrimSpace(c.head); string(trimmed) == "[]" {
		return nil
	}
	return r.read(c)
}
