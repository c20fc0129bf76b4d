package web

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
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

func isMem0(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/v2/") || strings.HasPrefix(path, "/v3/")
}

// mem0Route returns the handlers of a path of mem0's interface.
func (d *Door) mem0Route(path string) (map[string]handler, bool) {
	said := func(h func(*mem0Call)) handler {
		return func(x *exchange) {
			x.detail = true
			d.guarded(func(x *exchange) {
				h(&mem0Call{d: d, x: x, path: path})
			})(x)
		}
	}
	switch path = strings.TrimSuffix(path, "/"); path {
	case "/v1/ping":
		return map[string]handler{http.MethodGet: said((*mem0Call).ping)}, true
	case "/v1/memories", "/v3/memories/add":
		return map[string]handler{http.MethodPost: said((*mem0Call).add)}, true
	case "/v1/memories/search", "/v2/memories/search", "/v3/memories/search":
		return map[string]handler{http.MethodPost: said((*mem0Call).search)}, true
	}
	if id, ok := strings.CutPrefix(path, "/v1/memories/"); ok && !strings.Contains(id, "/") {
		return map[string]handler{http.MethodGet: said((*mem0Call).get), http.MethodPut: said((*mem0Call).update), http.MethodDelete: said((*mem0Call).remove)}, true
	}
	return nil, false
}

// mem0Call is a request of a mem0 client.
type mem0Call struct {
	d    *Door
	x    *exchange
	path string
}

// owner is the owner of a memory.
type owner map[string]string

// key returns the form of an owner in keys and ids. Each entity ends with &, so that no owner's
// key is a prefix of another's.
func (o owner) key() string {
	var b strings.Builder
	for _, e := range entities {
		if o[e] != "" {
			b.WriteString(e + "=" + url.QueryEscape(o[e]) + "&")
		}
	}
	return b.String()
}

func (o owner) session() string { return mem0Sessions + o.key() }

// has reports whether an owner has every entity of asked.
func (o owner) has(asked owner) bool {
	for e, name := range asked {
		if o[e] != name {
			return false
		}
	}
	return true
}

var letters = base32.HexEncoding.WithPadding(base32.NoPadding)

// newID makes an id from the owner, the present time, and a unique part.
func newID(o owner, now time.Time) string {
	var more [8]byte
	rand.Read(more[:]) // it never fails
	return strings.ToLower(letters.EncodeToString([]byte(o.key()))) + "-" + fmt.Sprintf("%012x", now.UnixMilli()) + hex.EncodeToString(more[:])
}

var idForm = regexp.MustCompile(`^([0-9a-v]+)-([0-9a-f]{12})[0-9a-f]{16}$`)

// readID parses an id. ok is false if the id is not valid.
func readID(id string) (o owner, made time.Time, ok bool) {
	m := idForm.FindStringSubmatch(id)
	if m == nil {
		return nil, made, false
	}
	key, err := letters.DecodeString(strings.ToUpper(m[1]))
	if err != nil {
		return nil, made, false
	}
	o = owner{}
	for _, part := range strings.Split(strings.TrimSuffix(string(key), "&"), "&") {
		e, name, _ := strings.Cut(part, "=")
		if o[e], err = url.QueryUnescape(name); err != nil {
			return nil, made, false
		}
	}
	ms, err := strconv.ParseInt(m[2], 16, 64)
	return o, time.UnixMilli(ms).UTC(), err == nil && o.key() == string(key)
}

// memory is a memory in the form that mem0 returns.
type memory struct {
	ID        string   `json:"id"`
	Memory    string   `json:"memory"`
	UserID    string   `json:"user_id,omitempty"`
	AgentID   string   `json:"agent_id,omitempty"`
	AppID     string   `json:"app_id,omitempty"`
	RunID     string   `json:"run_id,omitempty"`
	Metadata  any      `json:"metadata"`
	Score     *float64 `json:"score,omitempty"`
	CreatedAt string   `json:"created_at"`
}

func memoryOf(id, text string, o owner, made time.Time) memory {
	return memory{ID: id, Memory: text, UserID: o["user_id"], AgentID: o["agent_id"], AppID: o["app_id"], RunID: o["run_id"], CreatedAt: made.Format(time.RFC3339)}
}

