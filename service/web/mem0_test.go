package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/service/token"
)

// mem0 sends a request as mem0's clients do.
func (h *house) mem0(method, path, secret, body string) *got {
	return h.send(method, path, "", body, func(r *http.Request) {
		r.Header.Set("Authorization", "Token "+secret)
		r.Header.Set("Mem0-User-ID", "0123456789abcdef0123456789abcdef")
	})
}

func decoded[T any](t *testing.T, g *got) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(g.body), &v); err != nil || g.status != http.StatusOK {
		t.Fatalf("%d %s: %v", g.status, g.body, err)
	}
	return v
}

type found struct {
	ID, Memory string
	UserID     string `json:"user_id"`
	Score      float64
	CreatedAt  string `json:"created_at"`
}

// TestMem0 goes through a memory's life with the bodies that mem0 documents.
func TestMem0(t *testing.T) {
	h := newHouse(t)
	secret := h.token(token.Rights{Tenant: "a"})
	if g := h.mem0("GET", "/v1/ping/", secret, ""); g.status != 200 {
		t.Fatalf("%d %s", g.status, g.body)
	}
	type event struct {
		ID, Event string
		Data      struct{ Memory string }
	}
	added := decoded[[]event](t, h.mem0("POST", "/v1/memories/", secret, `{
		"messages": [
			{"role": "user", "content": "Hi, I'm Alex. I'm a vegetarian and I'm allergic to nuts."},
			{"role": "assistant", "content": "Hello Alex! I've noted that you're a vegetarian and have a nut allergy."}
		],
		"agent_id": null, "user_id": "alex", "app_id": null, "run_id": null, "metadata": null, "infer": true, "output_format": "v1.0", "org_id": null, "project_id": null, "version": null}`))
	if len(added) != 1 || added[0].Event != "ADD" || !strings.HasPrefix(added[0].Data.Memory, "Hi, I'm Alex.") {
		t.Fatalf("%+v", added)
	}
	id := added[0].ID
	modern := decoded[struct {
		Results []struct{ ID, Memory, Event string }
	}](t, h.mem0("POST", "/v1/memories/", secret, `{"messages":[{"role":"user","content":[{"type":"text","text":"I play tennis on Sundays"}]},{"role":"assistant","content":"Tennis it is"},{"role":"system","content":"no"}],"user_id":"alex","run_id":"r1","infer":false,"output_format":"v1.1","version":"v2"}`))
	if len(modern.Results) != 2 {
		t.Fatalf("%+v", modern)
	}
	decoded[any](t, h.mem0("POST", "/v1/memories/", secret, `{"messages":[{"role":"user","content":"I am a vegetarian too, and I play tennis"}],"user_id":"al"}`))

	got := decoded[found](t, h.mem0("GET", "/v1/memories/"+id+"/", secret, ""))
	if got.Memory != "Hi, I'm Alex. I'm a vegetarian and I'm allergic to nuts." || got.UserID != "alex" || got.CreatedAt == "" {
		t.Errorf("%+v", got)
	}
	for path, body := range map[string]string{
		"/v1/memories/search/": `{"query":"What are my dietary restrictions? vegetarian?","user_id":"alex","top_k":5}`,
		"/v1/memories/search":  `{"query":"vegetarian","user_id":"alex","agent_id":null,"top_k":10,"filters":{}}`,
	} {
		if list := decoded[[]found](t, h.mem0("POST", path, secret, body)); len(list) != 1 || list[0].ID != id || list[0].Score <= 0 {
			t.Errorf("%s: %+v", body, list)
		}
	}
	for body, n := range map[string]int{
		`{"query":"vegetarian","version":"v2","filters":{"AND":[{"user_id":"alex"}]}}`: 1,
		`{"query":"tennis","filters":{"user_id":"alex"},"top_k":10}`:                   2,
		`{"query":"tennis","filters":{"AND":[{"user_id":"alex"},{"run_id":"r1"}]}}`:    2,
		`{"query":"tennis","filters":{"run_id":"r1"},"top_k":1}`:                       1,
		`{"query":"tennis","filters":{"user_id":"al"}}`:                                1,
		`{"query":"tennis","filters":{"user_id":"ale"}}`:                               0,
		`{"query":"zeppelin","filters":{"user_id":"alex"}}`:                            0,
	} {
		for _, path := range []string{"/v2/memories/search/", "/v3/memories/search/"} {
			if r := decoded[struct{ Results []found }](t, h.mem0("POST", path, secret, body)); len(r.Results) != n {
				t.Errorf("%s %s: %+v", path, body, r)
			}
		}
	}
	if list := decoded[[]found](t, h.mem0("POST", "/v3/memories/add/", secret, `{"messages":[{"role":"user","content":"I sail on Sundays"}],"user_id":"cy"}`)); len(list) != 1 || list[0].Memory != "I sail on Sundays" || list[0].ID == "" {
		t.Errorf("%+v", list)
	}
	up := decoded[found](t, h.mem0("PUT", "/v1/memories/"+id+"/", secret, `{"text":"a"}`))
	if up.Memory != "a" || up.ID != id {
		t.Errorf("%+v", up)
	}
	up = decoded[found](t, h.mem0("PUT", "/v1/memories/"+id+"/", secret, `{"text":"Alex eats meat again"}`))
	if got := decoded[found](t, h.mem0("GET", "/v1/memories/"+id+"/", secret, "")); got.Memory != "Alex eats meat again" || up.Memory != got.Memory {
		t.Errorf("%+v", got)
	}
	if m := decoded[map[string]string](t, h.mem0("DELETE", "/v1/memories/"+id+"/", secret, "")); m["message"] == "" {
		t.Errorf("%v", m)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if g := h.mem0(method, "/v1/memories/"+id+"/", secret, ""); g.status != 404 || !strings.Contains(g.body, `"detail"`) {
			t.Errorf("%s: %d %s", method, g.status, g.body)
		}
	}
	if g := h.mem0("PUT", "/v1/memories/"+id+"/", secret, `{"text":"again"}`); g.status != 404 {
		t.Errorf("%d %s", g.status, g.body)
	}
	if strings.Contains(h.logged(), "alex") || strings.Contains(h.logged(), "tennis") || strings.Contains(h.logged(), id) {
		t.Errorf("the log: %s", h.logged())
	}
}

