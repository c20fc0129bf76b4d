package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// entry is one record of an answer, with the members that apply to its whole group.
type entry struct {
	value any
	group members
}

// readers are the formats in the order in which they are tried. Formats with distinctive members
// come first.
var readers = []struct {
	format Format
	// knows reports whether a value looks like a record of this format.
	knows func(value any) bool
	// entries returns the entries of a document. read converts an entry to a Record.
	entries func(doc any) ([]entry, error)
	read    func(e entry) (Record, error)
}{
	{QMD, qmdKnows, resultEntries, readQMD},
	{mem0, mem0Knows, mem0Entries, readMem0},
	{cognee, cogneeKnows, cogneeEntries, readCognee},
}

// Parse reads an answer. With format "" it detects the system. It returns an error for a document
// that is not an answer of that system; records that can't be read are in Bad.
func Parse(data []byte, f Format) (*answer, error) {
	doc, err := document(data)
	if err == nil && f == "" {
		f, err = detect(doc)
	}
	if err != nil {
		return nil, fmt.Errorf("read memories: %w", err)
	}
	if f == "" {
		return &answer{Records: []Record{}}, nil
	}
	for _, r := range readers {
		if r.format != f {
			continue
		}
		es, err := r.entries(doc)
		if err == nil && len(es) > maxRecords {
			err = fmt.Errorf("%d records, over %d: ask for fewer", len(es), maxRecords)
		}
		if err != nil {
			return nil, fmt.Errorf("read memories: %s: %w", f, err)
		}
		a := &answer{Format: f, Records: []Record{}}
		for i, e := range es {
			rec, err := r.read(e)
			rec.Format = f
			if err == nil {
				err = rec.finish()
			}
			if err != nil {
				a.Bad = append(a.Bad, &RecordError{Format: f, Index: i + 1, ID: rec.ID, Err: err})
				continue
			}
			a.Records = append(a.Records, rec)
		}
		return a, nil
	}
	return nil, fmt.Errorf("read memories: unknown format %q, use one of %v, or leave it out", clip(string(f)), []Format{QMD, mem0, cognee})
}

var errUnknown = errors.New("nothing in it tells whose search results these are: known are those of QMD (docid, file, snippet), Mem0 (memory) and Cognee (search_result, text)")

func detect(doc any) (Format, error) {
	m := object(doc)
	if m.has("search_type") || m.has("datasets") && m.has("result", "context", "graphs") {
		return cognee, nil
	}
	results, err := results(doc)
	if err != nil {
		return "", err
	}
	for _, v := range results {
		for _, r := range readers {
			if r.knows(v) {
				return r.format, nil
			}
		}
	}
	switch {
	case len(results) > 0:
		return "", errUnknown
	case m.has("relations"):
		return mem0, nil
	}
	return "", nil
}

// document decodes JSON. If the JSON is a tool result of the Model Context Protocol, document
// returns its structuredContent, or its text block if that is JSON.
func document(data []byte) (any, error) {
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("%d bytes, over %d: ask for fewer results", len(data), maxAnswer)
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	doc, err := decoded(data)
	if err != nil {
		return nil, fmt.Errorf("no JSON%s: %w", lineOf(data, err), err)
	}
	m := object(doc)
	if held := m["structuredContent"]; object(held) != nil || list(held) != nil {
		return held, nil
	}
	for _, block := range list(m["content"]) {
		if held, err := decoded([]byte(object(block).text("text"))); err == nil && (object(held) != nil || list(held) != nil) {
			return held, nil
		}
	}
	return doc, nil
}

// decoded reads a JSON value.
func decoded(data []byte) (v any, err error) {
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return v, d.Decode(&v)
}

// lineOf describes the line of data that has the syntax error.
func lineOf(data []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) || len(data) == 0 {
		return ""
	}
	at := min(max(syntax.Offset, 0), int64(len(data)))
	return fmt.Sprintf(" in line %d", 1+bytes.Count(data[:at], []byte("\n")))
}

// results returns the list of a document: the document itself, or its member "results".
func results(doc any) ([]any, error) {
	m := object(doc)
	switch held, listed := m["results"].([]any); {
	case list(doc) != nil:
		return list(doc), nil
	case listed || m.has("relations"):
		return held, nil
	case m != nil:
		return nil, errors.New(`it is no list and has none under "results"`)
	}
	return nil, errors.New("it is neither a list nor an object with results")
}

// resultEntries returns the results as they are.
func resultEntries(doc any) ([]entry, error) {
	l, err := results(doc)
	return entriesOf(l, nil), err
}

// entriesOf returns the values of a group as entries.
func entriesOf(values []any, group members) []entry {
	es := make([]entry, len(values))
	for i, v := range values {
		es[i] = entry{v, group}
	}
	return es
}
