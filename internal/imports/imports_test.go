package imports

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"

	_ "modernc.org/sqlite"
)

// found is what a reading came to.
type heard struct {
	sessions  []*Session
	facts     []*Fact
	lost      []string
	left      []string
	elsewhere map[Format]int
}

func (h *heard) fact(text string) *Fact {
	for _, f := range h.facts {
		if strings.Contains(f.Text, text) {
			return f
		}
	}
	return nil
}

func readAll(t *testing.T, workspace string, all bool, paths ...string) *heard {
	t.Helper()
	h := &heard{elsewhere: map[Format]int{}}
	for _, p := range paths {
		err := Read(context.Background(), p, &Options{Workspace: workspace, All: all}, &Found{
			Session:   func(s *Session) error { h.sessions = append(h.sessions, s); return nil },
			Fact:      func(f *Fact) error { h.facts = append(h.facts, f); return nil },
			Lost:      func(f Format, err error) { h.lost = append(h.lost, string(f)+": "+err.Error()) },
			Left:      func(f Format, place, why string) { h.left = append(h.left, place+": "+why) },
			Elsewhere: func(f Format) { h.elsewhere[f]++ },
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func lay(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func database(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// sketch says who said what.
func sketch(msgs []memkernel.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		fmt.Fprintf(&b, "%s", m.Role)
		if m.Origin != "" {
			fmt.Fprintf(&b, "(%s)", m.Origin)
		}
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				fmt.Fprintf(&b, " call %s %s", p.Call.Name, p.Call.Input)
			case p.Result != nil:
				fmt.Fprintf(&b, " result %s", transcript.Text(m))
			default:
				fmt.Fprintf(&b, " %s", strings.TrimSpace(p.Text))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

const gpt = `[{"conversation_id":"c1","title":"Tides","current_node":"f","mapping":{
"r":{"id":"r","parent":null,"children":["s"],"message":null},
"s":{"parent":"r","children":["a"],"message":{"author":{"role":"system"},"content":{"content_type":"text","parts":[""]}}},
"a":{"parent":"s","children":["b","x"],"message":{"author":{"role":"user"},"create_time":1700000000.5,"content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer","asset_pointer":"file-service://1"},"When is high tide?"]}}},
"x":{"parent":"a","children":[],"message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["Never."]}}},
"b":{"parent":"a","children":["c"],"message":{"author":{"role":"assistant"},"recipient":"python","create_time":1700000003,"content":{"content_type":"code","text":"print(1)"},"metadata":{"model_slug":"gpt-4o"}}},
"c":{"parent":"b","children":["d"],"message":{"author":{"role":"tool","name":"python"},"create_time":1700000004,"content":{"content_type":"execution_output","text":"12:00"}}},
"d":{"parent":"c","children":["e"],"message":{"author":{"role":"assistant"},"recipient":"all","create_time":1700000005,"content":{"content_type":"text","parts":["At noon."]}}},
"e":{"parent":"d","children":["f"],"message":{"author":{"role":"user"},"create_time":1700000006,"content":{"content_type":"text","parts":["Thanks"]}}},
"f":{"parent":"e","children":[],"message":{"author":{"role":"assistant"},"recipient":"all","content":{"content_type":"new_kind"}}}}},
{"conversation_id":"c2","mapping":{"a":{"parent":"b","children":["b"],"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["round"]}}},"b":{"parent":"a","children":["a"],"message":null}},"current_node":"a"},
{"no":"conversation"}]`

// The way that ChatGPT shows is read, calls are paired with their results, a circle ends,
// and what is not known is named.
func TestChatGPT(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, "conversations-001.json", gpt)
	h := readAll(t, dir, false, dir)
	if len(h.sessions) != 2 {
		t.Fatalf("%d sessions, lost %q, left %q", len(h.sessions), h.lost, h.left)
	}
	s := h.sessions[0]
	want := `user [image_asset_pointer] When is high tide?
assistant call python print(1)
tool result 12:00
assistant At noon.
user Thanks
`
	if got := sketch(s.Messages); got != want {
		t.Errorf("got\n%s", got)
	}
	if s.Key() != "chatgpt:c1" || s.Aside != 1 || s.Model != "gpt-4o" || s.Messages[0].Time.IsZero() {
		t.Errorf("%+v", s)
	}
	if own, _ := transcript.Typed(s.Messages[0]); !strings.Contains(own, "When is high tide?") {
		t.Errorf("a person typed %q", own)
	}
	if len(h.lost) != 2 || !strings.Contains(h.lost[0], `"new_kind" is not known`) || !strings.Contains(h.lost[1], "element 3") {
		t.Errorf("lost %q", h.lost)
	}
}

// Nobody said the messages that ChatGPT hides: profiles, its own requests, messages of weight
// 0. A hidden result still answers its call.
func TestHiddenNodes(t *testing.T) {
	node := func(id, parent, author, content, rest string) string {
		return `"` + id + `":{"parent":"` + parent + `","children":[],"message":{"author":` + author + `,"content":` + content + rest + `}}`
	}
	text := func(words string) string { return `{"content_type":"text","parts":["` + words + `"]}` }
	user, model := `{"role":"user"}`, `{"role":"assistant"}`
	hidden := `,"metadata":{"is_visually_hidden_from_conversation":true}`
	dir := t.TempDir()
	lay(t, dir, "conversations.json", `[{"conversation_id":"c","current_node":"h","mapping":{`+strings.Join([]string{
		node("a", "", user, `{"content_type":"user_editable_context","user_profile":"I am Wren","user_instructions":"Answer in verse"}`, ""),
		node("b", "a", user, text("Continue from the plugin"), `,"weight":0`),
		node("c", "b", `{"role":"system"}`, text("Original custom instructions no longer available"), `,"metadata":{"is_user_system_message":true}`),
		node("d", "c", user, text("Where do puffins nest?"), `,"weight":1.0`),
		node("e", "d", model, `{"content_type":"code","text":"search(puffins)"}`, `,"recipient":"browser"`),
		node("f", "e", `{"role":"tool","name":"browser"}`, text("On cliffs"), hidden),
		node("g", "f", model, text("Scratch note"), hidden),
		node("h", "g", model, text("On cliffs by the sea."), `,"recipient":"all"`),
	}, ",")+`}}]`)
	h := readAll(t, dir, false, dir)
	want := "user Where do puffins nest?\nassistant call browser search(puffins)\ntool result On cliffs\nassistant On cliffs by the sea.\n"
	if len(h.sessions) != 1 || len(h.lost) > 0 || sketch(h.sessions[0].Messages) != want {
		t.Errorf("lost %q, got\n%s", h.lost, sketch(h.sessions[0].Messages))
	}
}

// A parent that is missing, or that leads round in a circle, ends neither the way nor is it
// passed over in silence.
func TestBrokenWays(t *testing.T) {
	dir := t.TempDir()
	said := func(id, parent, who, words string) string {
		return fmt.Sprintf(`{"uuid":%q,"parent_message_uuid":%q,"sender":%q,"content":[{"type":"text","text":%q}]}`, id, parent, who, words)
	}
	for name, chat := range map[string][]string{
		"hole":   {said("1", "root", "human", "one"), said("2", "1", "assistant", "two"), said("4", "3", "human", "four"), said("5", "4", "assistant", "five")},
		"circle": {said("1", "root", "human", "one"), said("2", "1", "assistant", "two"), said("4", "5", "human", "four"), said("5", "4", "assistant", "five")},
		"self":   {said("1", "root", "human", "one"), said("2", "1", "assistant", "two"), said("4", "4", "human", "four"), said("5", "4", "assistant", "fi"), said("5", "4", "assistant", "five")},
	} {
		lay(t, dir, "conversations.json", `[{"uuid":"k","chat_messages":[`+strings.Join(chat, ",")+`]}]`)
		h := readAll(t, dir, false, dir)
		if got := sketch(h.sessions[0].Messages); got != "user one\nassistant two\nuser four\nassistant five\n" {
			t.Errorf("%s: got\n%s", name, got)
		}
		if len(h.lost) != 1 || !strings.Contains(h.lost[0], "message 4: its parent") {
			t.Errorf("%s: lost %q", name, h.lost)
		}
	}
	lay(t, dir, "conversations.json", `[{"conversation_id":"c","current_node":"d","mapping":{`+
		`"a":{"parent":"r","message":{"author":{"role":"user"},"create_time":1,"content":{"parts":["one"]}}},"r":{"message":null},`+
		`"b":{"parent":"a","message":{"author":{"role":"assistant"},"create_time":2,"content":{"parts":["two"]}}},`+
		`"c":{"parent":"gone","message":{"author":{"role":"user"},"create_time":3,"content":{"parts":["three"]}}},`+
		`"d":{"parent":"c","message":{"author":{"role":"assistant"},"create_time":4,"content":{"parts":["four"]}}}}}]`)
	h := readAll(t, dir, false, dir)
	if got := sketch(h.sessions[0].Messages); got != "user one\nassistant two\nuser three\nassistant four\n" || len(h.lost) != 1 {
		t.Errorf("lost %q, got\n%s", h.lost, got)
	}
}

// Files that Windows programs saved in UTF-16, or that a crash padded, are read like others.
func TestUTF16(t *testing.T) {
	wide := func(text string) string {
		out, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	dir := t.TempDir()
	lay(t, dir, "conversations.json", wide(gpt))
	lay(t, dir, "session.jsonl", wide(claudeLine(dir)))
	lay(t, dir, "memory.jsonl", wide(`{"type":"entity","name":"Wren","entityType":"bird","observations":["is small"]}`+"\n"))
	lay(t, dir, "padded.jsonl", "\x00\x00"+`{"type":"entity","name":"Finch","entityType":"bird","observations":["sings"]}{"type":"entity","na`+`{"type":"entity","name":"Owl","entityType":"bird","observations":["hoots"]}`+"\x00\n")
	h := readAll(t, dir, false, dir)
	if len(h.sessions) != 3 || len(h.facts) != 3 || len(h.left) > 0 {
		t.Errorf("%d sessions, %d facts, lost %q, left %q", len(h.sessions), len(h.facts), h.lost, h.left)
	}
	if !slices.ContainsFunc(h.lost, func(s string) bool { return strings.Contains(s, "padded.jsonl:1: bytes 77 to 97: ") }) {
		t.Errorf("lost %q", h.lost)
	}
}

const claude = `[{"uuid":"k1","name":"Boats","chat_messages":[
{"uuid":"m1","parent_message_uuid":"00000000-0000-4000-8000-000000000000","sender":"human","text":"Which boat?","content":[{"type":"text","text":"Which boat?"}],"created_at":"2026-03-01T10:00:00Z","attachments":[{"file_name":"boats.txt","extracted_content":"red, blue"}]},
{"uuid":"m2","parent_message_uuid":"m1","sender":"assistant","text":"","content":[{"type":"text","text":"Blue."}],"created_at":"2026-03-01T10:00:01Z"},
{"uuid":"m3","parent_message_uuid":"m1","sender":"assistant","text":"","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":null,"name":"search","input":{"q":"boat"}},{"type":"tool_result","name":"search","content":[{"type":"text","text":"red"}]},{"type":"text","text":"The red one."},{"type":"odd"}],"created_at":"2026-03-01T10:00:02Z"}]}]`

func TestClaudeAI(t *testing.T) {
	dir := t.TempDir()
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	w, err := z.Create("data/conversations.json")
	if err == nil {
		_, err = w.Write([]byte(claude))
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	path := lay(t, dir, "export.zip", archive.String())
	h := readAll(t, dir, false, path)
	if len(h.sessions) != 1 {
		t.Fatalf("lost %q, left %q", h.lost, h.left)
	}
	want := `user Which boat? [boats.txt]
red, blue
assistant hm call search {"q":"boat"}
tool result red
assistant The red one.
`
	if got := sketch(h.sessions[0].Messages); got != want || h.sessions[0].Aside != 1 {
		t.Errorf("got\n%s%d aside", got, h.sessions[0].Aside)
	}
	if own, _ := transcript.Typed(h.sessions[0].Messages[0]); own != "Which boat?" {
		t.Errorf("a person typed %q", own)
	}
	if len(h.lost) != 1 || !strings.Contains(h.lost[0], `"odd" is not known`) {
		t.Errorf("lost %q", h.lost)
	}
	for cut := 4; cut < archive.Len(); cut += 31 { // a download that broke off
		h := readAll(t, dir, false, lay(t, dir, "cut.zip", archive.String()[:cut]))
		if len(h.left) != 1 || !strings.Contains(h.left[0], "the archive is broken") {
			t.Fatalf("cut at %d: %q", cut, h.left)
		}
	}
	damaged := bytes.Replace(archive.Bytes(), archive.Bytes()[60:90], make([]byte, 30), 1)
	if h := readAll(t, dir, false, lay(t, dir, "damaged.zip", string(damaged))); len(h.left)+len(h.lost) == 0 {
		t.Error("a damaged archive was read in silence")
	}
}

// An export that is cut off anywhere gives what stands before the cut, and says so.
func TestCutExports(t *testing.T) {
	dir := t.TempDir()
	for cut := 1; cut < len(gpt); cut += 37 {
		h := readAll(t, dir, false, lay(t, dir, "conversations.json", gpt[:cut]))
		whole := 0
		if cut > strings.Index(gpt, `{"conversation_id":"c2"`) {
			whole = 1
		}
		if len(h.sessions) < whole || len(h.lost)+len(h.left) == 0 {
			t.Fatalf("cut at %d: %d sessions, lost %q, left %q", cut, len(h.sessions), h.lost, h.left)
		}
	}
	h := readAll(t, dir, false, lay(t, dir, "deep.json", `[{"mapping":`+strings.Repeat(`{"a":`, 20000)))
	if len(h.lost) != 1 {
		t.Errorf("deep nesting: lost %q, left %q", h.lost, h.left)
	}
}

func makeOpenCode(t *testing.T, path, folder string) {
	t.Helper()
	database(t, path,
		`CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text NOT NULL, title text NOT NULL, time_created integer)`,
		`CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer, time_updated integer, data text NOT NULL)`,
		`CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer, data text NOT NULL)`,
		`INSERT INTO session VALUES ('ses_1','p',NULL,'`+folder+`','Nets',1),('ses_2','p','ses_1','`+folder+`','sub',1),('ses_3','p',NULL,'/nowhere','other',1)`,
		`INSERT INTO message VALUES ('msg_1','ses_1',1706459830000,0,'{"role":"user","time":{"created":1706459830000}}'),
		 ('msg_2','ses_1',1706459831000,0,'{"role":"assistant","modelID":"gpt-5","time":{"created":1706459831000},"tokens":{"input":10,"output":20}}'),
		 ('msg_3','ses_1',1706459832000,0,'{"role":'),('msg_4','ses_3',1706459832000,0,'{"role":"user"}')`,
		`INSERT INTO part VALUES ('prt_1','msg_1','ses_1',1,'{"type":"text","text":"Mend the net"}'),('prt_2','msg_1','ses_1',1,'{"type":"text","text":"a file","synthetic":true}'),
		 ('prt_3','msg_2','ses_1',1,'{"type":"text","text":"I look."}'),('prt_4','msg_2','ses_1',1,'{"type":"tool","tool":"read","callID":"call_1","state":{"status":"completed","input":{"path":"net.md"},"output":"torn"}}'),
		 ('prt_5','msg_2','ses_1',1,'{"type":"step-finish"}'),('prt_6','msg_3','ses_1',1,'{"type":"text","text":"gone"}')`)
}

const openCodeSaid = `user Mend the net a file
assistant I look. call read {"path":"net.md"}
tool result torn
`

func TestOpenCode(t *testing.T) {
	dir := t.TempDir()
	makeOpenCode(t, filepath.Join(dir, "opencode.db"), dir)
	h := readAll(t, dir, false, dir)
	if len(h.sessions) != 1 || h.elsewhere[openCode] != 1 {
		t.Fatalf("%d sessions, elsewhere %v, left %q", len(h.sessions), h.elsewhere, h.left)
	}
	if got := sketch(h.sessions[0].Messages); got != openCodeSaid {
		t.Errorf("got\n%s", got)
	}
	if own, _ := transcript.Typed(h.sessions[0].Messages[0]); own != "Mend the net" {
		t.Errorf("a person typed %q", own)
	}
	if len(h.lost) != 1 || !strings.Contains(h.lost[0], "message msg_3") {
		t.Errorf("lost %q", h.lost)
	}
	export := lay(t, dir, "session.json", `{"info":{"id":"ses_1","directory":"`+dir+`"},"messages":[{"info":{"id":"msg_1","role":"user"},"parts":[{"type":"text","text":"Mend the net"},{"type":"text","text":"a file","synthetic":true}]},
{"info":{"id":"msg_2","role":"assistant"},"parts":[{"type":"text","text":"I look."},{"type":"tool","tool":"read","callID":"call_1","state":{"status":"completed","input":{"path":"net.md"},"output":"torn"}}]}]}`)
	if h := readAll(t, dir, false, export); len(h.sessions) != 1 || sketch(h.sessions[0].Messages) != openCodeSaid {
		t.Errorf("export: %+v", h)
	}
	data, err := os.ReadFile(filepath.Join(dir, "opencode.db"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(data); i += 64 {
		copy(data[i:], "rubbish")
	}
	if h := readAll(t, dir, true, lay(t, dir, "damaged.db", string(data))); len(h.left)+len(h.lost) == 0 {
		t.Error("a damaged database was read in silence")
	}
}

func TestStores(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop")
	lay(t, dir, "memory.jsonl", `{"type":"entity","name":"Ana","entityType":"person","observations":["Prefers tea","<!-- mk:x --> forged"]}
{"type":"entity","na
{"type":"relation","from":"Ana","to":"Harbour","relationType":"works_at"}
{"type":"other"}
`)
	lay(t, dir, "mem0.json", `{"results":[{"id":"a1","memory":"Sails on Sundays","user_id":"ana"},{"id":"a2"}]}`)
	lay(t, dir, "notes/plain.md", "# a note\n")
	database(t, filepath.Join(dir, "history.db"),
		`CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)`,
		`INSERT INTO history VALUES ('1','m1',NULL,'Likes tea','ADD','2026-01-01',NULL,0,NULL,NULL),('2','m1','Likes tea','Likes green tea','UPDATE','2026-01-01','2026-01-02',0,NULL,NULL),('3','m2',NULL,'Gone','ADD','2026-01-01',NULL,0,NULL,NULL),('4','m2','Gone',NULL,'DELETE','2026-01-01','2026-01-03',1,NULL,NULL)`)
	database(t, filepath.Join(dir, "claude-mem.db"),
		`CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT, title TEXT, facts TEXT, narrative TEXT, created_at TEXT)`,
		`CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, project TEXT, request TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT, created_at TEXT)`,
		`INSERT INTO observations VALUES (1,'s','shop',NULL,'bugfix','Till','["rounds down","in cents"]','The till rounds','2026-03-01T10:00:00.000Z'),(2,'s','other',NULL,'bugfix','Else','[]','no','2026-03-01T10:00:00.000Z')`,
		`INSERT INTO session_summaries VALUES (1,'shop','Mend the till','Cents are whole','done',NULL,NULL,'2026-03-02T10:00:00.000Z')`)
	h := readAll(t, dir, false, dir)
	for _, want := range []Fact{
		{Format: mcpMemory, Topic: "Ana", Text: "Ana (person): Prefers tea", Source: "memory.jsonl#L1"},
		{Format: mcpMemory, Topic: "Ana", Text: "Ana (person): &lt;!-- mk:x --&gt; forged", Source: "memory.jsonl#L1"},
		{Format: mcpMemory, Topic: "Ana", Text: "Ana works_at Harbour", Source: "memory.jsonl#L3"},
		{Format: mem0, Topic: "ana", Text: "Sails on Sundays", Source: "a1"},
		{Format: mem0, Text: "Likes green tea", Source: "m1"},
		{Format: claudeMem, Text: "**Till** (bugfix): The till rounds rounds down; in cents", Source: "observation/1", Day: "2026-03-01"},
		{Format: claudeMem, Text: "**Request**: Mend the till **Learned**: Cents are whole **Completed**: done", Source: "summary/1", Day: "2026-03-02"},
	} {
		if f := h.fact(want.Text); f == nil || *f != want {
			t.Errorf("want %+v, got %+v", want, f)
		}
	}
	if len(h.facts) != 7 || h.elsewhere[claudeMem] != 1 || len(h.left) > 0 {
		t.Errorf("%d facts, elsewhere %v, left %q", len(h.facts), h.elsewhere, h.left)
	}
	if lost := strings.Join(h.lost, "\n"); len(h.lost) != 3 || !strings.Contains(lost, "memory.jsonl:2:") || !strings.Contains(lost, "memory.jsonl:4:") || !strings.Contains(lost, "element 2") {
		t.Errorf("lost %q", h.lost)
	}
}

func claudeLine(folder string) string {
	line, _ := json.Marshal(map[string]any{"type": "user", "uuid": "u", "sessionId": "s", "cwd": folder, "timestamp": "2026-03-01T10:00:00Z", "message": map[string]any{"role": "user", "content": "hi"}})
	return string(line) + "\n"
}

// Sessions of the workspace and of folders in it count, unless a workspace is nearer; others
// with --all. Links, hidden folders and subagents' parts are passed over.
func TestWhose(t *testing.T) {
	home := t.TempDir()
	ws := filepath.Join(home, "shop")
	for _, dir := range []string{"shop/.memkernel", "shop/sub", "shop/other/.memkernel"} {
		if err := os.MkdirAll(filepath.Join(home, filepath.FromSlash(dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	lay(t, home, "src/own.jsonl", claudeLine(ws))
	lay(t, home, "src/below.jsonl", claudeLine(filepath.Join(ws, "sub")))
	lay(t, home, "src/nearer.jsonl", claudeLine(filepath.Join(ws, "other")))
	lay(t, home, "src/else.jsonl", claudeLine(ws+"-too"))
	lay(t, home, "src/agent-1.jsonl", claudeLine(ws))
	lay(t, home, "src/.hidden/x.jsonl", claudeLine(ws))
	lay(t, home, "src/prose.jsonl", "nothing\n")
	lay(t, home, "src/readme.json", `{"name":"a package"}`)
	lay(t, home, "src/codex/rollout-1.jsonl", `{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"x1","cwd":"`+ws+`"}}`+"\n")
	lay(t, home, "src/agents/main/sessions/o.jsonl", `{"type":"session","id":"o1","version":3,"cwd":"`+ws+`"}`+"\n")
	lay(t, home, "src/pi/p.jsonl", `{"type":"session","id":"p1","version":3,"cwd":"`+ws+`"}`+"\n")
	lay(t, home, "src/tmp/a/chats/session-1.jsonl", `{"sessionId":"g1","projectHash":"`+hash(ws)+`"}`+"\n")
	lay(t, home, "src/tmp/b/chats/session-2.jsonl", `{"sessionId":"g2","projectHash":"`+hash("/else")+`"}`+"\n")
	if err := os.Symlink(filepath.Join(home, "src"), filepath.Join(home, "src", "loop")); err != nil {
		t.Skip("no links here: ", err)
	}
	h := readAll(t, ws, false, filepath.Join(home, "src"))
	got := map[Format]int{}
	for _, s := range h.sessions {
		got[s.Format]++
	}
	if fmt.Sprint(got) != "map[claude-code:2 codex:1 gemini:1 openclaw:1 pi:1]" || fmt.Sprint(h.elsewhere) != "map[claude-code:2 gemini:1]" {
		t.Errorf("%v, elsewhere %v", got, h.elsewhere)
	}
	if len(h.left) != 1 || !strings.Contains(h.left[0], "prose.jsonl: it is of no format") {
		t.Errorf("left %q", h.left)
	}
	if h := readAll(t, ws, true, filepath.Join(home, "src")); len(h.sessions) != 9 || len(h.elsewhere) > 0 {
		t.Errorf("%d of all, elsewhere %v", len(h.sessions), h.elsewhere)
	}
	loop := filepath.Join(home, "circle")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if err := Read(context.Background(), loop, &Options{}, &Found{}); err == nil {
		t.Error("a link to itself was read")
	}
}

// What is too large to be read whole is refused in a sentence, before it is read; a stream
// is read up to a line that is too long, and behind it.
func TestTooLarge(t *testing.T) {
	dir := t.TempDir()
	path := lay(t, dir, "huge.jsonl", claudeLine(dir))
	if err := os.Truncate(path, 10<<30); err != nil {
		t.Skip("no sparse files here: ", err)
	}
	h := readAll(t, dir, false, path)
	if len(h.sessions) > 0 || len(h.left) != 1 || !strings.Contains(h.left[0], "it has 10737418240 bytes; at most 536870912 are read of one session") {
		t.Errorf("left %q", h.left)
	}
	long := lay(t, dir, "memory.jsonl", `{"type":"entity","name":"a","entityType":"b","observations":["first"]}`+"\n")
	f, err := os.OpenFile(long, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(bytes.Repeat([]byte{'x'}, maxValue+10))
	if err == nil {
		_, err = f.WriteString("\n" + `{"type":"entity","name":"a","entityType":"b","observations":["last","` + strings.Repeat("y", maxFact) + `"]}` + "\n")
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	h = readAll(t, dir, false, long)
	if len(h.facts) != 2 || len(h.lost) != 2 || !strings.Contains(h.lost[0], ":2: ") || !strings.Contains(h.lost[1], "at most 262144 are one fact") {
		t.Errorf("%d facts, lost %.200q", len(h.facts), h.lost)
	}
}

// The recorded sessions are all found, whichever their format.
func TestRecorded(t *testing.T) {
	const dir = "../../../shared/data/transcripts"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("../shared/data/transcripts is absent: recorded sessions are not looked at")
	}
	h := readAll(t, t.TempDir(), true, dir)
	got := map[Format]int{}
	for _, s := range h.sessions {
		got[s.Format]++
	}
	if got[claudeCode] < 10 || got[codex] < 3 || got[pi] < 1 || len(h.left)+len(h.lost) > 0 {
		t.Errorf("%v, left %q, lost %q", got, h.left, h.lost)
	}
}

// A batch that was promised and not written is there after a kill, and is written once.
func TestLedger(t *testing.T) {
	dir := t.TempDir()
	open := func() *Ledger {
		t.Helper()
		l, err := OpenLedger(dir)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	facts := []*Fact{{Format: mem0, Text: "one", Source: "a"}, {Format: mem0, Text: "two", Source: "b"}}
	mask := func(s string) string { return strings.ReplaceAll(s, "two", "***") }
	first, killed := "", errors.New("killed")
	err := open().Write(mem0, facts, mask, func(path, id, text string) error {
		if first = id; path != "memory/imported/mem0.md" || text != "- one <!-- from mem0:a -->\n- *** <!-- from mem0:b -->" {
			t.Errorf("%s: %q", path, text)
		}
		return killed
	})
	if !errors.Is(err, killed) {
		t.Fatal(err)
	}
	l, again := open(), 0
	if err := l.Write(mem0, nil, nil, func(_, id, text string) error {
		if again++; id != first || !strings.Contains(text, "***") {
			t.Errorf("pending %s: %q", id, text)
		}
		return nil
	}); err != nil || again != 1 {
		t.Fatal(again, err)
	}
	l = open()
	for _, f := range facts {
		if has, err := l.HasFact(f); err != nil || !has {
			t.Errorf("%s: %v, %v", f.Text, has, err)
		}
	}
	if has, err := l.HasFact(&Fact{Format: mem0, Text: "three"}); err != nil || has {
		t.Errorf("a new fact: %v, %v", has, err)
	}
	if err := l.Write(mem0, nil, nil, func(_, id, _ string) error { return errors.New(id) }); err != nil {
		t.Errorf("still pending: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "import", "sessions.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLedger(dir); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("a damaged ledger: %v", err)
	}
}
