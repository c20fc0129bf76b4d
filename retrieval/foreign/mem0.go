package foreign

import (
	"errors"

	"github.com/memkernel/memkernel"
)

// Mem0's results are a list (platform API v1.0, and the library before 0.1.59) or an object with
// one under "results": output format v1.1, next to the "relations" of the graph memory, since 2.0
// also with "count", "next" and "previous". A memory has:
//
//	id          a UUID
//	memory      the text; the TypeScript client also knows data.memory
//	hash        MD5 of the text
//	score       of a search; by vector store a similarity or a distance
//	created_at, updated_at   ISO 8601; createdAt, updatedAt in the TypeScript library
//	user_id, agent_id, run_id, app_id, actor_id, role   whose it is, as stored
//	metadata, categories, expiration_date, immutable, …   whatever else
//
// and a relation source, relationship, and target or destination.
//
// Sources: mem0ai/mem0 mem0/configs/base.py (MemoryItem) and mem0/memory/main.py
// (the promoted payload keys), mem0-ts/src/oss/src/types/index.ts and
// mem0-ts/src/client/mem0.types.ts; docs.mem0.ai, v1 search; pull requests 1832
// and 2278; for 2.0 pipecat-ai/pipecat pull request 4626.

func mem0Knows(v any) bool {
	m := object(v)
	_, is := m["memory"].(string)
	return is || object(m["data"]).has("memory") || relationOf(m) != ""
}

// mem0Entries returns the memories, followed by the relations of the graph.
func mem0Entries(doc any) ([]entry, error) {
	es, err := resultEntries(doc)
	return append(es, entriesOf(list(object(doc)["relations"]), nil)...), err
}

func readMem0(e entry) (r Record, err error) {
	m := object(e.value)
	if m == nil {
		return r, errors.New("it is no object")
	}
	r.ID = m.text("id", "memory_id")
	if r.Text, err = m.must("memory"); err != nil {
		if data := object(m["data"]); data.has("memory") {
			r.Text, err = data.must("memory")
		} else if t := relationOf(m); t != "" {
			r.Text, err = t, nil
		}
	}
	r.Score, r.Created, r.Updated = m.number("score"), m.time("created_at", "createdAt"), m.time("updated_at", "updatedAt")
	user, agent, run := m.text("user_id", "userId"), m.text("agent_id", "agentId"), m.text("run_id", "runId")
	r.Scope, r.owner = memkernel.ScopeSession, user+agent+run
	if user == "" && run == "" && (agent != "" || m.has("app_id", "appId")) && !m.has("actor_id", "actorId") {
		r.Scope = memkernel.ScopeProject
	}
	return r, err
}

// relationOf returns the text of a relation of the graph, or "" if m is not a relation.
func relationOf(m members) string {
	return tripletOf(m.text("source"), m.text("relationship", "relation"), m.text("target", "destination"))
}