// do calls a method. If the method fails, it answers with the error and returns false.
func (c *mem0Call) do(method string, params map[string]any, into any) bool {
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		c.x.refuse(http.StatusInternalServerError, "INTERNAL", "the request can't be passed on", "")
		return false
	}
	s, done, ok := c.d.server(c.x)
	if !ok {
		return false
	}
	defer done()
	reply := s.Answer(c.x.r.Context(), serve.Text(message), serve.Caller{Name: c.x.token.ID, May: c.d.asks(c.x), Turn: c.d.turns(c.x.token)})
	c.x.calls++
	if c.x.session == "" {
		c.x.session = reply.Session
	}
	if reply.Error != nil {
		c.refused(reply.Error)
		return false
	}
	var m struct{ Result json.RawMessage }
	if err := json.Unmarshal(reply.JSON(), &m); err == nil {
		err = json.Unmarshal(m.Result, into)
	}
	if err != nil {
		c.x.refuse(http.StatusInternalServerError, "INTERNAL", "the answer can't be read", "")
	}
	return err == nil
}

// refused answers with the error of a method.
func (c *mem0Call) refused(err *serve.Error) {
	if _, ok := statuses[err.Data.Code]; ok {
		c.x.fail(err)
		return
	}
	status := http.StatusInternalServerError
	switch err.Data.Code {
	case "INVALID_PARAMS":
		status = http.StatusBadRequest
	case "CONFLICT", "PERSON", "REFUSED", "SECRET", "DISABLED", "DENIED", "PRIVATE":
		status = http.StatusConflict
	case "DEADLINE", "CANCELLED":
		status = http.StatusServiceUnavailable
		c.x.retry(retryStopping)
	}
	c.x.refuse(status, err.Data.Code, err.Message, err.Data.Hint)
}

func (c *mem0Call) bad(format string, args ...any) {
	c.x.refuse(http.StatusBadRequest, "INVALID_PARAMS", fmt.Sprintf(format, args...), "doc/service.md says what of mem0's interface there is")
}

func (c *mem0Call) write(status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		c.x.refuse(http.StatusInternalServerError, "INTERNAL", "the answer can't be written", "")
		return
	}
	c.x.json(status, append(body, '\n'))
}

// meaningless lists the members of requests that are ignored, whatever their values.
var meaningless = []string{"version", "output_format", "api_version", "async_mode", "org_id", "project_id", "infer"}

// body reads the members of a request. It refuses unknown members, except for the meaningless
// ones.
func (c *mem0Call) body(known ...string) (map[string]json.RawMessage, bool) {
	var data []byte
	free, ok := c.d.body(c.x, func(r io.Reader) (err error) {
		if data, err = io.ReadAll(io.LimitReader(r, serve.MaxText+1)); len(data) > serve.MaxText {
			return serve.ErrTooMuchText()
		}
		return err
	})
	if !ok {
		return nil, false
	}
	defer free()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil || members == nil {
		c.bad("the body is no object of JSON")
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains(meaningless, name) {
			continue
		}
		switch string(members[name]) {
		case "null", "false", "{}", "[]", `""`:
			delete(members, name)
			continue
		}
		if !slices.Contains(known, name) {
			c.bad("%s is not kept here: leave it out", name)
			return nil, false
		}
	}
	return members, true
}

// ownerOf reads the owner from the members of a request.
func (c *mem0Call) ownerOf(members map[string]json.RawMessage) (owner, bool) {
	o := owner{}
	for _, e := range entities {
		raw, ok := members[e]
		if !ok {
			continue
		}
		var name string
		if json.Unmarshal(raw, &name) != nil || name == "*" {
			c.bad("%s is no name", e)
			return nil, false
		}
		o[e] = name
	}
	switch key := o.key(); {
	case key == "":
		c.bad("say whose: user_id, agent_id, app_id or run_id")
		return nil, false
	case len(key) > maxOwner:
		c.bad("%s are longer than %d bytes together", strings.Join(slices.Sorted(maps.Keys(o)), ", "), maxOwner)
		return nil, false
	}
	return o, true
}

