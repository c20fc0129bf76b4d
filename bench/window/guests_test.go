package window

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/ui"
)

// tall says how long a plot is and others, roughly: what two looks at one view have in common.
const shape = `Array.from(document.querySelectorAll("#main .card h2, #main .tile dt")).map(e => e.textContent).join("|")`

// The recorded sessions beside the repository stand in the views of a session as the sample
// does.
func TestRecordedSessions(t *testing.T) {
	b := open(t)
	found := []string{}
	for _, host := range []string{"claude-code", "codex", "pi"} {
		list, _ := filepath.Glob(filepath.Join(root, "../shared/data/transcripts", host, "*.jsonl"))
		if len(list) > 0 {
			found = append(found, list[0])
		}
	}
	if len(found) == 0 {
		t.Skip("there are no recorded sessions beside the repository")
	}
	s := window(t, workspace(t), ui.Options{Resolver: "memory_get", Doctor: healthy}, found...)
	b.size(1280, false)
	base := b.enter(s)
	like := ""
	for _, path := range found {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		id, call := b.sample(name)
		for _, v := range views(id, call)[2:5] {
			b.visit(base, v.path, v.ready)
			b.do(pause)
			b.shoot(fmt.Sprintf("%s-%s", v.name, name[:min(len(name), 12)]), true)
			b.calm(v.name + " of " + name)
			if v.name != "session" {
				continue
			}
			if is := told[string](b, shape); like == "" {
				like = is
			} else if strings.Count(is, "|") < strings.Count(like, "|")-3 {
				t.Errorf("%s looks otherwise: %s, others %s", name, is, like)
			}
		}
	}
}

