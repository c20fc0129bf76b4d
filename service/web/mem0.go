package web

import (
	"cmp"
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/serve"
)

// This file implements the part of mem0's interface that maps directly to the server's methods. A
// memory is a memory file that remember writes, and its id holds its owner. Every call goes
// through [serve.Server.Answer] with the rights of its token, like a call to /rpc.

const (
	mem0Folder = "memory/mem0/"
	// mem0Sessions begins the keys of the sessions that write such memories.
	mem0Sessions = "mem0/"
	// maxOwner bounds the names of a memory's owner, which are a part of its id.
	maxOwner = 90
	// searched is how many hits a search reads to find the owner's memories among them.
	searched = 200
)

// entities are the possible owners of a memory, in their order in keys.
var entities = []string{"user_id", "agent_id", "app_id", "run_id"}

// mem0Statuses holds the HTTP status of the errors that /rpc sends as ordinary answers. The status
// of all others is 500.
var mem0Statuses = map[string]int{
	"INVALID_PARAMS": http.StatusBadRequest,
	"CONFLICT":       http.StatusConflict, "PERSON": http.StatusConflict, "REFUSED": http.StatusConflict, "SECRET": http.StatusConflict,
	"DISABLED": http.StatusConflict, "DENIED": http.StatusConflict, "PRIVATE": http.StatusConflict,
	"DEADLINE": http.StatusServiceUnavailable, "CANCELLED": http.StatusServiceUnavailable,
}

// detailed returns an error in the form that mem0's clients read.
func detailed(err *serve.Error) []byte {
	body, _ := json.Marshal(map[string]string{"detail": err.Message, "code": err.Data.Code, "hint": err.Data.Hint}) // strings can always be encoded
	return append(body, '\n')
}

func isMem0(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/v2/") || strings.HasPrefix(path, "/v3/")
}

const memories = "/v1/memories/"

// mem0Path returns the key in routes of a path of mem0's interface.
func mem0Path(path string) string {
	path = strings.TrimSuffix(path, "/")
	if id, ok := strings.CutPrefix(path, memories); ok && id != "search" && !strings.Contains(id, "/") {
		return memories + "*"
	}
	return path
}

// mem0 answers a request of a mem0 client with the result of do as JSON.
func mem0(do func(*exchange) (any, *serve.Error)) handler {
	return guarded(func(x *exchange) *serve.Error {
		v, err := do(x)
		if err != nil {
			return err
		}
		body, _ := json.Marshal(v) // strings and numbers can always be encoded
		x.json(http.StatusOK, append(body, '\n'))
		return nil
	})
}

// memory is a memory of an owner, who has a name for some of the entities.
type memory struct {
	id            string
	owner         url.Values
	made          time.Time
	text, version string
}

// keyOf returns the form of an owner in keys and ids. Each entity ends with &, so that no owner's
// key is a prefix of another's.
func keyOf(owner url.Values) string {
	var b strings.Builder
	for _, e := range entities {
		if owner.Get(e) != "" {
			b.WriteString(e + "=" + url.QueryEscape(owner.Get(e)) + "&")
		}
	}
	return b.String()
}

var letters = base32.HexEncoding.WithPadding(base32.NoPadding)

// newID makes an id from the owner, the present time, and a unique part.
func newID(owner url.Values, now time.Time) string {
	var more [8]byte
	rand.Read(more[:]) // it never fails
	return strings.ToLower(letters.EncodeToString([]byte(keyOf(owner)))) + "-" + fmt.Sprintf("%012x", now.UnixMilli()) + hex.EncodeToString(more[:])
}

var idForm = regexp.MustCompile(`^([0-9a-v]+)-([0-9a-f]{12})[0-9a-f]{16}$`)

// memoryOf returns the memory of an id, without its text. It returns nil if the id is not valid.
func memoryOf(id string) *memory {
	parts := idForm.FindStringSubmatch(id)
	if parts == nil {
		return nil
	}
	key, _ := letters.DecodeString(strings.ToUpper(parts[1]))
	owner, _ := url.ParseQuery(string(key))
	ms, _ := strconv.ParseInt(parts[2], 16, 64) // 12 digits fit
	if len(key) == 0 || keyOf(owner) != string(key) {
		return nil
	}
	return &memory{id: id, owner: owner, made: time.UnixMilli(ms).UTC()}
}

// params returns the parameters that name a memory in calls.
func (m *memory) params() map[string]any {
	return map[string]any{"session_key": mem0Sessions + keyOf(m.owner), "path": mem0Folder + m.id + ".md"}
}

// lastMark is the mark that remember puts after an entry.
var lastMark = regexp.MustCompile(`\n?<!-- mk:[^\n]* -->\s*$`)

// read reads the text of a memory, and refuses a memory that does not exist.
func (m *memory) read(x *exchange) *serve.Error {
	var got struct{ Text, Version string }
	if err := x.do("read", m.params(), &got); err != nil {
		return err
	}
	m.text = strings.TrimSuffix(lastMark.ReplaceAllString(got.Text, ""), "\n")
	m.version = got.Version
	if m.text == "" {
		return errNoMemory()
	}
	return nil
}