func (c *mem0Call) ping() { c.write(http.StatusOK, map[string]string{"status": "ok"}) }

// add keeps the messages, word for word.
func (c *mem0Call) add() {
	members, ok := c.body(append([]string{"messages"}, entities...)...)
	if !ok {
		return
	}
	o, ok := c.ownerOf(members)
	if !ok {
		return
	}
	texts, why := textsOf(members["messages"], string(members["infer"]))
	if why != "" {
		c.bad("%s", why)
		return
	}
	events := []any{}
	modern := string(members["output_format"]) == `"v1.1"`
	for _, text := range texts {
		id := newID(o, c.d.o.Now())
		var done struct{}
		if !c.do("remember", map[string]any{"session_key": o.session(), "text": text, "path": mem0Folder + id + ".md", "id": id}, &done) {
			return
		}
		e := map[string]any{"id": id, "event": "ADD"}
		if modern || strings.HasPrefix(c.path, "/v3/") {
			e["memory"] = text
		} else {
			e["data"] = map[string]string{"memory": text}
		}
		events = append(events, e)
	}
	if modern {
		c.write(http.StatusOK, map[string]any{"results": events})
		return
	}
	c.write(http.StatusOK, events)
}

// textsOf returns the texts to keep of messages. These are the users' texts, and with infer off
// also the assistants' texts.
func textsOf(raw json.RawMessage, infer string) (texts []string, why string) {
	var messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &messages) != nil || len(messages) == 0 {
		return nil, `messages is no list such as [{"role":"user","content":"…"}]`
	}
	for i, m := range messages {
		if m.Role != "user" && !(infer == "false" && m.Role == "assistant") {
			continue
		}
		var text string
		var parts []struct{ Type, Text string }
		switch {
		case json.Unmarshal(m.Content, &text) == nil:
		case json.Unmarshal(m.Content, &parts) == nil:
			for _, p := range parts {
				if p.Type != "text" {
					return nil, fmt.Sprintf("message %d holds %q: only text is kept", i, p.Type)
				}
				text += p.Text
			}
		default:
			return nil, fmt.Sprintf("message %d has no text", i)
		}
		if text = strings.TrimSpace(text); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil, "no user says anything in messages"
	}
	return texts, ""
}

// search finds memories of an owner.
func (c *mem0Call) search() {
	members, ok := c.body(append([]string{"query", "filters", "top_k", "limit", "threshold"}, entities...)...)
	if !ok {
		return
	}
	if raw, ok := members["filters"]; ok {
		if why := flatten(raw, members); why != "" {
			c.bad("%s", why)
			return
		}
	}
	asked, ok := c.ownerOf(members)
	if !ok {
		return
	}
	query, top, least := "", 10, 0.0
	for name, into := range map[string]any{"query": &query, "limit": &top, "top_k": &top, "threshold": &least} {
		if raw, ok := members[name]; ok && json.Unmarshal(raw, into) != nil {
			c.bad("%s is of another kind", name)
			return
		}
	}
	if top < 1 || top > searched {
		c.bad("top_k is a number from 1 to %d", searched)
		return
	}
	var found struct {
		Results []struct {
			Path  string
			Score float64
		}
	}
	if !c.do("search", map[string]any{"session_key": asked.session(), "query": query, "max_results": searched, "min_score": least}, &found) {
		return
	}
	may := c.d.may(c.x.token)
	out := []memory{}
	for _, hit := range found.Results {
		id, ok := strings.CutPrefix(strings.TrimSuffix(hit.Path, ".md"), mem0Folder)
		o, made, is := readID(id)
		if !ok || !is || !o.has(asked) || len(out) == top || may(serve.Asked{Method: "search", Need: serve.NeedRead, Sessions: []string{o.session()}}) != nil {
			continue
		}
		text, _, ok := c.read(id, o)
		if !ok {
			return
		}
		if text == "" || slices.ContainsFunc(out, func(m memory) bool { return m.ID == id }) {
			continue // the memory was deleted meanwhile, or this is a second hit in it
		}
		m := memoryOf(id, text, o, made)
		m.Score = &hit.Score
		out = append(out, m)
	}
	if !strings.HasPrefix(c.path, "/v1/") || string(members["output_format"]) == `"v1.1"` {
		c.write(http.StatusOK, map[string]any{"results": out})
		return
	}
	c.write(http.StatusOK, out)
}