// A session that goes on while its page is open is seen to.
func TestLive(t *testing.T) {
	b := open(t)
	data, err := os.ReadFile(filepath.Join(root, "testdata/session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	path := filepath.Join(t.TempDir(), "live.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines[:60], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	s := window(t, workspace(t), ui.Options{}, path)
	b.size(1280, false)
	base := b.enter(s)
	b.see(`document.querySelector(".badge.on")?.textContent === "live"`)
	id, _ := b.sample("live")
	b.visit(base, "/s/"+id+"/numbers", `document.querySelectorAll(".plot svg").length >= 2`)
	calls := `Number(document.querySelector(".tile dd").firstChild.textContent)`
	before := told[int](b, calls)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for n := 60; n < 120; n += 20 { // as a host writes
		if _, err := f.WriteString(strings.Join(lines[n:n+20], "")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
	}
	b.see(fmt.Sprintf("%s > %d + 10", calls, before))
	b.see(fmt.Sprintf(`document.querySelector("table.calls").getAttribute("aria-rowcount") > %d + 10`, before))
	b.visit(base, "/s/"+id, `document.querySelectorAll(".said").length > 1`)
	items := `Number((document.querySelector(".more-of:last-of-type").textContent.match(/of ([\d,]+) items/) || ["", "0"])[1].replace(",", "")) + document.querySelectorAll(".said").length`
	before = told[int](b, items)
	if _, err := f.WriteString(strings.Join(lines[120:170], "")); err != nil {
		t.Fatal(err)
	}
	b.see(fmt.Sprintf("%s > %d", items, before))
	b.visit(base, "/", `document.querySelector(".asked .badge.on")`)
	b.shoot("live", true)
	b.calm("live")
}

// A transcript that means ill is text, however long it is.
func TestHostile(t *testing.T) {
	b := open(t)
	ill := filepath.Join(t.TempDir(), "<img src=x onerror=alert(4)>.jsonl")
	var text strings.Builder
	add := func(kind, id, parent string, content any, usage string) {
		raw, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, `{"type":%q,"uuid":%q,"parentUuid":%q,"sessionId":"s","timestamp":"2026-03-09T09:00:05Z","message":{"role":%q,"model":"claude-opus-4-5","content":%s%s}}`+"\n", kind, id, parent, kind, raw, usage)
	}
	bill := `,"usage":{"input_tokens":10,"output_tokens":2}`
	script := "<script>document.title='stolen'</script><img src=x onerror=\"document.title='stolen'\"> \x1b[31mred\x1b]8;;http://evil.example\x07link \u202egnp.exe [click](javascript:alert(1)) http://evil.example/x"
	add("user", "u1", "", script, "")
	add("assistant", "a1", "u1", []any{map[string]any{"type": "text", "text": script}, map[string]any{"type": "tool_use", "id": "t1", "name": "<b>Bash</b>", "input": map[string]any{"command": script, "file_path": script}}}, bill)
	add("user", "u2", "a1", []any{map[string]any{"type": "tool_result", "tool_use_id": "t1", "content": strings.Repeat("0123456789 <i>it</i> "+script+"\n", 20<<20/240)}}, "")
	add("assistant", "a2", "u2", "done", bill)
	add("user", "u3", "a2", "and now?", "")
	add("assistant", "a3", "u3", "nothing", bill)
	if err := os.WriteFile(ill, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := window(t, workspace(t), ui.Options{Resolver: "memory_get"}, ill)
	b.size(1280, false)
	base := b.enter(s)
	id, _ := b.sample("<img src=x onerror=alert(4)>")
	for _, v := range append(views(id, 2)[2:5], view{"now", "/?q=nothing", `document.querySelector(".asked .quote")`}) {
		b.visit(base, v.path, v.ready)
		told[bool](b, `document.querySelectorAll("details").forEach(d => d.open = true) || true`)
		b.do(pause)
		if bad := told[string](b, `Array.from(document.querySelectorAll("#main img, #main script, #main b b, #main i i, #main iframe")).map(e => e.outerHTML).join() + Array.from(document.querySelectorAll("#main a")).filter(a => a.origin !== location.origin).map(a => a.href).join() + (document.title === "stolen" ? document.title : "")`); bad != "" {
			t.Errorf("%s: text became markup: %s", v.name, bad)
		}
		b.shoot("hostile-"+v.name, true)
		b.calm("hostile " + v.name)
	}
}

// Fifty thousand messages: the page stands at once, and stays small, while they are planned.
func TestManyMessages(t *testing.T) {
	b := open(t)
	path := filepath.Join(t.TempDir(), "many.jsonl")
	var text strings.Builder
	for i := range 25_000 {
		fmt.Fprintf(&text, `{"type":"user","uuid":"u%d","parentUuid":"a%d","sessionId":"s","timestamp":"2026-03-09T%02d:%02d:%02dZ","message":{"role":"user","content":"question %d"}}`+"\n", i, i-1, i/3600%24, i/60%60, i%60, i)
		fmt.Fprintf(&text, `{"type":"assistant","uuid":"a%d","parentUuid":"u%d","sessionId":"s","timestamp":"2026-03-09T%02d:%02d:%02dZ","message":{"role":"assistant","model":"claude-opus-4-5","content":"answer %d","usage":{"input_tokens":%d,"output_tokens":9}}}`+"\n", i, i, i/3600%24, i/60%60, i%60, i, 1000+i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := window(t, workspace(t), ui.Options{}, path)
	b.size(1280, false)
	base := b.enter(s)
	var list sessionList
	b.ask("/api/sessions", &list)
	b.mu.Lock()
	b.bytes, b.requests = 0, 0
	b.mu.Unlock()
	b.visit(base, "/s/"+list.Sessions[0].ID, `document.querySelectorAll(".said").length > 5`)
	for range 6 { // to the end of what is there, again and again
		told[bool](b, `scrollTo(0, document.body.scrollHeight) === undefined`)
		b.do(pause)
	}
	if n := told[int](b, `document.querySelectorAll("#main *").length`); n > 12_000 {
		t.Errorf("the conversation holds %d elements", n)
	}
	b.shoot("many-said", false)
	b.visit(base, "/s/"+list.Sessions[0].ID+"/numbers", `document.querySelectorAll("table.calls tbody tr").length > 5`)
	for range 12 { // the list is thrown about
		told[bool](b, `(document.querySelector(".virtual").scrollTop = Math.random() * document.querySelector(".virtual").scrollHeight) >= 0`)
		b.do(pause)
	}
	if rows := told[int](b, `document.querySelectorAll("#main tr").length`); rows > 1200 {
		t.Errorf("the page holds %d rows", rows)
	}
	b.mu.Lock()
	t.Logf("%d requests, %.0f bytes", b.requests, b.bytes)
	if b.bytes > 3<<20 {
		t.Errorf("the page took %.0f bytes", b.bytes)
	}
	b.mu.Unlock()
	b.shoot("many", true)
	b.calm("many messages")
}

// A second browser does not come in: not by the address, nor by the link that was used.
func TestSecondBrowser(t *testing.T) {
	first, second := open(t), open(t)
	s := window(t, workspace(t), ui.Options{})
	link := s.Link()
	base := first.enter(s)
	if token := told[string](first, `location.href`); strings.Contains(token, "token") {
		t.Errorf("the token stays in the address: %s", token)
	}
	for _, address := range []string{base + "/memory", link} {
		second.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address))
		second.see(`document.querySelector("#door") && document.querySelector("#door").textContent !== "Opening…"`)
		if text := told[string](second, `document.body.innerText`); strings.Contains(text, "MEMORY") || !strings.Contains(text, "link") {
			t.Errorf("%s: %s", address, text)
		}
	}
	if code := told[int](second, `fetch("/api/sessions").then(r => r.status)`); code != http.StatusUnauthorized {
		t.Errorf("its data: %d", code)
	}
	second.shoot("door", false)
}

// A page of another origin, in the browser that came in, reads nothing and changes nothing.
func TestOtherOrigin(t *testing.T) {
	b := open(t)
	s := window(t, workspace(t), ui.Options{Voice: api.VoicePerson})
	base := b.enter(s)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!DOCTYPE html><title>evil</title><iframe id=f></iframe>")
	}))
	defer evil.Close()
	b.do(chromedp.Navigate(evil.URL))
	for _, try := range []string{
		`fetch(BASE + "/api/sessions", {credentials: "include"}).then(r => r.text(), e => "refused")`,
		`fetch(BASE + "/api/undo", {method: "POST", credentials: "include", body: "{}"}).then(r => r.text(), e => "refused")`,
		`fetch(BASE + "/api/sessions", {credentials: "include", mode: "no-cors"}).then(r => r.text().then(t => t === "" ? "refused" : t), e => "refused")`,
		`new Promise(ok => { const f = document.getElementById("f"); f.onload = () => { try { ok(f.contentDocument ? "refused" : "refused"); } catch (e) { ok("refused"); } }; f.src = BASE + "/"; setTimeout(() => ok("refused"), 1500); })`,
		`import(BASE + "/api/sessions").then(() => "read", () => "refused")`,
	} {
		if got := told[string](b, strings.ReplaceAll(try, "BASE", fmt.Sprintf("%q", base))); got != "refused" {
			t.Errorf("%s: %s", try, got)
		}
	}
	// The window itself goes on.
	b.mu.Lock()
	b.trouble, b.outside = nil, nil
	b.mu.Unlock()
	b.do(chromedp.Navigate(base + "/"))
	b.see(`document.querySelector("#main .view")`)
}

