package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel"
)

// agent is a scripted host: what it sends in front of every conversation, and how its
// sessions go. Sizes are those of the harness that it is named after, in the fake
// server's tokens of four bytes.
type agent struct {
	name, model string
	tools       []toolDef
	system      int // tokens
	opening     int // of what stands before the user's first words
	// markTools: it marks its last tool for the cache, beside system and end.
	markTools bool
	responses bool
	// core are the tools of daily work; errands the others that a session may call, a
	// server's each.
	core    []string
	errands [][]string
	// every is how many sessions there are for one with an errand.
	every int
}

// toolDef is a tool and the size of its definition.
type toolDef struct {
	name   string
	tokens int
}

func (d toolDef) json(marked, flat bool) string {
	head := fmt.Sprintf(`{"name":%q,"description":%q`, d.name, describe(d.name, d.tokens*4*6/10))
	schema, tail := "input_schema", ""
	if flat {
		head, schema, tail = strings.Replace(head, "{", `{"type":"function",`, 1), "parameters", `,"strict":false`
	}
	if marked {
		tail += `,"cache_control":{"type":"ephemeral"}`
	}
	var props []string
	for i := 0; len(head)+len(strings.Join(props, ",")) < d.tokens*4-120; i++ {
		props = append(props, fmt.Sprintf(`"arg%d":{"type":"string","description":%q}`, i, describe(d.name, 110)))
	}
	return head + fmt.Sprintf(`,%q:{"type":"object","properties":{%s}}%s}`, schema, strings.Join(props, ","), tail)
}

// describe is prose about a tool, of so many bytes.
func describe(name string, size int) string {
	s := strings.ReplaceAll(name, "_", " ") + ": "
	for i := 0; len(s) < size; i++ {
		s += []string{"takes the arguments below and answers with text. ", "Use it where nothing simpler does. ", "Never call it twice for the same thing. ",
			"What is large comes in parts; ask for the next one. "}[i%4]
	}
	return s[:max(size, len(name)+2)]
}

// server are the tools of an MCP server.
func server(prefix string, tokens int, names ...string) (out []toolDef) {
	for i, n := range names {
		out = append(out, toolDef{prefix + n, tokens + 40*(i%5) - 80})
	}
	return out
}

func namesOf(tools []toolDef) (out []string) {
	for _, t := range tools {
		out = append(out, t.name)
	}
	return out
}

// agents are the three hosts. The definitions' sizes are near those that the harnesses send:
// long ones for the tools of daily work, and those of MCP servers behind them.
func agents() []agent {
	github := server("mcp__github__", 360, "create_issue", "get_issue", "list_issues", "create_pull_request", "get_pull_request_diff", "list_commits", "search_code", "merge_pull_request", "add_comment", "list_branches")
	jira := server("mcp__jira__", 450, "search", "get_ticket", "create_ticket", "transition_ticket", "add_worklog", "list_sprints", "link_tickets", "list_boards")
	browser := server("mcp__playwright__", 260, "navigate", "click", "type", "snapshot", "screenshot", "evaluate", "wait_for", "close")
	sentry := server("mcp__sentry__", 400, "find_issues", "get_event", "list_projects", "resolve_issue")
	mcp := append(append(append(append([]toolDef(nil), github...), jira...), browser...), sentry...)
	claude := []toolDef{{"Task", 2200}, {"Bash", 2900}, {"Glob", 160}, {"Grep", 680}, {"ExitPlanMode", 550}, {"Read", 520}, {"Edit", 430}, {"Write", 300},
		{"NotebookEdit", 280}, {"WebFetch", 400}, {"TodoWrite", 2100}, {"WebSearch", 300}, {"BashOutput", 190}, {"KillShell", 120}, {"AskUserQuestion", 700}}
	claw := []toolDef{{"read", 260}, {"edit", 240}, {"write", 180}, {"exec", 620}, {"process", 430}, {"browser", 950}, {"canvas", 330}, {"nodes", 520}, {"cron", 1150},
		{"message", 1250}, {"tts", 140}, {"gateway", 480}, {"agents_list", 90}, {"sessions_list", 170}, {"sessions_history", 160}, {"sessions_send", 220},
		{"sessions_spawn", 380}, {"session_status", 190}, {"web_search", 330}, {"web_fetch", 240}, {"image", 210}, {"memory_get", 160}, {"memory_search", 260}}
	codex := []toolDef{{"shell", 420}, {"apply_patch", 980}, {"update_plan", 310}, {"view_image", 120}, {"write_stdin", 200}}
	return []agent{
		{name: "Claude Code-like", model: "claude-opus-5", tools: append(claude, mcp...), system: 3600, opening: 2200, every: 4,
			core: []string{"Bash", "Read", "Edit", "Grep", "Glob", "Write", "TodoWrite"}, errands: [][]string{namesOf(github), {"Task"}, namesOf(browser), {"WebFetch", "WebSearch"}, namesOf(jira)}},
		{name: "OpenClaw-like", model: "claude-sonnet-4-6", tools: claw, system: 8500, opening: 300, markTools: true, every: 4,
			core: []string{"read", "exec", "write", "edit", "memory_search", "message"}, errands: [][]string{{"browser", "web_fetch"}, {"cron"}, {"process"}, {"sessions_spawn", "sessions_list"}, {"image"}}},
		{name: "Codex-like", model: "gpt-5.4", tools: append(codex, mcp...), system: 4200, opening: 1500, responses: true, every: 4,
			core: []string{"shell", "apply_patch", "update_plan"}, errands: [][]string{namesOf(github), namesOf(jira)}},
	}
}

