package web

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/service/token"
)

// What nobody of tenant A may ever read: what is tenant B's, what is outside, and, for tokens
// that are limited, what is another session's.
const (
	ofB     = "CRIMSON-HERON"
	outside = "OCHRE-LYNX"
	ofOther = "VIOLET-OTTER"
)

// prints are the contents of all files of a folder, hashed by their names. What a search
// derives of them is passed over.
func prints(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(d.Name(), "index.") || strings.HasSuffix(d.Name(), ".lock") || d.Type() != 0 {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[rel] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func changed(before, after map[string]string) (out []string) {
	for name, sum := range after {
		if before[name] != sum {
			out = append(out, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			out = append(out, name+" (gone)")
		}
	}
	return out
}

// turn is a conversation with a long result in it, which becomes a blob.
func turn(key, word string) string {
	return fmt.Sprintf(`{"session_key":%q,"private":true,"model":"claude-sonnet-4-6","conversation":{"dialect":"anthropic","messages":[
	{"role":"user","content":"keep %s"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"path":"x"}}]},
	{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":%q}]},{"role":"assistant","content":"I keep %s"}]}}`, key, word, strings.Repeat(word+" is what this long result says\n", 2000), word)
}

// blobsOf are the hashes of a tenant's blobs.
func blobsOf(t *testing.T, h *house, tenant string) (out []string) {
	t.Helper()
	if h.blobs != nil {
		return h.blobs(tenant)
	}
	files, err := filepath.Glob(filepath.Join(h.root, "tenants", tenant, "state", "blobs", "??", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no blobs: %v", err)
	}
	for _, f := range files {
		out = append(out, filepath.Base(f))
	}
	return out
}

// TestAttacks: bearers of valid tokens of tenant A reach neither tenant B nor what is outside
// of their rights, nor change it.
func TestAttacks(t *testing.T) { attacks(t, newHouse(t)) }

// ofTenant are the contents of all that a tenant has, as prints has them.
func (h *house) ofTenant(tenant string) map[string]string {
	h.t.Helper()
	out := prints(h.t, filepath.Join(h.root, "tenants", tenant))
	if h.rows != nil {
		for name, sum := range h.rows(tenant) {
			out[name] = sum
		}
	}
	return out
}

func attacks(t *testing.T, h *house) {
	full := h.token(token.Rights{Tenant: "a"})
	reader := h.token(token.Rights{Tenant: "a", Access: token.Read})
	prefix := h.token(token.Rights{Tenant: "a", Prefix: "a/"})
	prefixReader := h.token(token.Rights{Tenant: "a", Prefix: "a/", Access: token.Read})
	agent := h.token(token.Rights{Tenant: "a", Agent: "ops"})
	b := h.token(token.Rights{Tenant: "b"})
	lapsed := lapsedToken(t, h)
	made, revoked, err := h.tokens.Create(token.Rights{Tenant: "b", Access: token.Write}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.tokens.Revoke(made.ID, time.Now()); err != nil {
		t.Fatal(err)
	}

	h.well(b, "remember", `{"text":"`+ofB+` is the word","private":true,"path":"MEMORY.md"}`)
	h.well(b, "remember", `{"text":"`+ofB+` is noted","path":"memory/notes.md"}`)
	h.well(b, "observe_turn", turn("a/one", ofB))
	basis := h.well(b, "peek", `{"session_key":"a/one","private":true,"model":"claude-sonnet-4-6","conversation":{"dialect":"anthropic","messages":[{"role":"user","content":"`+ofB+`"}]}}`)
	baseB := basis["conversation"].(map[string]any)["base"].(string)
	checkpointB := fmt.Sprint(h.well(b, "checkpoint", `{"session_key":"a/one"}`)["id"])
	pageOf(h, b, "a/one", ofB)
	planB := h.well(b, "plan", `{"session_key":"a/two","private":true,"model":"claude-sonnet-4-6","conversation":{"dialect":"anthropic","messages":[{"role":"user","content":"`+ofB+`"}]}}`)["plan_id"].(string)
	h.well(full, "remember", `{"text":"the gate closes at six","path":"memory/notes.md"}`)
	h.well(full, "observe_turn", turn("z/other", ofOther))
	h.well(full, "observe_turn", turn("agent:main:other", ofOther))
	pageOf(h, full, "z/other", ofOther)
	otherBase := h.well(full, "peek", `{"session_key":"z/other","private":true,"model":"claude-sonnet-4-6","conversation":{"dialect":"anthropic","messages":[{"role":"user","content":"`+ofOther+`"}]}}`)["conversation"].(map[string]any)["base"].(string)
	blobB, blobOther := blobsOf(t, h, "b")[0], blobsOf(t, h, "a")[0]

	out := filepath.Join(t.TempDir(), "outside.md")
	if err := os.WriteFile(out, []byte("# "+outside+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wsA, wsB := h.workspace("a"), h.workspace("b")
	for link, to := range map[string]string{"memory/out.md": out, "memory/b.md": filepath.Join(wsB, "memory", "notes.md"), "memory/bdir": filepath.Join(wsB, "memory"), "USER.md": filepath.Join(wsB, "MEMORY.md")} {
		if err := os.Symlink(to, filepath.Join(wsA, link)); err != nil {
			t.Fatal(err)
		}
	}
	// The same goes well where it may, or the tries below would prove nothing.
	h.well(prefix, "observe_turn", strings.Replace(turn("a/one", "plain"), `"private":true,`, "", 1))
	h.well(agent, "observe_turn", turn("agent:ops:one", "plain"))
	for method, params := range map[string]string{"get": `{"session_key":"z/other","id":"` + blobOther + `"}`, "pages": `{"session_key":"z/other"}`, "restore": `{"session_key":"z/other"}`} {
		if text := fmt.Sprint(h.well(full, method, params)); !strings.Contains(text, ofOther) {
			t.Fatalf("%s of the other session, by who may: %.300s", method, text)
		}
	}
	if text := fmt.Sprint(h.well(full, "search", `{"session_key":"a/one","private":true,"query":"otter violet long result"}`)); !strings.Contains(text, ofOther) {
		t.Fatalf("past sessions are not found, by who may: %.300s", text)
	}
	beforeB, beforeOut := h.ofTenant("b"), prints(t, filepath.Dir(out))

	rpc := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	}
	tries := []struct {
		name, secret, body string
		change             func(*http.Request)
	}{}
	try := func(name, secret, body string, change ...func(*http.Request)) {
		row := struct {
			name, secret, body string
			change             func(*http.Request)
		}{name, secret, body, func(*http.Request) {}}
		if len(change) > 0 {
			row.change = change[0]
		}
		tries = append(tries, row)
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}

	// Paths, by a token that may do everything in tenant A.
	for _, path := range []string{"../../b/workspace/MEMORY.md", "../../b/workspace/memory/notes.md", "memory/../../../b/workspace/memory/notes.md", "memory/..%2f..%2f..%2fb/workspace/MEMORY.md",
		filepath.Join(wsB, "MEMORY.md"), out, "memory/out.md", "memory/b.md", "memory/bdir/notes.md", "USER.md", `memory\..\..\..\b\workspace\MEMORY.md`, "file://" + out,
		"memory/notes.md\u0000/../../../b/workspace/MEMORY.md", "../state/tokens", "/etc/passwd", "memory/．．/．．/．．/b/workspace/MEMORY.md", "./memory/./../../../b/workspace/MEMORY.md", "../../../tokens/x.json"} {
		q := fmt.Sprintf("%q", path)
		try("read "+path, full, rpc("read", `{"private":true,"path":`+q+`}`))
		try("tool get "+path, full, rpc("tools.call", `{"private":true,"name":"memory_get","arguments":{"path":`+q+`}}`))
		try("remember "+path, full, rpc("remember", `{"private":true,"text":"planted","path":`+q+`}`))
	}
	for _, path := range []string{"memory/b.md", "memory/bdir/notes.md", "../../b/workspace/memory/notes.md", filepath.Join(wsB, "memory/notes.md")} {
		q := fmt.Sprintf("%q", path)
		try("update "+path, full, rpc("tools.call", `{"private":true,"name":"memory_update","arguments":{"path":`+q+`,"old":"`+ofB+` is noted","text":"planted"}}`))
		try("delete "+path, full, rpc("tools.call", `{"private":true,"name":"memory_delete","arguments":{"path":`+q+`}}`))
	}
	for _, path := range []string{"/memories/../../../b/workspace/MEMORY.md", "/memories/b.md", "/memories/bdir/notes.md", "/memories/%2e%2e/%2e%2e/%2e%2e/b/workspace/MEMORY.md", "/memories"} {
		try("memory tool "+path, full, rpc("memory.tool", fmt.Sprintf(`{"private":true,"input":{"command":"view","path":%q}}`, path)))
		try("memory tool create "+path, full, rpc("memory.tool", fmt.Sprintf(`{"private":true,"input":{"command":"create","path":%q,"file_text":"planted"}}`, path)))
	}
	// What is B's by its id, its words, its conversation.
	try("session of B", full, rpc("restore", `{"session_key":"a/one"}`))
	try("pages of B", full, rpc("pages", `{"session_key":"a/one"}`))
	try("blob of B", full, rpc("get", `{"session_key":"a/one","id":"`+blobB+`"}`))
	try("blob of B as a page", full, rpc("tools.call", `{"session_key":"a/one","name":"memory_get","arguments":{"path":"`+blobB+`"}}`))
	try("search for B", full, rpc("search", `{"private":true,"query":"heron word noted crimson"}`))
	try("search by tool", full, rpc("tools.call", `{"private":true,"name":"memory_search","arguments":{"query":"heron crimson"}}`))
	try("base of B", full, rpc("peek", `{"session_key":"a/one","private":true,"model":"claude-sonnet-4-6","form":"body","conversation":{"base":"`+baseB+`"}}`))
	try("plan of B", full, rpc("observe_turn", `{"session_key":"a/two","plan_id":"`+planB+`","conversation":{"base":"`+baseB+`","messages":[]}}`))
	try("status", full, rpc("status", `{}`))
	try("check", full, rpc("check", `{}`))
	try("usage", full, rpc("usage", `{}`))
	try("retain", full, rpc("retain", `{"apply":true,"now":"2100-01-01T00:00:00Z"}`))
	try("session key as a path", full, rpc("observe_turn", turn("../../../b/state/sessions/a", "planted")))
	try("session key as B's folder", full, rpc("restore", `{"session_key":"../../b/state/sessions/a_one"}`))
	try("agent as a path", full, rpc("plan", `{"session_key":"agent:../../b:one","agent_id":"../../b","session_file":"`+out+`","channel":"../b","model":"claude-sonnet-4-6","prompt":"hi"}`))
	// What is B's by its page and its checkpoint, and names with the words of a database in them.
	pagesB := h.well(b, "pages", `{"session_key":"a/one"}`)["pages"].([]any)
	for i, p := range pagesB[:min(3, len(pagesB))] {
		id := p.(map[string]any)["key"].(string)
		try(fmt.Sprint("page of B ", i), full, rpc("get", fmt.Sprintf(`{"session_key":"a/one","id":%q}`, id)))
		try(fmt.Sprint("forget page of B ", i), full, rpc("forget", fmt.Sprintf(`{"session_key":"a/one","ids":[%q],"apply":true}`, id)))
	}
	try("forget B's blob", full, rpc("forget", `{"session_key":"a/one","ids":["`+blobB+`"],"apply":true}`))
	try("checkpoint of B", full, rpc("restore", fmt.Sprintf(`{"session_key":"a/one","checkpoint_id":%q}`, checkpointB)))
	for _, word := range []string{"' OR ''='", "'; DELETE FROM files; --", "x') UNION SELECT data FROM pieces --", "$1", "$$; RESET ROLE; $$", "%", "_", `\`, "sessions/a_one", "../../tenants/b/sessions/a/one", "a/one/../../../../b/tenants", "shop/tenants/b", "tenants/b", "b/a/one", strings.Repeat("a/", 80) + "one"} {
		q := fmt.Sprintf("%q", word)
		try("session "+word, full, rpc("restore", `{"session_key":`+q+`}`))
		try("pages of "+word, full, rpc("pages", `{"session_key":`+q+`}`))
		try("turn of "+word, full, rpc("observe_turn", strings.Replace(turn("KEY", "planted"), `"KEY"`, q, 1)))
		try("id "+word, full, rpc("get", `{"session_key":"a/one","id":`+q+`}`))
		try("forget "+word, full, rpc("forget", `{"session_key":`+q+`,"all":true,"apply":true}`))
		try("search "+word, full, rpc("search", `{"private":true,"query":`+q+`}`))
	}
	// Headers that say otherwise.
	for name, value := range map[string]string{"X-Tenant": "b", "X-Forwarded-User": "b", "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "b", "Forwarded": "for=127.0.0.1;host=b", "X-Original-URL": "/rpc?tenant=b", "X-HTTP-Method-Override": "DELETE", "Host": "b", "Cookie": "token=" + b, "Tenant": "b", "X-Api-Key": b} {
		try("header "+name, full, rpc("restore", `{"session_key":"a/one"}`), header(name, value))
		try("header "+name+" alone", "", rpc("restore", `{"session_key":"a/one"}`), header(name, value))
	}
	try("two tokens", full, rpc("restore", `{"session_key":"a/one"}`), func(r *http.Request) { r.Header.Add("Authorization", "Bearer "+b) })
	try("two tokens in one", "", rpc("restore", `{"session_key":"a/one"}`), header("Authorization", "Bearer "+full+", Bearer "+b))
	try("tenant in the query", full, rpc("restore", `{"session_key":"a/one"}`), func(r *http.Request) { r.URL.RawQuery = "tenant=b&access_token=" + b })
	try("token as basic", "", rpc("restore", `{"session_key":"a/one"}`), func(r *http.Request) { r.SetBasicAuth("b", b) })
	try("hash as token", "", rpc("restore", `{"session_key":"a/one"}`), header("Authorization", "Bearer "+strings.Repeat("0", 47)))
	try("revoked", revoked, rpc("restore", `{"session_key":"a/one"}`))
	try("expired", lapsed, rpc("restore", `{"session_key":"a/one"}`))
	try("params with a tenant", full, rpc("restore", `{"session_key":"a/one","tenant":"b"}`))
	try("message with a tenant", full, `{"jsonrpc":"2.0","id":1,"method":"restore","tenant":"b","params":{"session_key":"a/one"}}`)

	// Beyond the sessions of a token that is limited, within A.
	for _, key := range []string{"z/other", "agent:main:other", "", "A/other", "a", "a\\u002e/z", " a/../z/other", "\\u0430/other", "a\\u200b/other", "a\\u2215other", "\\u00e1/other", "../a/z/other"} {
		for _, secret := range []string{prefix, prefixReader} {
			try("session "+key, secret, rpc("restore", `{"session_key":"`+key+`"}`))
			try("pages "+key, secret, rpc("pages", `{"session_key":"`+key+`"}`))
		}
	}
	s := func(keys string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"restore","params":{` + keys + `}}`
	}
	try("doubled key", prefix, s(`"session_key":"a/one","session_key":"z/other"`))
	try("doubled key, other case", prefix, s(`"session_key":"a/one","SESSION_KEY":"z/other"`))
	try("doubled key, first", prefix, s(`"session_key":"z/other","Session_Key":"z/other"`))
	try("doubled params", prefix, `{"jsonrpc":"2.0","id":1,"method":"restore","params":{"session_key":"a/one"},"params":{"session_key":"z/other"}}`)
	try("doubled method", prefix, `{"jsonrpc":"2.0","id":1,"method":"initialize","method":"status","params":{}}`)
	try("params of other case", prefix, `{"jsonrpc":"2.0","id":1,"method":"restore","Params":{"session_key":"z/other"}}`)
	try("batch", prefix, `[`+s(`"session_key":"a/one"`)+`,`+s(`"session_key":"z/other"`)+`,`+rpc("status", `{}`)+`]`)
	try("two values", prefix, s(`"session_key":"a/one"`)+s(`"session_key":"z/other"`))
	try("blob", prefix, rpc("get", `{"session_key":"a/one","id":"`+blobOther+`"}`))
	try("blob in capitals", prefix, rpc("get", `{"session_key":"a/one","id":"`+strings.ToUpper(blobOther)+`"}`))
	try("blob by tool", prefix, rpc("tools.call", `{"session_key":"a/one","name":"memory_get","arguments":{"path":"`+blobOther+`"}}`))
	try("blob by tool, doubled", prefix, rpc("tools.call", `{"session_key":"a/one","name":"memory_get","arguments":{"path":"`+blobOther+`","path":"x"}}`))
	try("blob by tool, escaped", prefix, rpc("tools.call", fmt.Sprintf(`{"session_key":"a/one","name":"memory_get","arguments":{"path":"\u00%02x%s"}}`, blobOther[0], blobOther[1:])))
	try("forget a blob", prefix, rpc("forget", `{"session_key":"a/one","ids":["`+blobOther+`"],"apply":true}`))
	try("forget another", prefix, rpc("forget", `{"session_key":"z/other","all":true,"apply":true}`))
	try("updates of another", prefix, rpc("write", `{"session_key":"a/one","updates":[{"key":"rule","field":"text","op":"set_with_version","version":1,"value":"planted","scope":"session","session":"z/other","evidence_ref":"session:`+textutil.SafeName("a/one")+`"}]}`))
	try("updates of another, observed", prefix, rpc("flush", `{"session_key":"a/one","updates":[{"key":"rule","field":"text","op":"append","value":"planted","scope":"session","session":"z/other","evidence_ref":"session:`+textutil.SafeName("a/one")+`"}]}`))
	try("updates of all", prefix, rpc("write", `{"session_key":"a/one","project":true,"updates":[{"key":"rule","type":"constraint","field":"text","op":"set_with_version","value":"planted","scope":"project","evidence_ref":"session:`+textutil.SafeName("a/one")+`"}]}`))
	try("base of another", prefix, rpc("peek", `{"session_key":"a/one","model":"claude-sonnet-4-6","form":"body","conversation":{"base":"`+otherBase+`"}}`))
	try("private search", prefix, rpc("search", `{"session_key":"a/one","private":true,"query":"otter violet long result"}`))
	try("shared search", prefix, rpc("search", `{"session_key":"a/one","query":"otter violet long result"}`))
	try("private plan", prefix, rpc("plan", `{"session_key":"a/one","private":true,"model":"claude-sonnet-4-6","prompt":"what does the violet otter say"}`))
	try("tool search", prefix, rpc("tools.call", `{"session_key":"a/one","private":true,"name":"memory_search","arguments":{"query":"violet otter","source":"sessions"}}`))
	for _, m := range []string{"status", "check", "usage", "retain", "reindex", "shutdown"} {
		try(m, prefix, rpc(m, `{}`))
		try(m, agent, rpc(m, `{}`))
	}
	try("usage of another", prefix, rpc("usage", `{"session_key":"z/other"}`))
	try("session of another agent", agent, rpc("restore", `{"session_key":"agent:main:other"}`))
	try("session of no agent", agent, rpc("restore", `{"session_key":"z/other"}`))
	try("another agent's name", agent, rpc("plan", `{"session_key":"agent:ops:one","agent_id":"main","model":"claude-sonnet-4-6","prompt":"violet otter"}`))
	try("agent in another case", agent, rpc("restore", `{"session_key":"agent:OPS:one"}`))
	try("past of another agent", agent, rpc("search", `{"session_key":"agent:ops:one","private":true,"query":"violet otter long result"}`))
	// Writing with a token that may read.
	for _, m := range []string{"plan", "observe_turn", "observe_tool_result", "start_session", "end_session", "flush", "reset", "compact", "checkpoint", "observe_flush", "remember", "memory.tool", "forget", "retain", "write", "reindex", "shutdown"} {
		try("reader "+m, reader, rpc(m, `{}`))
	}
	try("reader's tool", reader, rpc("tools.call", `{"name":"memory_append","arguments":{"text":"planted"}}`))
	try("reader's notification", reader, `{"jsonrpc":"2.0","method":"remember","params":{"text":"planted"}}`)
	try("reader's batch", reader, `[`+rpc("pages", `{}`)+`,`+rpc("remember", `{"text":"planted"}`)+`]`)
	try("full shutdown", full, rpc("shutdown", `{}`))
	try("cancel another's call", full, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
	// Ways in by other paths.
	for _, p := range []string{"/rpc/", "//rpc", "/tenants/b/rpc", "/../tenants/b/workspace/MEMORY.md", "/openapi.json/../tokens", "/v1/export", "/.memkernel/tokens", "/rpc?tenant=b", "/metrics", "/debug/pprof"} {
		try("path "+p, full, rpc("restore", `{"session_key":"a/one"}`), func(r *http.Request) {
			r.URL.Path, r.URL.RawQuery, _ = strings.Cut(p, "?")
			r.URL.Opaque = ""
		})
	}
	try("openapi", full, "", func(r *http.Request) { r.Method, r.URL.Path = "GET", "/openapi.json" })

	if len(tries) < 60 {
		t.Fatalf("%d tries", len(tries))
	}
	through := 0
	for _, x := range tries {
		limited := x.secret != full && x.secret != reader
		var before map[string]string
		if x.secret == reader || x.secret == prefixReader {
			before = h.ofTenant("a")
		}
		g := h.send("POST", "/rpc", x.secret, x.body, x.change)
		leak := strings.Contains(g.body, ofB) && !strings.Contains(x.body, ofB) || strings.Contains(g.body, outside) || limited && strings.Contains(g.body, ofOther)
		if leak || g.status >= 500 || strings.Contains(g.body, "root:x:0") {
			through++
			t.Errorf("%s: %d %.300s", x.name, g.status, g.body)
		}
		if before != nil {
			if diff := changed(before, h.ofTenant("a")); len(diff) > 0 {
				through++
				t.Errorf("%s: a reader changed %v: %s", x.name, diff, g.body)
			}
		}
	}
	if diff := changed(beforeB, h.ofTenant("b")); len(diff) > 0 {
		t.Errorf("changed of tenant B: %v", diff)
	}
	if diff := changed(beforeOut, prints(t, filepath.Dir(out))); len(diff) > 0 {
		t.Errorf("changed outside: %v", diff)
	}
	// What the limited tokens aimed at stands as it was.
	if text := fmt.Sprint(h.well(full, "pages", `{"session_key":"z/other"}`)); !strings.Contains(text, ofOther) || strings.Contains(text, "planted") {
		t.Errorf("the other session's pages: %s", text)
	}
	if text := fmt.Sprint(h.well(full, "get", `{"session_key":"z/other","id":"`+blobOther+`"}`)); !strings.Contains(text, ofOther) {
		t.Errorf("the other session's blob: %.200s", text)
	}
	if checkpointB == "" || len(pagesB) == 0 {
		t.Errorf("B has no checkpoint %q or pages %v", checkpointB, pagesB)
	}
	entries, err := os.ReadDir(filepath.Join(h.root, "tenants"))
	if err != nil || len(entries) != 2 {
		t.Errorf("tenants: %v, %v", entries, err)
	}
	t.Logf("%d tries, %d through", len(tries), through)
	for _, word := range []string{ofB, ofOther, outside, "z/other", "violet", full, b} {
		if strings.Contains(h.logged(), word) {
			t.Errorf("the log has %q", word)
		}
	}
}

// pageOf gives a session a page.
func pageOf(h *house, secret, key, word string) {
	h.t.Helper()
	if w := h.well(secret, "write", `{"session_key":"`+key+`","updates":[{"key":"rule","type":"constraint","field":"text","op":"set_with_version","value":"`+word+`","scope":"session","evidence_ref":"session:`+textutil.SafeName(key)+`"}]}`); w["rejected"] != nil {
		h.t.Fatal(w)
	}
}

// lapsedToken is one of tenant B that has expired.
func lapsedToken(t *testing.T, h *house) string {
	t.Helper()
	_, secret, err := h.tokens.Create(token.Rights{Tenant: "b", Access: token.Write, Expires: time.Now().Add(-time.Minute)}, time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return secret
}
