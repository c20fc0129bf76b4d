package imports

import (
	"archive/zip"
	"bytes"
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

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
	f := func(raw json.RawMessage) error {
		var m mem0Memory
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		if m.Memory == "" || m.ID == "" {
			return errors.New("it is no memory: it has no id or no text")
		}
		return r.fact(&Fact{Format: mem0, Topic: cmp.Or(m.UserID, m.AgentID), Text: m.Memory, Source: m.ID})
	}
	if c.head[0] == '[' {
		return r.elements(c, f)
	}
	if c.size > maxValue {
		return fmt.Errorf("it has %d bytes; at most %d are read of such a document: take the list under results into a file of its own", c.size, maxValue)
	}
	var doc struct {
		Results []json.RawMessage `json:"results"`
	}
	if err := json.NewDecoder(c).Decode(&doc); err != nil {
		return fmt.Errorf("it can't be read: %w", orEnd(err))
	}
	for i, raw := range doc.Results {
		if err := r.element(c, i+1, f(raw)); err != nil {
			return err
		}
	}
	return nil
}

// mem0History hands out the memories that are present at the end of mem0's history.
func (r *reader) mem0History(c *candidate, db *sql.DB) error {
	var id, text string
	end := func() error {
		if text == "" {
			return nil
		}
		return r.fact(&Fact{Format: mem0, Text: text, Source: id})
	}
	if err := r.rows(db, func(scan func(...any) error) error {
		var of, now, event sql.NullString
		var row int64
		if err := scan(&of, &now, &event, &row); err != nil {
			return err
		}
		if !of.Valid || of.String == "" {
			r.lost(mem0, "%s: row %d of its history names no memory", c.place, row)
			return nil
		}
		if of.String != id {
			if err := end(); err != nil {
				return err
			}
			id, text = of.String, ""
		}
		if text = now.String; strings.EqualFold(event.String, "DELETE") {
			text = ""
		}
		return nil
	}, `SELECT memory_id, new_memory, event, rowid FROM history ORDER BY memory_id, created_at, updated_at, rowid`); err != nil {
		return err
	}
	return end()
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