// act is a call of a script: the tool, and how much it answers with.
type act struct {
	tool string
	size int // tokens
	end  bool
}

// script is what happens in session n: turns of calls, and in some sessions errands for a
// server's tools.
func (a *agent) script(n int) (out []act) {
	rng := rand.New(rand.NewSource(int64(n) + 7))
	calls := 16 + rng.Intn(60)
	errand := n%a.every == a.every-1
	for i := range calls {
		switch {
		case errand && i > 4 && i%9 == 0:
			list := a.errands[(n/a.every)%len(a.errands)]
			out = append(out, act{tool: list[rng.Intn(min(3, len(list)))], size: 200 + rng.Intn(900)})
		case rng.Intn(6) == 0:
			out = append(out, act{end: true})
		default:
			out = append(out, act{tool: a.core[rng.Intn(len(a.core))], size: 60 + rng.Intn(1600)})
		}
	}
	return append(out, act{end: true})
}

// run plays one session against a URL and returns what it sent and got. Nothing it does
// depends on the proxy: it sends back what it was answered, as it came.
func (a *agent) run(url string, n int, at *clock) error {
	conv := []string{a.user(fmt.Sprintf("%s Session %d: please begin with the work.", describe("notes of the project", a.opening*4), n))}
	for range a.script(n) {
		at.pass(12 * time.Second)
		answer, err := a.post(url, n, conv)
		if err != nil {
			return err
		}
		conv = append(conv, answer.said...)
		for _, c := range answer.calls {
			conv = append(conv, a.result(c, n, len(conv)))
		}
		if len(answer.calls) == 0 {
			conv = append(conv, a.user(fmt.Sprintf("Good. Now the next step, number %d.", len(conv))))
		}
	}
	return nil
}

func (a *agent) user(text string) string {
	if a.responses {
		return fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text)
	}
	return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q}]}`, text)
}

// result answers a call; how much is the script's, which the call's input carries.
func (a *agent) result(c called, n, at int) string {
	text := big(fmt.Sprintf("s%dm%d", n, at), c.size)
	if a.responses {
		return fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, c.id, text)
	}
	return fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":[{"type":"text","text":%q}]}]}`, c.id, text)
}

type called struct {
	id   string
	size int
}

type answered struct {
	said  []string
	calls []called
}

