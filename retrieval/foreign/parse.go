package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// entry is one record as it is in an answer, with the members that the answer holds for all
// records of its group.
type entry struct {
	raw   json.RawMessage
	group members
}

// reader knows one format.
type reader struct {
	// knows reports whether an entry looks like one of this format's.
	knows func(raw json.RawMessage) bool
	// entries takes a document apart.
	entries func(doc json.RawMessage) ([]entry, error)
	// read makes a record of an entry.
	read func(e entry) (Record, error)
}

// readers in the order in which they are tried: the most distinctive members
// first.
var readers = []struct {
	format Format
	reader
}{
	{QMD, reader{qmdKnows, resultEntries, readQMD}},
	{mem0, reader{mem0Knows, mem0Entries, readMem0}},
	{cognee, reader{cogneeKnows, cogneeEntries, readCognee}},
}

// Parse reads an answer. With format "" it detects the system. It returns an error for a document
// that is not an answer of that system; records that can't be read are in Bad.
func Parse(data []byte, f Format) (*Answer, error) {
	doc, err := document(data)
	if err == nil && f == "" {
		f, err = detect(doc)
	}
	if err != nil {
		return nil, fmt.Errorf("read memories: %w", err)
	}
	if f == "" {
		return &Answer{Records: []Record{}}, nil
	}
	for _, r := range readers {
		if r.format == f {
			return r.parse(doc, f)
		}
	}
	return nil, fmt.Errorf("read memories: unknown format %q, use one of %v, or leave it out", clip(string(f)), formats())
}

func (r *reader) parse(doc json.RawMessage, f Format) (*Answer, error) {
	es, err := r.entries(doc)
	if err == nil && len(es) > maxRecords {
		err = fmt.Errorf("%d records, over %d: ask for fewer", len(es), maxRecords)
	}
	if err != nil {
		return nil, fmt.Errorf("read memories: %s: %w", f, err)
	}
	a := &Answer{Format: f, Records: []Record{}}
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

var errUnknown = errors.New("nothing in it tells whose search results these are: known are those of QMD (docid, file, snippet), Mem0 (memory) and Cognee (search_result, text)")

func detect(doc json.RawMessage) (Format, error) {
	if m := object(doc); m.has("search_type") || m.has("datasets") && m.has("result", "context", "graphs") {
		return cognee, nil
	}
	results, err := results(doc)
	if err != nil {
		return "", err
	}
	for _, raw := range results {
		for _, r := range readers {
			if r.knows(raw) {
				return r.format, nil
			}
		}
	}
	if m := object(doc); m.has("relations") && len(results) == 0 {
		return mem0, nil
	}
	if len(results) > 0 {
		return "", errUnknown
	}
	return "", nil
}

// document checks the JSON and takes it out of the envelope of a tool result.
func document(data []byte) (json.RawMessage, error) {
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("%d bytes, over %d: ask for fewer results", len(data), maxAnswer)
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	var doc json.RawMessage
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("no JSON%s: %w", lineOf(data, err), err)
	}
	return unwrap(doc), nil
}

// lineOf returns in which line a syntax error is.
func lineOf(data []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) || len(data) == 0 {
		return ""
	}
	at := min(max(syntax.Offset, 0), int64(len(data)))
	return fmt.Sprintf(" in line %d", 1+bytes.Count(data[:at], []byte("\n")))
}

// unwrap takes an answer out of a tool result of the Model Context Protocol: its
// structuredContent, or a text block that is JSON itself.
func unwrap(doc json.RawMessage) json.RawMessage {
	m := object(doc)
	if k := kindOf(m["structuredContent"]); k == '{' || k == '[' {
		return m["structuredContent"]
	}
	for _, block := range list(m["content"]) {
		b := object(block)
		text := json.RawMessage(b.text("text"))
		if k := kindOf(text); (k == '{' || k == '[') && json.Valid(text) {
			return text
		}
	}
	return doc
}

// results returns the list of a document: the document itself, or its member "results".
func results(doc json.RawMessage) ([]json.RawMessage, error) {
	if l := list(doc); l != nil {
		return l, nil
	}
	m := object(doc)
	if l := list(m["results"]); l != nil {
		return l, nil
	}
	if m != nil && m.has("relations") {
		return nil, nil
	}
	if m != nil {
		return nil, errors.New(`it is no list and has none under "results"`)
	}
	return nil, errors.New("it is neither a list nor an object with results")
}

// resultEntries returns the results as they are.
func resultEntries(doc json.RawMessage) ([]entry, error) {
	l, err := results(doc)
	es := make([]entry, len(l))
	for i := range l {
		es[i].raw = l[i]
	}
	return es, err
}
