package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel/api"
)

// crates is what a program prints of n crates, of about 60 bytes each, as JSON.
func crates(n int) string {
	var b strings.Builder
	b.WriteString("{\"error\": \"crate 77 has no lid\", \"crates\": [\n")
	for i := range n {
		fmt.Fprintf(&b, "  {\"crate\": %d, \"worker\": %d, \"state\": \"packed\", \"lid\": true},\n", i, i%7)
	}
	return b.String() + "  {\"crate\": 977, \"worker\": 3, \"state\": \"open\", \"lid\": false}\n]}"
}

// allowed lets a session of the project run commands unasked.
func allowed(p *project) {
	p.put(".claude/settings.json", `{"permissions": {"allow": ["Bash(memkernel get:*)", "Bash(`+os.Args[0]+` get:*)"]}}`)
}

// called is the event of a tool's call as Claude Code 2.1.332 wrote it, with a text as its
// result.
func called(p *project, name, text string) string {
	p.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "claude", "results", name+".json"))
	if err != nil {
		p.Fatal(err)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		p.Fatal(err)
	}
	return strings.NewReplacer(`"{text}"`, string(quoted), "{dir}", p.dir).Replace(string(data))
}

// said writes the host's transcript of a turn with one call, and its result as the host has it
// after the hook.
func said(p *project, event, shown string) string {
	p.Helper()
	var e struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"tool_input"`
		Call  string          `json:"tool_use_id"`
	}
	if err := json.Unmarshal([]byte(event), &e); err != nil {
		p.Fatal(err)
	}
	quoted, err := json.Marshal(shown)
	if err != nil {
		p.Fatal(err)
	}
	var b strings.Builder
	for i, m := range []string{`"user","content":"pack the crates"`,
		`"assistant","id":"m1","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"` + e.Call + `","name":"` + e.Tool + `","input":` + string(e.Input) + `}]`,
		`"user","content":[{"type":"tool_result","tool_use_id":"` + e.Call + `","content":` + string(quoted) + `}]`,
		`"assistant","id":"m2","model":"claude-opus-5-5","content":[{"type":"text","text":"It stopped."}]`} {
		kind, _, _ := strings.Cut(m[1:], `"`)
		fmt.Fprintf(&b, `{"type":%q,"uuid":"u%d","isSidechain":false,"timestamp":"2026-11-20T08:0%d:00Z","sessionId":"s1","message":{"role":%s}}`+"\n", kind, i, i, m)
	}
	p.put("t/s1.jsonl", b.String())
	return filepath.Join(p.dir, "t", "s1.jsonl")
}