// body is a request: system and end are marked as harnesses do.
func (a *agent) body(n int, conv []string) string {
	var defs []string
	for i, t := range a.tools {
		defs = append(defs, t.json(a.markTools && i == len(a.tools)-1, a.responses))
	}
	if a.responses {
		return fmt.Sprintf(`{"model":%q,"store":false,"prompt_cache_key":"00000000-0000-4000-8000-%012d","instructions":%q,"tools":[%s],"input":[%s]}`,
			a.model, n, describe("rules", a.system*4), strings.Join(defs, ","), strings.Join(conv, ","))
	}
	sent := append([]string(nil), conv...)
	sent[len(sent)-1] = marked(sent[len(sent)-1])
	return fmt.Sprintf(`{"model":%q,"max_tokens":8192,"metadata":{"user_id":"{\"session_id\":\"session-%d\"}"},"system":[{"type":"text","text":%q,"cache_control":{"type":"ephemeral"}}],"tools":[%s],"messages":[%s]}`,
		a.model, n, describe("rules", a.system*4), strings.Join(defs, ","), strings.Join(sent, ","))
}

func (a *agent) post(url string, n int, conv []string) (out answered, err error) {
	path := "/v1/messages"
	if a.responses {
		path = "/v1/responses"
	}
	res, err := http.Post(url+path, "application/json", strings.NewReader(a.body(n, conv)))
	if err != nil {
		return out, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return out, fmt.Errorf("session %d, message %d: status %d: %.300s, %v", n, len(conv), res.StatusCode, data, err)
	}
	var m struct {
		Content, Output []json.RawMessage
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return out, err
	}
	for _, raw := range append(m.Content, m.Output...) {
		var b struct {
			Type      string
			ID        string
			CallID    string `json:"call_id"`
			Input     struct{ Size int }
			Arguments string
		}
		if err := json.Unmarshal(raw, &b); err != nil {
			return out, err
		}
		switch b.Type {
		case "tool_use":
			out.calls = append(out.calls, called{b.ID, b.Input.Size})
		case "function_call":
			if err := json.Unmarshal([]byte(b.Arguments), &b.Input); err != nil {
				return out, err
			}
			out.calls = append(out.calls, called{b.CallID, b.Input.Size})
		}
		if a.responses {
			out.said = append(out.said, string(raw))
		}
	}
	if !a.responses {
		var list bytes.Buffer
		for i, raw := range m.Content {
			if i > 0 {
				list.WriteByte(',')
			}
			list.Write(raw)
		}
		out.said = []string{`{"role":"assistant","content":[` + list.String() + `]}`}
	}
	return out, nil
}

// answers are as the scripts say: the same calls whatever is in front of them.
func (a *agent) answers(now func() time.Time) fakemodel.Options {
	at := map[string]int{}
	return fakemodel.Options{Now: now, Script: func(t fakemodel.Turn) fakemodel.Reply {
		key := sessionOf(t.Request.Body)
		steps := a.script(numberOf(key))
		step := steps[min(at[key], len(steps)-1)]
		at[key]++
		if step.end {
			return fakemodel.Reply{Text: fmt.Sprintf("That is done; %s is next.", describe("the rest", 300))}
		}
		return fakemodel.Reply{Text: describe("I look at it", 160), Calls: []fakemodel.Call{{Name: step.tool, Input: json.RawMessage(fmt.Sprintf(`{"size":%d,"what":%q}`, step.size, describe("what", 120)))}}}
	}}
}

// sessionOf is the session that a body names.
func sessionOf(body []byte) string {
	var b struct {
		Metadata struct {
			UserID string `json:"user_id"`
		}
		Key string `json:"prompt_cache_key"`
	}
	_ = json.Unmarshal(body, &b) // the server read it before
	return b.Metadata.UserID + b.Key
}

func numberOf(key string) (n int) {
	if i := strings.Index(key, "session-"); i >= 0 {
		fmt.Sscanf(key[i+len("session-"):], "%d", &n)
	} else {
		fmt.Sscanf(key[strings.LastIndexByte(key, '-')+1:], "%012d", &n)
	}
	return n
}

// reopen puts another kernel and proxy in place, as after a restart.
func (s *stage) reopen() {
	s.t.Helper()
	s.settle()
	s.k.Close()
	var err error
	if s.k, err = kernel.Open(context.Background(), s.dir, nil); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { s.k.Close() })
}