const notFound = "NOT_FOUND"

func errNoMemory() *serve.Error {
	return serve.ErrRequest(notFound, "there is no such memory", "")
}

// shown returns a memory in the form that mem0 returns.
func (m *memory) shown() map[string]any {
	out := map[string]any{"id": m.id, "memory": m.text, "metadata": nil, "created_at": m.made.Format(time.RFC3339)}
	for e := range m.owner {
		out[e] = m.owner.Get(e)
	}
	return out
}

// do calls a method, and decodes its result.
func (x *exchange) do(method string, params map[string]any, into any) *serve.Error {
	message, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) // strings and numbers can always be encoded
	reply, refused := x.call(message, nil)
	if refused = cmp.Or(refused, reply.Error); refused != nil {
		return refused
	}
	m := struct{ Result any }{into}
	if err := json.Unmarshal(reply.JSON, &m); err != nil {
		return serve.ErrRequest("INTERNAL", "the answer can't be read", "")
	}
	return nil
}

func bad(format string, args ...any) *serve.Error {
	return serve.ErrRequest("INVALID_PARAMS", fmt.Sprintf(format, args...), "doc/service.md says what of mem0's interface there is")
}

// meaningless lists the members of requests that are ignored, whatever their values.
var meaningless = []string{"version", "output_format", "api_version", "async_mode", "org_id", "project_id", "infer"}

