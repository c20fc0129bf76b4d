package foreign

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// Cognee's search gives, by version and settings:
//
//	[{search_result, dataset_id, dataset_name, …}]   a group per data set, under
//	   access control; verbose ones have text_result, context_result and
//	   objects_result instead
//	{query, search_type, results: [{kind, text, score, dataset_id, …}], total}
//	   the normalized envelope
//	{result, context, graphs, datasets: [{id, name}]}   one answer from several
//	[…]   the bare results, without access control
//
// A bare result, and an element of search_result or objects_result, is a string (an
// answer that a model wrote, or its context), a chunk or a summary (id, text,
// created_at in milliseconds, …), a node or scored point that holds one under
// "attributes" or "payload", a triplet of source, relation and target, or an edge.
// Scores of scored points are distances.
//
// Sources: topoteretes/cognee cognee/modules/search/types/SearchResult.py and SearchResponse.py,
// models/SearchResultPayload.py, methods/search.py, methods/_serialize.py and
// methods/normalize_search_result.py; issues 1023 and 1193 for the output without access control.

// cogneeTexts are the members in which a result may have its text, as
// normalize_search_result.py prefers them.
var cogneeTexts = []string{"text", "completion", "summary", "content", "answer", "description", "name"}

// cogneeGroups are the members that hold a data set's results, in the order in
// which Cognee itself would show one.
var cogneeGroups = []string{"search_result", "text_result", "context_result", "objects_result"}

func cogneeKnows(raw json.RawMessage) bool {
	switch kindOf(raw) {
	case '"':
		return true
	case '[':
		return tripletOf(list(raw)) != ""
	}
	m := object(raw)
	return m.has("search_type", "payload", "attributes", "edge_attributes") || isGroup(m) || m.has("text") && m.has("id", "dataset_id", "kind", "type")
}

func isGroup(m members) bool {
	for _, g := range cogneeGroups {
		if _, ok := m[g]; ok {
			return true
		}
	}
	return false
}

// cogneeEntries takes groups apart.
func cogneeEntries(doc json.RawMessage) ([]entry, error) {
	if m := object(doc); m.has("datasets") && !m.has("results") {
		return combined(m)
	}
	results, err := results(doc)
	var out []entry
	for _, raw := range results {
		m := object(raw)
		if !isGroup(m) {
			out = append(out, entry{raw: raw})
			continue
		}
		for _, name := range cogneeGroups {
			if held := elements(m[name]); len(held) > 0 {
				out = append(out, grouped(held, m)...)
				break
			}
		}
	}
	return out, err
}

// combined returns the one answer from several data sets.
func combined(m members) ([]entry, error) {
	group := members{}
	if sets := list(m["datasets"]); len(sets) == 1 {
		set := object(sets[0])
		group = members{"dataset_id": set["id"], "dataset_name": set["name"]}
	}
	for _, name := range []string{"result", "context"} {
		held := elements(m[name])
		if sets := object(m[name]); sets != nil { // a context for each data set
			held = nil
			for _, set := range slices.Sorted(maps.Keys(sets)) {
				held = append(held, elements(sets[set])...)
			}
		}
		if len(held) > 0 {
			return grouped(held, group), nil
		}
	}
	return nil, nil
}

func grouped(held []json.RawMessage, group members) []entry {
	es := make([]entry, len(held))
	for i := range held {
		es[i] = entry{raw: held[i], group: group}
	}
	return es
}

// elements returns the elements of a list, also of a list within a list, or the value alone.
func elements(raw json.RawMessage) []json.RawMessage {
	l := list(raw)
	switch {
	case kindOf(raw) == 0:
		return nil
	case l == nil:
		return []json.RawMessage{raw}
	case len(l) == 1 && kindOf(l[0]) == '[' && tripletOf(list(l[0])) == "":
		return list(l[0])
	}
	return l
}

func readCognee(e entry) (r Record, err error) {
	r.Source = datasetOf(maps.Clone(e.group))
	switch kindOf(e.raw) {
	case '"':
		err = json.Unmarshal(e.raw, &r.Text)
		return r, err
	case '[':
		if r.Text = tripletOf(list(e.raw)); r.Text == "" {
			err = errors.New("it is a list and no triplet of source, relation and target")
		}
		return r, err
	}
	m := object(e.raw)
	if m == nil {
		return r, errors.New("it is neither a text nor an object")
	}
	if s := datasetOf(m); s != "" {
		r.Source = s
	}
	r.ID = m.text("id")
	m.score(&r, "score")
	err = r.cogneeText(m)
	r.Metadata = m.rest()
	return r, err
}

// cogneeText finds the text in the object itself or in the value that it wraps, and with it the
// times.
func (r *Record) cogneeText(m members) error {
	if t := edgeOf(m); t != "" {
		r.Text = t
		return nil
	}
	at := m
	for _, name := range []string{"payload", "attributes"} {
		if inner := object(m[name]); inner != nil && !m.has("text") {
			at = inner
			defer func() { m[name] = remake(inner) }()
			break
		}
	}
	r.Created, r.Updated = at.time("created_at"), at.time("updated_at")
	r.Title = at.text("document_name", "title")
	if r.ID == "" {
		r.ID = at.text("id", "chunk_id")
	}
	var err error
	r.Text, err = at.must(cogneeTexts...)
	return err
}

// remake returns an object of the members that are left, or null if none is.
func remake(m members) json.RawMessage {
	raw, err := json.Marshal(m.rest())
	if err != nil {
		return nil
	}
	return raw
}

// datasetOf takes the identification of a data set: its name, or else its id.
func datasetOf(m members) string {
	name, id := m.text("dataset_name"), m.text("dataset_id")
	if name != "" {
		return name
	}
	return id
}

// tripletOf spells a source, a relation and a target that are in a list, "" if
// they don't.
func tripletOf(l []json.RawMessage) string {
	if len(l) != 3 {
		return ""
	}
	a, b := nameOf(l[0]), nameOf(l[2])
	rel := object(l[1]).text("relationship_name", "edge_text", "name")
	if a == "" || rel == "" || b == "" {
		return ""
	}
	return a + " " + rel + " " + b
}

// edgeOf spells an edge of the graph, "" if it is none.
func edgeOf(m members) string {
	rel := object(m["edge_attributes"]).text("edge_text", "relationship_name", "relationship_type")
	a, b := nameOf(m["source_node_attributes"]), nameOf(m["target_node_attributes"])
	if a == "" || rel == "" || b == "" {
		return ""
	}
	return a + " " + rel + " " + b
}

// nameOf returns a node's name.
func nameOf(raw json.RawMessage) string {
	m := object(raw)
	if inner := object(m["attributes"]); inner != nil {
		m = inner
	}
	return m.text("name", "text", "description")
}