// replaced is the result that an answer puts in the place of the tool's, and its text.
func replaced(t *testing.T, answer string) (raw json.RawMessage, text string) {
	t.Helper()
	var a struct {
		Specific struct {
			Event  string          `json:"hookEventName"`
			Output json.RawMessage `json:"updatedToolOutput"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil || a.Specific.Event != "PostToolUse" {
		t.Fatalf("%v in %q", err, answer)
	}
	var members struct{ Stdout, Content string }
	var blocks []struct{ Text string }
	if raw = a.Specific.Output; json.Unmarshal(raw, &text) == nil {
		return raw, text
	}
	if json.Unmarshal(raw, &blocks) == nil && len(blocks) == 1 {
		return raw, blocks[0].Text
	}
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatal(err)
	}
	return raw, members.Stdout + members.Content
}

// TestShapedResults: a large result is shaped in its tool's own structure, its page holds the
// original, and the turn's end makes neither a second page nor a conflict of the text that
// the host's transcript holds then.
func TestShapedResults(t *testing.T) {
	for name, c := range map[string]struct{ text, want, host string }{
		"bash":       {crates(300), `{"interrupted":false,"isImage":false,"noOutputExpected":false,"stderr":"","stdout":`, ""},
		"bash-agent": {crates(300), `{"interrupted":false,`, ""},
		"bash-saved": {crates(1100), `{"interrupted":false,"isImage":false,"noOutputExpected":false,"stderr":"","stdout":`, ""},
		"grep":       {crates(300), `{"appliedLimit":250,"content":`, "\n\n[Showing results with pagination = limit: 250]"},
		"mcp-list":   {crates(300), `[{"text":`, ""},
		"mcp-text":   {crates(300), `"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, nil)
			allowed(p)
			said(p, called(p, "bash", ""), "") // which shows that the session runs commands
			event := called(p, name, c.text)
			if name == "bash-saved" {
				event = called(p, name, c.text[:29_999])
				p.put("t/s1/tool-results/b2m4kxd2i.txt", c.text)
			}
			raw, text := replaced(t, p.raw(claude, event))
			if !strings.HasPrefix(string(raw), c.want) || strings.Contains(string(raw), "persisted") || 4*len(text) > 3*len(c.text) || name == "bash-saved" && len(text) > 2000 {
				t.Fatalf("%d bytes for %d: %.200s", len(text), len(c.text), raw)
			}
			page := text[strings.LastIndex(text, "ev-"):][:19]
			whole := func(when string) {
				t.Helper()
				got, err := p.kernel().Get(context.Background(), "claude:s1", page)
				if err != nil || got.Reason != api.GetOK || got.Text != c.text {
					t.Fatalf("%s %s holds %d bytes, want %d: %v", when, page, len(got.Text), len(c.text), err)
				}
			}
			whole("before the turn ended")
			if again := p.raw(claude, event); again != "" {
				t.Errorf("the same call is shaped twice: %q", again)
			}
			for range 2 {
				p.hook(claude, map[string]any{"hook_event_name": "Stop", "transcript_path": said(p, event, text+c.host)})
			}
			whole("after the turn")
			k := p.kernel()
			st, _, err := k.SessionStatus(context.Background(), "claude:s1")
			if err != nil || st.Turns != 1 || st.Pages != 4 {
				t.Errorf("%d turns and %d pages, %v", st.Turns, st.Pages, err)
			}
			if log := p.log(); log != "" {
				t.Errorf("log: %s", log)
			}
		})
	}
}

// TestShapedNothing: nothing is answered where the model is to see the result as it is, or could
// not read the whole.
func TestShapedNothing(t *testing.T) {
	for name, c := range map[string]struct {
		event, text string
		change      func(p *project, event string) string
	}{
		"a small result":            {event: "bash", text: crates(60)},
		"prose":                     {event: "bash", text: strings.Repeat("The keeper of the harbour wrote that the lamp had burned all night, and that nobody came. ", 200)},
		"a file":                    {event: "read", text: crates(300)},
		"two blocks":                {event: "mcp-two", text: crates(300)},
		"an error's output":         {event: "bash", text: crates(300), change: with(`"stderr": ""`, `"stderr": "no lid"`)},
		"an image":                  {event: "bash", text: crates(300), change: with(`"isImage": false`, `"isImage": true`)},
		"a tool of ours":            {event: "mcp-list", text: crates(300), change: with("mcp__probe__rows", "mcp__memkernel__memory_get")},
		"a page that was asked for": {event: "bash", text: crates(300), change: with("make pack", os.Args[0]+" get ev-0011223344556677")},
		"a saved file elsewhere":    {event: "bash-saved", text: crates(300)},
		"planning alone":            {event: "bash", text: crates(300), change: with(`"acceptEdits"`, `"plan"`)},
		"no command was run":        {event: "mcp-list", text: crates(300)},
		"a subagent without it":     {event: "bash-agent", text: crates(300), change: with(`"tool_name": "Bash"`, `"tool_name": "mcp__probe__rows"`)},
		"a command that is refused": {event: "bash", text: crates(300), change: func(p *project, event string) string {
			p.put(".claude/settings.json", `{"permissions": {"allow": ["Bash(head:*)"]}}`)
			return event
		}},
		"the proxy plans the calls": {event: "bash", text: crates(300), change: func(p *project, event string) string {
			k := p.kernel()
			if _, err := k.PlanContext(context.Background(), api.PlanRequest{SessionKey: "claude:s1", Prompt: "pack the crates"}); err != nil {
				p.Fatal(err)
			}
			return event
		}},
		"a command that is denied": {event: "bash", text: crates(300), change: func(p *project, event string) string {
			p.put(".claude/settings.local.json", `{"permissions": {"deny": ["Bash(*)"]}}`)
			return event
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, nil)
			allowed(p)
			event := called(p, c.event, c.text)
			if c.change != nil {
				event = c.change(p, event)
			}
			if got := p.raw(claude, event); got != "" {
				t.Errorf("answered %.300q", got)
			}
			if st, err := filepath.Glob(filepath.Join(p.state, "blobs", "*", "*")); err != nil || len(st) > 0 {
				t.Errorf("kept something: %v", st)
			}
		})
	}
}

func with(old, text string) func(*project, string) string {
	return func(p *project, event string) string {
		if !strings.Contains(event, old) {
			p.Fatalf("no %s in the event", old)
		}
		return strings.Replace(event, old, text, 1)
	}
}

// TestSmallEventsStartNoProgram: the shell that runs the hook of a tool's call starts the
// program for a large event alone, and hands it over whole.
func TestSmallEventsStartNoProgram(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	for _, n := range []int{100, smallEvent - 1, smallEvent, 3 * smallEvent} {
		event := strings.Repeat(`x\n"'$é`, n)[:n-1] + "}"
		cmd := exec.Command(sh, "-c", onlyLarge+"cat")
		cmd.Stdin = strings.NewReader(event)
		out, err := cmd.Output()
		if want := map[bool]string{true: event}[n >= smallEvent]; err != nil || string(out) != want {
			t.Errorf("of %d bytes %d came: %v", n, len(out), err)
		}
	}
}
