package summary

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/memkernel/memkernel/internal/textutil"
)

// The names of members. An entry is named by its id. A list member holds the ids of a list in
// order. Every other value is named by its key in the state's JSON.
const (
	entryMember = "entry/"
	listMember  = "list/"
	stateMember = "state/"
	// stateKeys names the list of the keys that are in use.
	stateKeys = listMember + "state"
)

// entryLists returns the lists whose entries are separate members.
func (s *State) entryLists() map[string]*[]Entry {
	return map[string]*[]Entry{kindConstraints: &s.Constraints, kindDecisions: &s.Decisions,
		kindThreads: &s.Threads, kindArtifacts: &s.Artifacts, kindReports: &s.Reports}
}

// Members splits a state into named values, so that a journal can store only the changes. If an
// entry leaves a list, the list does not name it, but the entry stays in the journal. [Assemble] is
// the inverse.
func (s State) Members() (map[string]json.RawMessage, error) {
	all := map[string]any{}
	for kind, list := range s.entryLists() {
		ids := make([]string, len(*list))
		for i, e := range *list {
			ids[i], all[entryMember+e.ID] = e.ID, e
		}
		all[listMember+kind] = ids
	}
	rest := s
	rest.Constraints, rest.Decisions, rest.Threads, rest.Artifacts, rest.Reports = nil, nil, nil, nil, nil
	raw, err := textutil.JSON(rest)
	if err != nil {
		return nil, err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return nil, err
	}
	for k, v := range keys {
		all[stateMember+k] = v
	}
	all[stateKeys] = slices.Sorted(maps.Keys(keys))
	out := make(map[string]json.RawMessage, len(all))
	for name, v := range all {
		if out[name], err = textutil.JSON(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Assemble puts a state together from its members. members must return nil for a missing member.
// Assemble returns an error if a list names a missing member.
func Assemble(members func(name string) json.RawMessage) (State, error) {
	var s State
	var keys []string
	if err := member(members, stateKeys, &keys); err != nil {
		return s, err
	}
	rest := make(map[string]json.RawMessage, len(keys))
	for _, k := range keys {
		rest[k] = members(stateMember + k)
		if rest[k] == nil {
			return s, fmt.Errorf("summary: member %s%s is missing", stateMember, k)
		}
	}
	raw, err := json.Marshal(rest)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("summary: %w", err)
	}
	for kind, list := range s.entryLists() {
		if kind == kindReports && members(listMember+kind) == nil {
			continue // a state of a version without reports
		}
		var ids []string
		err := member(members, listMember+kind, &ids)
		for i := 0; err == nil && i < len(ids); i++ {
			var e Entry
			err = member(members, entryMember+ids[i], &e)
			*list = append(*list, e)
		}
		if err != nil {
			return State{}, err
		}
	}
	return s, nil
}

func member(members func(string) json.RawMessage, name string, v any) error {
	raw := members(name)
	if raw == nil {
		return fmt.Errorf("summary: member %s is missing", name)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("summary: member %s: %w", name, err)
	}
	return nil
}