// members reads the members of a request. It refuses unknown members, except for the meaningless
// ones.
func (x *exchange) members(known ...string) (map[string]json.RawMessage, *serve.Error) {
	data, refused := x.body(serve.MaxText)
	if refused != nil {
		return nil, refused
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil || members == nil {
		return nil, bad("the body is no object of JSON")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		empty := slices.Contains([]string{"null", "false", "{}", "[]", `""`}, string(members[name]))
		switch {
		case slices.Contains(meaningless, name):
		case empty:
			delete(members, name)
		case !slices.Contains(known, name):
			return nil, bad("%s is not kept here: leave it out", name)
		}
	}
	return members, nil
}

// ownerOf reads the owner from the members of a request.
func ownerOf(members map[string]json.RawMessage) (url.Values, *serve.Error) {
	owner := url.Values{}
	for _, e := range entities {
		var name string
		switch raw, ok := members[e]; {
		case !ok:
		case json.Unmarshal(raw, &name) != nil || name == "*":
			return nil, bad("%s is no name", e)
		default:
			owner.Set(e, name)
		}
	}
	switch key := keyOf(owner); {
	case key == "":
		return nil, bad("say whose: user_id, agent_id, app_id or run_id")
	case len(key) > maxOwner:
		return nil, bad("%s are longer than %d bytes together", strings.Join(slices.Sorted(maps.Keys(owner)), ", "), maxOwner)
	}
	return owner, nil
}

func ping(*exchange) (any, *serve.Error) { return map[string]string{"status": "ok"}, nil }

// add keeps the messages, word for word.
func add(x *exchange) (any, *serve.Error) {
	members, err := x.members(append([]string{"messages"}, entities...)...)
	if err != nil {
		return nil, err
	}
	owner, err := ownerOf(members)
	if err != nil {
		return nil, err
	}
	texts, err := textsOf(members["messages"], string(members["infer"]) == "false")
	if err != nil {
		return nil, err
	}
	events := []any{}
	for _, text := range texts {
		m := &memory{id: newID(owner, x.d.o.Now()), owner: owner}
		params := m.params()
		params["text"], params["id"] = text, m.id
		if err := x.do("remember", params, &struct{}{}); err != nil {
			return nil, err
		}
		// Clients of different versions read the text in different places.
		events = append(events, map[string]any{"id": m.id, "event": "ADD", "memory": text, "data": map[string]string{"memory": text}})
	}
	if string(members["output_format"]) == `"v1.1"` {
		return map[string]any{"results": events}, nil
	}
	return events, nil
}

// textsOf returns the texts to keep of messages. These are the users' texts, and with all also the
// assistants' texts.
func textsOf(raw json.RawMessage, all bool) (texts []string, err *serve.Error) {
	var messages []struct {
		Role    string
		Content json.RawMessage
	}
	if json.Unmarshal(raw, &messages) != nil || len(messages) == 0 {
		return nil, bad(`messages is no list such as [{"role":"user","content":"…"}]`)
	}
	for i, m := range messages {
		if m.Role != "user" && !(all && m.Role == "assistant") {
			continue
		}
		var text string
		var parts []struct{ Type, Text string }
		if json.Unmarshal(m.Content, &text) != nil && json.Unmarshal(m.Content, &parts) != nil {
			return nil, bad("message %d has no text", i)
		}
		for _, p := range parts {
			if p.Type != "text" {
				return nil, bad("message %d holds %q: only text is kept", i, p.Type)
			}
			text += p.Text
		}
		if text = strings.TrimSpace(text); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil, bad("no user says anything in messages")
	}
	return texts, nil
}

// search finds memories of an owner.
func search(x *exchange) (any, *serve.Error) {
	members, err := x.members(append([]string{"query", "filters", "top_k", "limit", "threshold"}, entities...)...)
	if err != nil {
		return nil, err
	}
	if raw, ok := members["filters"]; ok {
		if err := flatten(raw, members); err != nil {
			return nil, err
		}
	}
	asked, err := ownerOf(members)
	if err != nil {
		return nil, err
	}
	query, top, least := "", 10, 0.0
	for name, into := range map[string]any{"query": &query, "limit": &top, "top_k": &top, "threshold": &least} {
		if raw, ok := members[name]; ok && json.Unmarshal(raw, into) != nil {
			return nil, bad("%s is of another kind", name)
		}
	}
	if top < 1 || top > searched {
		return nil, bad("top_k is a number from 1 to %d", searched)
	}
	var found struct {
		Results []struct {
			Path  string
			Score float64
		}
	}
	params := map[string]any{"session_key": mem0Sessions + keyOf(asked), "query": query, "max_results": searched, "min_score": least}
	if err := x.do("search", params, &found); err != nil {
		return nil, err
	}
	out, seen := []any{}, map[string]bool{}
	for _, hit := range found.Results {
		id, ok := strings.CutPrefix(strings.TrimSuffix(hit.Path, ".md"), mem0Folder)
		m := memoryOf(id)
		if !ok || m == nil || seen[id] || len(out) == top {
			continue
		}
		another := func(e string) bool { return asked.Has(e) && asked.Get(e) != m.owner.Get(e) }
		if slices.ContainsFunc(entities, another) {
			continue
		}
		seen[id] = true
		if x.d.refusal(x.token, serve.Asked{Method: "search", Need: serve.NeedRead, Sessions: []string{mem0Sessions + keyOf(m.owner)}}) != "" {
			continue
		}
		err := m.read(x)
		if err != nil && err.Data.Code == notFound {
			continue // the memory was deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		one := m.shown()
		one["score"] = hit.Score
		out = append(out, one)
	}
	if !strings.HasPrefix(x.r.URL.Path, "/v1/") || string(members["output_format"]) == `"v1.1"` {
		return map[string]any{"results": out}, nil
	}
	return out, nil
}

// flatten adds the conditions of a filter to the members of a request. It refuses a filter unless
// all of its conditions must hold.
func flatten(raw json.RawMessage, members map[string]json.RawMessage) *serve.Error {
	var filter map[string]json.RawMessage
	if json.Unmarshal(raw, &filter) != nil {
		return bad("filters is no object")
	}
	for name, v := range filter {
		var all []json.RawMessage
		switch {
		case name == "AND" && json.Unmarshal(v, &all) == nil:
			for _, one := range all {
				if err := flatten(one, members); err != nil {
					return err
				}
			}
		case slices.Contains(entities, name) && (members[name] == nil || string(members[name]) == string(v)):
			members[name] = v
		default:
			return bad("filters: %s: only user_id, agent_id, app_id and run_id can be asked for, each one name, joined by AND", name)
		}
	}
	return nil
}

// one reads the memory that the path names.
func one(x *exchange) (*memory, *serve.Error) {
	m := memoryOf(strings.TrimSuffix(strings.TrimPrefix(x.r.URL.Path, memories), "/"))
	if m == nil {
		return nil, errNoMemory()
	}
	return m, m.read(x)
}

func get(x *exchange) (any, *serve.Error) {
	m, err := one(x)
	if err != nil {
		return nil, err
	}
	return m.shown(), nil
}

// change returns the parameters of memory.update and memory.delete for a memory that was read.
func (m *memory) change() map[string]any {
	params := m.params()
	params["old"], params["from"], params["version"] = m.text, 1, m.version
	return params
}

func update(x *exchange) (any, *serve.Error) {
	members, err := x.members("text")
	if err != nil {
		return nil, err
	}
	var text string
	if json.Unmarshal(members["text"], &text) != nil || strings.TrimSpace(text) == "" {
		return nil, bad("text is what the memory says from now on")
	}
	m, err := one(x)
	if err != nil {
		return nil, err
	}
	if text = strings.TrimSpace(text); text != m.text {
		params := m.change()
		params["text"] = text
		if err := x.do("memory.update", params, &struct{}{}); err != nil {
			return nil, err
		}
	}
	if err := m.read(x); err != nil { // the kept text may differ, because secrets are masked
		return nil, err
	}
	out := m.shown()
	out["text"] = m.text
	return out, nil
}

func remove(x *exchange) (any, *serve.Error) {
	m, err := one(x)
	if err != nil {
		return nil, err
	}
	if err := x.do("memory.delete", m.change(), &struct{}{}); err != nil {
		return nil, err
	}
	return map[string]string{"message": "Memory deleted successfully!"}, nil
}
