package foreign

import (
	"cmp"
	"errors"
	"maps"
	"slices"
)

// The output of Cognee's search depends on its version and settings:
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

// cogneeTexts are the members that may hold the text of a result, in the order in which
// normalize_search_result.py prefers them.
var cogneeTexts = []string{"text", "completion", "summary", "content", "answer", "description", "name"}

// cogneeGroups are the members that may hold the results of a data set, in the order in which
// Cognee itself prefers them.
var cogneeGroups = []string{"search_result", "text_result", "context_result", "objects_result"}

func cogneeKnows(v any) bool {
	if _, answer := v.(string); answer || insightOf(v) != "" {
		return true
	}
	m := object(v)
	return m.has("search_type", "payload", "attributes", "edge_attributes") || isGroup(m) || m.has("text") && m.has("id", "dataset_id", "kind", "type")
}

func isGroup(m members) bool {
	return slices.ContainsFunc(cogneeGroups, func(g string) bool { _, ok := m[g]; return ok })
}

// cogneeEntries returns the entries of all groups.
func cogneeEntries(doc any) ([]entry, error) {
	if m := object(doc); m.has("datasets") && !m.has("results") {
		return combined(m), nil
	}
	results, err := results(doc)
	var out []entry
	for _, v := range results {
		m := object(v)
		if !isGroup(m) {
			out = append(out, entry{value: v})
			continue
		}
		for _, name := range cogneeGroups {
			if held := elements(m[name]); len(held) > 0 {
				out = append(out, entriesOf(held, m)...)
				break
			}
		}
	}
	return out, err
}

// combined returns the entries of the one answer for several data sets.
func combined(m members) []entry {
	group := members{}
	if sets := list(m["datasets"]); len(sets) == 1 {
		set := object(sets[0])
		group = members{"dataset_id": set["id"], "dataset_name": set["name"]}
	}
	for _, name := range []string{"result", "context"} {
		held := elements(m[name])
		if sets := object(m[name]); sets != nil { // sets maps each data set to its context
			held = nil
			for _, set := range slices.Sorted(maps.Keys(sets)) {
				held = append(held, elements(sets[set])...)
			}
		}
		if len(held) > 0 {
			return entriesOf(held, group)
		}
	}
	return nil
}

// elements returns the elements of a list. If its only element is a list other than a triplet, it
// returns the elements of that list. Any other value is the only element.
func elements(v any) []any {
	switch l, listed := v.([]any); {
	case v == nil:
		return nil
	case !listed:
		return []any{v}
	case len(l) == 1 && list(l[0]) != nil && insightOf(l[0]) == "":
		return list(l[0])
	default:
		return l
	}
}

func readCognee(e entry) (r Record, err error) {
	r.Source = cmp.Or(e.group.text("dataset_name"), e.group.text("dataset_id"))
	m := object(e.value)
	switch v := e.value.(type) {
	case string:
		r.Text = v
		return r, nil
	case []any:
		if r.Text = insightOf(v); r.Text == "" {
			err = errors.New("it is a list and no triplet of source, relation and target")
		}
		return r, err
	case map[string]any:
	default:
		return r, errors.New("it is neither a text nor an object")
	}
	r.Source = cmp.Or(m.text("dataset_name"), m.text("dataset_id"), r.Source)
	r.ID, r.Score = m.text("id"), m.number("score")
	edge := object(m["edge_attributes"])
	r.Text = tripletOf(nameOf(m["source_node_attributes"]), edge.text("edge_text", "relationship_name", "relationship_type"), nameOf(m["target_node_attributes"]))
	if r.Text != "" {
		return r, nil
	}
	// The text is in the object itself, or in one that it wraps.
	for _, name := range []string{"payload", "attributes"} {
		if inner := object(m[name]); inner != nil && !m.has("text") {
			m = inner
			break
		}
	}
	r.Created, r.Updated = m.time("created_at"), m.time("updated_at")
	r.Title, r.ID = m.text("document_name", "title"), cmp.Or(r.ID, m.text("id", "chunk_id"))
	r.Text, err = m.must(cogneeTexts...)
	return r, err
}

// insightOf returns the text of a list of a source, a relation and a target, or "" if v is no such
// list.
func insightOf(v any) string {
	l := list(v)
	if len(l) != 3 {
		return ""
	}
	return tripletOf(nameOf(l[0]), object(l[1]).text("relationship_name", "edge_text", "name"), nameOf(l[2]))
}

// tripletOf returns the text of a source, a relation and a target, or "" if one of them is missing.
func tripletOf(source, relation, target string) string {
	if source == "" || relation == "" || target == "" {
		return ""
	}
	return source + " " + relation + " " + target
}

// nameOf returns a node's name.
func nameOf(v any) string {
	m := object(v)
	if inner := object(m["attributes"]); inner != nil {
		m = inner
	}
	return m.text("name", "text", "description")
}