// What sees pages with ears and keys finds nothing serious. MEMKERNEL_AXE is axe-core's
// axe.min.js.
func TestAccessible(t *testing.T) {
	chromium(t)
	path := os.Getenv("MEMKERNEL_AXE")
	if path == "" {
		t.Skip("MEMKERNEL_AXE does not name axe.min.js; make test-ui gets it from npm")
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t)
	s := window(t, workspace(t), ui.Options{Window: 128_000, Resolver: "memory_get", Doctor: healthy, Voice: api.VoicePerson}, filepath.Join(root, "testdata/session.jsonl"))
	b.size(1280, false)
	base := b.enter(s)
	id, call := b.sample("session")
	for _, v := range views(id, call) {
		for _, dark := range []bool{false, true} {
			b.size(1280, dark)
			b.visit(base, v.path, v.ready)
			told[bool](b, `document.querySelectorAll(".blocks li:first-child details, .card > details, details.card").forEach(d => d.open = true) || true`)
			b.do(pause)
			told[bool](b, string(axe)+";true")
			found := told[string](b, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.filter(v => v.impact === "serious" || v.impact === "critical").map(v => v.id + ": " + v.help + "\n    " + v.nodes.slice(0, 3).map(n => n.html + " " + (n.any[0]?.message || "")).join("\n    ")).join("\n"))`)
			if found != "" {
				t.Errorf("%s, dark %v:\n%s", v.name, dark, found)
			}
		}
	}
}

// A plot and the list of blocks can be worked by keys alone.
func TestKeys(t *testing.T) {
	b := open(t)
	s := window(t, workspace(t), ui.Options{Window: 128_000, Resolver: "memory_get"}, filepath.Join(root, "testdata/session.jsonl"))
	b.size(1280, false)
	base := b.enter(s)
	id, _ := b.sample("session")
	b.visit(base, "/s/"+id+"/numbers", `document.querySelectorAll(".plot svg").length >= 2`)
	told[bool](b, `document.querySelector(".plot").focus() || true`)
	b.do(chromedp.KeyEvent("\ue010"), chromedp.KeyEvent("+"))
	press := func(key string) {
		told[bool](b, fmt.Sprintf(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: %q, bubbles: true})) || true`, key))
	}
	press("Home")
	press("ArrowRight")
	press("ArrowRight")
	if at := told[string](b, `document.querySelector(".at-call").textContent`); !strings.HasPrefix(at, "call") {
		t.Errorf("the cursor is at %q", at)
	}
	press("+")
	b.see(`location.search.includes("from=")`)
	press("Enter")
	b.see(`/\/c\/\d+$/.test(location.pathname) && document.querySelector(".blocks summary")`)
	n := told[int](b, `Number(location.pathname.split("/").pop())`)
	press("]")
	b.see(fmt.Sprintf(`document.querySelector("h1").textContent.startsWith("Call %d ")`, n+1))
	b.calm("keys")
}