// flatten reads the conditions of a filter that must all hold. If the filter is not of this kind,
// flatten returns the reason.
func flatten(raw json.RawMessage, into map[string]json.RawMessage) string {
	var f map[string]json.RawMessage
	if json.Unmarshal(raw, &f) != nil {
		return "filters is no object"
	}
	for name, v := range f {
		var all []json.RawMessage
		switch {
		case name == "AND" && json.Unmarshal(v, &all) == nil:
			for _, one := range all {
				if why := flatten(one, into); why != "" {
					return why
				}
			}
		case slices.Contains(entities, name) && (into[name] == nil || string(into[name]) == string(v)):
			into[name] = v
		default:
			return fmt.Sprintf("filters: %s: only user_id, agent_id, app_id and run_id can be asked for, each one name, joined by AND", name)
		}
	}
	return ""
}

// lastMark is the mark that remember puts after an entry.
var lastMark = regexp.MustCompile(`\n?<!-- mk:[^\n]* -->\s*$`)

// read reads a memory. The text of a missing memory is "". ok is false if the call was refused.
func (c *mem0Call) read(id string, o owner) (text, version string, ok bool) {
	var got struct{ Reason, Text, Version string }
	if !c.do("read", map[string]any{"session_key": o.session(), "path": mem0Folder + id + ".md"}, &got) {
		return "", "", false
	}
	return strings.TrimSuffix(lastMark.ReplaceAllString(got.Text, ""), "\n"), got.Version, true
}

// one finds the memory that the path names.
func (c *mem0Call) one() (m memory, version string, ok bool) {
	id := strings.TrimPrefix(c.path, "/v1/memories/")
	o, made, is := readID(id)
	if !is {
		c.gone()
		return m, "", false
	}
	text, version, ok := c.read(id, o)
	if ok && text == "" {
		c.gone()
		return m, "", false
	}
	return memoryOf(id, text, o, made), version, ok
}

func (c *mem0Call) gone() {
	c.x.refuse(http.StatusNotFound, "NOT_FOUND", "there is no such memory", "")
}

func (c *mem0Call) get() {
	if m, _, ok := c.one(); ok {
		c.write(http.StatusOK, m)
	}
}

// change calls memory.update or memory.delete for a memory that was read.
func (c *mem0Call) change(method string, m *memory, version string, more map[string]any) bool {
	o, _, _ := readID(m.ID)
	params := map[string]any{"session_key": o.session(), "path": mem0Folder + m.ID + ".md", "old": m.Memory, "from": 1, "version": version}
	maps.Copy(params, more)
	var done struct{}
	return c.do(method, params, &done)
}

func (c *mem0Call) update() {
	members, ok := c.body("text")
	if !ok {
		return
	}
	var text string
	if json.Unmarshal(members["text"], &text) != nil || strings.TrimSpace(text) == "" {
		c.bad("text is what the memory says from now on")
		return
	}
	text = strings.TrimSpace(text)
	m, version, ok := c.one()
	if !ok || text != m.Memory && !c.change("memory.update", &m, version, map[string]any{"text": text}) {
		return
	}
	if m.Memory, _, ok = c.readBack(m.ID); !ok { // the kept text may differ, because secrets are masked
		return
	}
	c.write(http.StatusOK, struct {
		memory
		Text string `json:"text"`
	}{m, m.Memory})
}

func (c *mem0Call) readBack(id string) (string, string, bool) {
	o, _, _ := readID(id)
	return c.read(id, o)
}

func (c *mem0Call) remove() {
	m, version, ok := c.one()
	if ok && c.change("memory.delete", &m, version, nil) {
		c.write(http.StatusOK, map[string]string{"message": "Memory deleted successfully!"})
	}
}

// detailed returns an error in the form that mem0's clients read.
func detailed(err *serve.Error) []byte {
	body, _ := json.Marshal(map[string]string{"detail": err.Message, "code": err.Data.Code, "hint": err.Data.Hint}) // strings can always be encoded
	return append(body, '\n')
}