// TestMem0Refuses: what does not map is an error that says so, and rights hold.
func TestMem0Refuses(t *testing.T) {
	h := newHouse(t)
	full := h.token(token.Rights{Tenant: "a"})
	reader := h.token(token.Rights{Tenant: "a", Access: token.Read})
	alex := h.token(token.Rights{Tenant: "a", Prefix: "mem0/user_id=alex&"})
	b := h.token(token.Rights{Tenant: "b"})
	say := func(user string) string {
		return `{"messages":[{"role":"user","content":"the heron of ` + user + `"}],"user_id":"` + user + `"}`
	}
	ids := map[string]string{}
	for _, user := range []string{"alex", "alexa"} {
		ids[user] = decoded[[]struct{ ID string }](t, h.mem0("POST", "/v1/memories/", full, say(user)))[0].ID
	}
	decoded[any](t, h.mem0("POST", "/v1/memories/", alex, say("alex")))
	if r := decoded[[]found](t, h.mem0("POST", "/v1/memories/search/", alex, `{"query":"heron","user_id":"alex"}`)); len(r) != 2 {
		t.Errorf("%+v", r)
	}
	if g := h.call(full, "remember", `{"text":"outside","path":"memory/notes.md"}`); g.code() != "" {
		t.Fatal(g.body)
	}
	for _, x := range []struct {
		name, method, path, secret, body string
		status                           int
	}{
		{"no owner", "POST", "/v1/memories/", full, `{"messages":[{"role":"user","content":"x"}]}`, 400},
		{"metadata", "POST", "/v1/memories/", full, `{"messages":[{"role":"user","content":"x"}],"user_id":"u","metadata":{"a":1}}`, 400},
		{"no messages", "POST", "/v1/memories/", full, `{"user_id":"u"}`, 400},
		{"no user's", "POST", "/v1/memories/", full, `{"user_id":"u","messages":[{"role":"assistant","content":"x"}]}`, 400},
		{"a picture", "POST", "/v1/memories/", full, `{"user_id":"u","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400},
		{"a long name", "POST", "/v1/memories/", full, say(strings.Repeat("u", 200)), 400},
		{"no JSON", "POST", "/v1/memories/", full, `[`, 400},
		{"all", "POST", "/v2/memories/search/", full, `{"query":"heron","filters":{"user_id":"*"}}`, 400},
		{"or", "POST", "/v2/memories/search/", full, `{"query":"heron","filters":{"OR":[{"user_id":"alex"},{"user_id":"alexa"}]}}`, 400},
		{"two users", "POST", "/v2/memories/search/", full, `{"query":"heron","user_id":"alex","filters":{"user_id":"alexa"}}`, 400},
		{"no query", "POST", "/v2/memories/search/", full, `{"filters":{"user_id":"alex"}}`, 400},
		{"many", "POST", "/v2/memories/search/", full, `{"query":"heron","filters":{"user_id":"alex"},"top_k":100000}`, 400},
		{"list", "GET", "/v1/memories/", full, "", 405},
		{"history", "GET", "/v1/memories/" + ids["alex"] + "/history/", full, "", 404},
		{"a path", "GET", "/v1/memories/..%2fnotes/", full, "", 404},
		{"another file", "GET", "/v1/memories/notes/", full, "", 404},
		{"empty text", "PUT", "/v1/memories/" + ids["alex"] + "/", full, `{"text":" "}`, 400},
		{"update of metadata", "PUT", "/v1/memories/" + ids["alex"] + "/", full, `{"text":"x","metadata":{"a":1}}`, 400},
		{"reader adds", "POST", "/v1/memories/", reader, say("alex"), 403},
		{"reader updates", "PUT", "/v1/memories/" + ids["alex"] + "/", reader, `{"text":"x"}`, 403},
		{"reader deletes", "DELETE", "/v1/memories/" + ids["alex"] + "/", reader, "", 403},
		{"another user's", "GET", "/v1/memories/" + ids["alexa"] + "/", alex, "", 403},
		{"delete another user's", "DELETE", "/v1/memories/" + ids["alexa"] + "/", alex, "", 403},
		{"add another user's", "POST", "/v1/memories/", alex, say("alexa"), 403},
		{"search another user's", "POST", "/v1/memories/search/", alex, `{"query":"heron","user_id":"alexa"}`, 403},
		{"another tenant's", "GET", "/v1/memories/" + ids["alex"] + "/", b, "", 404},
		{"no token", "GET", "/v1/memories/" + ids["alex"] + "/", "", "", 401},
	} {
		t.Run(x.name, func(t *testing.T) {
			g := h.mem0(x.method, x.path, x.secret, x.body)
			if g.status != x.status || !strings.Contains(g.body, `"detail"`) || strings.Contains(g.body, "alexa") && x.secret == alex && !strings.Contains(x.body, "alexa") {
				t.Errorf("%d, want %d: %s", g.status, x.status, g.body)
			}
		})
	}
	for user, id := range ids {
		if m := decoded[found](t, h.mem0("GET", "/v1/memories/"+id+"/", full, "")); m.Memory != "the heron of "+user {
			t.Errorf("%+v", m)
		}
	}
	if g := h.mem0("POST", "/rpc", full, `{"jsonrpc":"2.0","id":1,"method":"pages"}`); g.status != 401 {
		t.Errorf("mem0's scheme elsewhere: %d", g.status)
	}
}
