package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/hostile"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/serve/tools"
)

// answer is what a tool may answer.
type answer struct {
	Results []struct {
		Path, Snippet, Source, Citation, ID string
		Trail                               []string
		StartLine, EndLine                  int
		Score                               float64
		More                                []struct {
			Snippet, Citation  string
			StartLine, EndLine int
		}
	}
	Text, Path, Reason, Detail string
	From, Lines, NextFrom      int
	StartLine, EndLine         int
	Truncated, Disabled        bool
	Unavailable, TimedOut      bool
	Duplicate                  bool
	Masked                     int
	Version, Edit              string
	Current                    *struct {
		Version, Text string
		From          int
	}
	Withheld []retrieval.Withheld
}

type bench struct {
	*testing.T
	k   *kernel.Kernel
	dir string
}

func open(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := &bench{T: t, dir: filepath.Join(t.TempDir(), "workspace")}
	for p, text := range files {
		b.put(p, text)
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(context.Background(), b.dir, &kernel.Options{Memory: kernel.MemoryOptions{Store: markdownstore.Options{Include: []string{}}, Sessions: kernel.PastOptions{Enabled: true}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	b.k = k
	return b
}

func (b *bench) put(path, text string) {
	b.Helper()
	path = filepath.Join(b.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) reindex() {
	b.Helper()
	if _, err := b.k.Reindex(context.Background(), nil); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) call(o tools.Options, name string, args any) answer {
	b.Helper()
	s, err := tools.New(b.k, o)
	if err != nil {
		b.Fatal(err)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		b.Fatal(err)
	}
	out, err := s.Call(context.Background(), name, raw)
	if err != nil {
		b.Fatalf("%s %.200s: %v", name, raw, err)
	}
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		b.Fatalf("%s: %v", out, err)
	}
	if a.Reason == "" {
		b.Errorf("%s %.200s: no reason in %s", name, raw, out)
	}
	return a
}

type object = map[string]any

var private = tools.Options{Private: true}

var notes = map[string]string{
	"MEMORY.md":         "# Memory\n\nThe staging port is 8443.\n",
	"memory/deploys.md": "# Deploys\n\n" + strings.Repeat("We talk about trains.\n\n", 30) + "Deploys of the heron service happen on Tuesdays.\n",
}

func TestSearchAndGet(t *testing.T) {
	b := open(t, notes)
	a := b.call(private, "memory_search", object{"query": "when are deploys of heron?", "maxResults": 1})
	if a.Reason != "OK" || len(a.Results) != 1 {
		t.Fatalf("%+v", a)
	}
	r := a.Results[0]
	if r.Path != "memory/deploys.md" || r.Citation == "" || r.Source != "memory" || r.Score <= 0 || len([]rune(r.Snippet)) > 700 {
		t.Errorf("%+v", r)
	}
	got := b.call(private, "memory_get", object{"path": r.Path, "from": r.StartLine, "lines": r.EndLine - r.StartLine + 1})
	if got.Reason != "OK" || !strings.Contains(got.Text, "Tuesdays") || got.From != r.StartLine {
		t.Errorf("%+v", got)
	}
	if a := b.call(private, "memory_search", object{"query": "heron", "minScore": 1}); a.Reason != "NO_MATCH" || a.Results == nil || a.Detail == "" {
		t.Errorf("%+v", a)
	}
	b.put("memory/new.md", "Something new.\n")
	k, err := kernel.Open(context.Background(), b.dir, &kernel.Options{Memory: kernel.MemoryOptions{Store: markdownstore.Options{Include: []string{}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	b.k = k
	if a := b.call(private, "memory_search", object{"query": "heron"}); a.Reason != "OK" {
		t.Errorf("%+v", a)
	}
	if a := b.call(private, "memory_search", object{"query": "something new"}); a.Reason != "OK" || len(a.Results) == 0 || a.Results[0].Path != "memory/new.md" {
		t.Errorf("%+v", a)
	}
}

// A query that names a file, lines of it or a page is answered with their text, within the
// same bounds as memory_get; a name of nothing that may be read is searched for.
func TestSearchReadsNames(t *testing.T) {
	b := open(t, notes)
	b.put("AGENTS.md", "No memory.\n")
	b.put("memory/long.md", strings.Repeat("The bittern booms at dawn.\n", 2000))
	b.reindex()
	for query, want := range map[string]struct {
		text     string
		from, to int
	}{
		"MEMORY.md": {"# Memory\n\nThe staging port is 8443.\n", 1, 3}, "MEMORY.md#L3": {"The staging port is 8443.\n", 3, 3},
		" memory/deploys.md#L1-L2 ": {"# Deploys\n\n", 1, 2}, "MEMORY.md#L3-L900": {"The staging port is 8443.\n", 3, 3},
	} {
		a := b.call(private, "memory_search", object{"query": query})
		if a.Reason != "OK" || len(a.Results) != 1 || a.Results[0].Snippet != want.text || a.Results[0].StartLine != want.from || a.Results[0].EndLine != want.to || a.Results[0].Source != "memory" {
			t.Errorf("%s: %+v", query, a)
		}
	}
	a := b.call(private, "memory_search", object{"query": "memory/long.md#L1-L1999"})
	if len(a.Results) != 1 || len(a.Results[0].Snippet) > tools.MaxText || !strings.Contains(a.Detail, fmt.Sprintf("memory/long.md#L%d-L", a.Results[0].EndLine+1)) {
		t.Errorf("%d results, %s", len(a.Results), a.Detail)
	}
	for _, query := range []string{"AGENTS.md", "../../etc/passwd", "ev-0123456789abcdef", "cp_001", "memory/gone.md", "MEMORY.md"} {
		for _, r := range b.call(tools.Options{}, "memory_search", object{"query": query}).Results {
			if r.Path != "memory/long.md" && r.Path != "memory/deploys.md" || r.Score == 1 {
				t.Errorf("a shared session asks for %s: %+v", query, r)
			}
		}
	}
}

func TestCitations(t *testing.T) {
	b := open(t, notes)
	b.reindex()
	for _, tc := range []struct {
		o    tools.Options
		want bool
	}{
		{tools.Options{Private: true}, true}, {tools.Options{}, false},
		{tools.Options{Citations: "on"}, true}, {tools.Options{Private: true, Citations: "off"}, false},
	} {
		a := b.call(tc.o, "memory_search", object{"query": "heron deploys"})
		if len(a.Results) == 0 || (a.Results[0].Citation != "") != tc.want {
			t.Errorf("%+v: %+v", tc.o, a)
		}
	}
	if _, err := tools.New(b.k, tools.Options{Citations: "sometimes"}); err == nil {
		t.Error("an unknown setting is taken")
	}
}

// What isn't there, isn't to be seen, or is switched off is reported, and no failure.
func TestAbsence(t *testing.T) {
	b := open(t, notes)
	b.reindex()
	off := tools.Options{Private: true, Disabled: "the owner switched it off"}
	for _, tc := range []struct {
		o      tools.Options
		name   string
		args   object
		reason string
	}{
		{private, "memory_get", object{"path": "memory/gone.md"}, "NO_MATCH"},
		{private, "memory_get", object{"path": "memory/deploys.md", "from": 9999}, "NO_MATCH"},
		{tools.Options{}, "memory_get", object{"path": "MEMORY.md"}, "DENIED"},
		{private, "memory_get", object{"path": "AGENTS.md"}, "DENIED"},
		{private, "memory_get", object{"path": "ev-0123456789abcdef"}, "NO_MATCH"},
		{private, "memory_get", object{"path": "../../etc/passwd"}, "DENIED"},
		{private, "memory_get", object{"path": ""}, "NO_MATCH"},
		{private, "memory_append", object{"text": "x", "path": "AGENTS.md"}, "DENIED"},
		{tools.Options{}, "memory_append", object{"text": "x", "path": "MEMORY.md"}, "DENIED"},
		{tools.Options{}, "memory_search", object{"query": "x", "source": "sessions"}, "DENIED"},
		{off, "memory_search", object{"query": "x"}, "DISABLED"},
		{off, "memory_get", object{"path": "MEMORY.md"}, "DISABLED"},
		{off, "memory_append", object{"text": "x"}, "DISABLED"},
	} {
		a := b.call(tc.o, tc.name, tc.args)
		if a.Reason != tc.reason || a.Text != "" || len(a.Results) != 0 || tc.reason != "NO_MATCH" && a.Detail == "" {
			t.Errorf("%s %v: %+v, want %s", tc.name, tc.args, a, tc.reason)
		}
	}
	if a := b.call(tools.Options{}, "memory_search", object{"query": "staging port 8443"}); len(a.Results) != 0 {
		t.Errorf("a shared session finds MEMORY.md: %+v", a)
	}
}

func TestEscapes(t *testing.T) {
	b := open(t, map[string]string{"memory/fine.md": "fine\n"})
	links := hostile.Plant(t, b.dir)
	b.reindex()
	for _, p := range append(links, hostile.Paths()...) {
		for _, from := range []int{1, 2} {
			if a := b.call(private, "memory_get", object{"path": p, "from": from}); a.Text != "" || a.Reason == "OK" || strings.Contains(a.Detail, hostile.Outside) {
				t.Errorf("memory_get %q: %+v", p, a)
			}
		}
		if p == "" {
			continue // today's log
		}
		a := b.call(private, "memory_append", object{"text": "planted by " + p, "path": p})
		if a.Reason == "OK" && !strings.HasPrefix(a.Path, "memory/") {
			t.Errorf("memory_append %q: %+v", p, a)
		}
	}
	if a := b.call(private, "memory_search", object{"query": hostile.Outside}); len(a.Results) != 0 {
		t.Errorf("what lies outside is found: %+v", a)
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(b.dir), "outside.md"))
	if err != nil || string(data) != hostile.Outside+"\n" {
		t.Errorf("outside.md was written: %q %v", data, err)
	}
}

func TestAppend(t *testing.T) {
	b := open(t, notes)
	args := object{"text": "The owl is nocturnal; token ghp_0123456789abcdefghijABCDEFGHIJ012345."}
	a := b.call(private, "memory_append", args)
	if a.Reason != "OK" || a.Masked != 1 || !strings.HasPrefix(a.Path, "memory/") || a.StartLine == 0 {
		t.Fatalf("%+v", a)
	}
	if again := b.call(private, "memory_append", args); !again.Duplicate || again.StartLine != a.StartLine {
		t.Errorf("%+v", again)
	}
	got := b.call(private, "memory_get", object{"path": a.Path, "from": a.StartLine, "lines": 1})
	if !strings.Contains(got.Text, "owl is nocturnal") || strings.Contains(got.Text, "ghp_0") {
		t.Errorf("%+v", got)
	}
}

// memory_undo takes back what the session appended, and nobody else's.
func TestAppendUndone(t *testing.T) {
	b := open(t, notes)
	first := b.call(private, "memory_append", object{"text": "The owl is nocturnal.", "path": "memory/owls.md"})
	second := b.call(private, "memory_append", object{"text": "The lark is not.", "path": "memory/owls.md"})
	if first.Reason != "OK" || second.Reason != "OK" {
		t.Fatalf("%+v, %+v", first, second)
	}
	has := func(want ...string) {
		t.Helper()
		got := b.call(private, "memory_get", object{"path": "memory/owls.md"})
		for _, bird := range []string{"owl is", "lark is"} {
			if strings.Contains(got.Text, bird) != slices.Contains(want, bird) {
				t.Errorf("%q, want %q", got.Text, want)
			}
		}
	}
	has("owl is", "lark is")
	other := private
	other.SessionKey = "another"
	if u := b.call(other, "memory_undo", object{}); u.Reason == "OK" {
		t.Errorf("another session took it back: %+v", u)
	}
	if u := b.call(private, "memory_undo", object{}); u.Reason != "OK" {
		t.Errorf("%+v", u)
	}
	has("owl is")
	if again := b.call(private, "memory_append", object{"text": "The lark is not.", "path": "memory/owls.md"}); again.Reason != "OK" || again.Duplicate {
		t.Errorf("%+v", again)
	}
	has("owl is", "lark is")
	for range 2 {
		if u := b.call(private, "memory_undo", object{}); u.Reason != "OK" {
			t.Errorf("%+v", u)
		}
	}
	has()
	log := b.call(private, "memory_append", object{"text": "The wren sings."}) // today's log
	if u := b.call(private, "memory_undo", object{}); u.Reason != "OK" || log.Reason != "OK" {
		t.Errorf("%+v, %+v", log, u)
	}
}

// A page comes back whole, by lines, and in answers that are not too large.
func TestExpand(t *testing.T) {
	b := open(t, nil)
	var big strings.Builder
	for i := range 4000 {
		big.WriteString(strings.Repeat("x", i%40) + " line\n")
	}
	now := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	text := func(s string) []memkernel.Part { return []memkernel.Part{{Kind: memkernel.PartText, Text: s}} }
	msgs := []memkernel.Message{{Key: "u", Role: memkernel.RoleUser, Parts: text("read it"), Time: now},
		{Key: "a", Role: memkernel.RoleAssistant, Time: now, Parts: []memkernel.Part{{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: "c1", Name: "Read", Input: `{"file_path":"x"}`}}}},
		{Key: "r", Role: memkernel.RoleUser, Time: now, Parts: []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: "c1", Content: text(big.String()), Text: true}}}}}
	p, err := b.k.PlanContext(context.Background(), api.PlanRequest{SessionKey: "s", Model: "claude-opus-4-5", Messages: msgs, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	id := ""
	for _, row := range p.Debug.Included {
		if strings.HasPrefix(row.ID, "ev-") {
			id = row.ID
		}
	}
	o := tools.Options{SessionKey: "s"}
	var all strings.Builder
	for from, n := 1, 0; from > 0; n++ {
		a := b.call(o, "memory_get", object{"path": id, "from": from})
		if a.Reason != "OK" || len(a.Text) > tools.MaxText || a.From != from || n > 10 {
			t.Fatalf("from %d: %s %s, %d bytes", from, a.Reason, a.Detail, len(a.Text))
		}
		all.WriteString(a.Text)
		from = a.NextFrom
	}
	if strings.TrimSuffix(all.String(), "\n") != strings.TrimSuffix(big.String(), "\n") {
		t.Error("the parts are not the page")
	}
	if a := b.call(o, "memory_get", object{"path": id, "from": 3, "lines": 2}); a.Text != "xx line\nxxx line\n" || a.NextFrom != 5 {
		t.Errorf("%+v", a)
	}
	for _, query := range []string{id + "#L3-L4", id + "@L3-L4"} {
		if a := b.call(o, "memory_search", object{"query": query}); len(a.Results) != 1 || a.Results[0].Snippet != "xx line\nxxx line\n" || a.Results[0].ID != id || a.Results[0].Source != "sessions" || a.Detail != id+"#L5-L6 has the lines that follow" {
			t.Errorf("%s: %+v", query, a)
		}
		if a := b.call(tools.Options{SessionKey: "other"}, "memory_search", object{"query": query}); len(a.Results) != 0 {
			t.Errorf("another session reads %s: %+v", query, a)
		}
	}
	if a := b.call(tools.Options{SessionKey: "other"}, "memory_get", object{"path": id}); a.Reason != "NO_MATCH" {
		t.Errorf("another session's page: %+v", a)
	}
}

func TestLongLine(t *testing.T) {
	b := open(t, map[string]string{"memory/long.md": strings.Repeat("é", 1<<19) + "\nnext\n"})
	a := b.call(private, "memory_get", object{"path": "memory/long.md"})
	if !a.Truncated || a.NextFrom != 2 || len(a.Text) > tools.MaxText || strings.Contains(a.Text, "�") {
		t.Errorf("%d bytes, next %d, %s", len(a.Text), a.NextFrom, a.Detail)
	}
	if a = b.call(private, "memory_get", object{"path": "memory/long.md", "from": 2}); a.Text != "next\n" || a.NextFrom != 0 {
		t.Errorf("%+v", a)
	}
}

func TestArguments(t *testing.T) {
	b := open(t, notes)
	s, err := tools.New(b.k, private)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, args, want string }{
		{"memory_search", ``, "query: it is missing"},
		{"memory_search", `null`, "query: it is missing"},
		{"memory_search", `[]`, "no JSON object"},
		{"memory_search", `"heron"`, "no JSON object"},
		{"memory_search", `{"query":"x"`, "no JSON object"},
		{"memory_search", `{"query":"x"} {}`, "no JSON object"},
		{"memory_search", `{"query":"x","max_results":3}`, "there are lines, maxResults, minScore, query, scope, source"},
		{"memory_search", `{"query":3}`, "must be a string"},
		{"memory_search", `{"query":null}`, "must be a string"},
		{"memory_search", `{"query":"x","maxResults":"3"}`, "must be a number"},
		{"memory_search", `{"query":"x","maxResults":2.5}`, "whole number"},
		{"memory_search", `{"query":"x","maxResults":0}`, "at least 1"},
		{"memory_search", `{"query":"x","maxResults":101}`, "at most 100"},
		{"memory_search", `{"query":"x","minScore":1.5}`, "at most 1"},
		{"memory_search", `{"query":"x","source":"wiki"}`, "memory, sessions"},
		{"memory_get", `{"path":"MEMORY.md","from":-1}`, "at least 1"},
		{"memory_get", `{"path":"MEMORY.md","from":1e300}`, "at most"},
		{"memory_append", `{"text":" \n"}`, "empty"},
		{"memory_search", `{"query":"x","session":"other"}`, "there is no such argument"},
		{"memory_search", `{"query":"` + strings.Repeat("x", 3<<20) + `"}`, "at most"},
	} {
		if _, err := s.Call(context.Background(), tc.name, json.RawMessage(tc.args)); err == nil || !strings.HasPrefix(err.Error(), tc.name+": ") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s %.60s: %v, want %q", tc.name, tc.args, err, tc.want)
		}
	}
	if _, err := s.Call(context.Background(), "memory_drop", nil); !errors.Is(err, tools.ErrUnknownTool) {
		t.Errorf("%v", err)
	}
	reader, err := tools.New(b.k, tools.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Call(context.Background(), "memory_append", json.RawMessage(`{"text":"x"}`)); !errors.Is(err, tools.ErrUnknownTool) {
		t.Errorf("a read-only set writes: %v", err)
	}
}

func TestTooLate(t *testing.T) {
	b := open(t, notes)
	b.reindex()
	o := tools.Options{Private: true, Timeout: 1}
	if a := b.call(o, "memory_search", object{"query": "heron"}); a.Reason != "BACKEND_ERROR" || !a.TimedOut || a.Results == nil {
		t.Errorf("%+v", a)
	}
	s, err := tools.New(b.k, private)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Call(ctx, "memory_search", json.RawMessage(`{"query":"x"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	b.k.Close()
	if _, err := s.Call(context.Background(), "memory_get", json.RawMessage(`{"path":"x"}`)); !errors.Is(err, api.ErrClosed) {
		t.Errorf("%v", err)
	}
}

func TestDefinitions(t *testing.T) {
	b := open(t, nil)
	s, err := tools.New(b.k, private)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]string{"anthropic": "input_schema", "mcp": "inputSchema"}
	for _, f := range []string{"anthropic", "mcp"} {
		raw, err := s.Tools(f, true)
		var list []map[string]any
		if err != nil || json.Unmarshal(raw, &list) != nil || len(list) != 7 {
			t.Fatalf("%s: %v %s", f, err, raw)
		}
		for _, d := range list {
			inner, ok := d[schemas[f]].(map[string]any)
			if !ok || inner["type"] != "object" || inner["additionalProperties"] != false || inner["properties"] == nil {
				t.Errorf("%s: %v", f, d)
			}
		}
	}
	few, err := s.Tools("mcp", false)
	var list []struct{ Name string }
	if err != nil || json.Unmarshal(few, &list) != nil || len(list) != 3 || len(few) > 1200 { // 300 tokens
		t.Errorf("%v, %d bytes: %s", err, len(few), few)
	}
	if _, err := s.Tools("openai", true); err == nil {
		t.Error("an unknown format is written")
	}
	raw, err := s.Tools("mcp", true)
	var hinted []struct {
		Name        string
		Annotations struct{ ReadOnlyHint bool }
	}
	if err != nil || json.Unmarshal(raw, &hinted) != nil || hinted[0].Name != "memory_search" || !hinted[0].Annotations.ReadOnlyHint || hinted[2].Name != "memory_append" || hinted[2].Annotations.ReadOnlyHint {
		t.Errorf("%v: %s", err, raw)
	}
}

// commands are words by which an answer would have a model run something.
var commands = []string{"memkernel doctor", "reindex", "rebuild", "run "}

// What stands in the index's place makes no tool answer with a command, and memory is
// searched all the same.
func TestAnswersNameNoCommand(t *testing.T) {
	spoils := map[string]func(path string) error{
		"never made": os.Remove,
		"foreign":    func(path string) error { return os.WriteFile(path, []byte("dear diary"), 0o600) },
		"damaged":    func(path string) error { return os.WriteFile(path, make([]byte, 9999), 0o600) },
		"folder":     func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	}
	for name, spoil := range spoils {
		for how, wait := range map[string]time.Duration{"made": 0, "as it is": -1} {
			t.Run(name+"/"+how, func(t *testing.T) {
				b := open(t, notes)
				b.reindex()
				if err := errors.Join(b.k.Close(), spoil(filepath.Join(b.dir, kernel.DefaultStateDir, "index.sqlite"))); err != nil {
					t.Fatal(err)
				}
				k, err := kernel.Open(context.Background(), b.dir, &kernel.Options{Memory: kernel.MemoryOptions{Sync: kernel.SyncOptions{Wait: wait}}})
				if err != nil {
					t.Fatal(err)
				}
				defer k.Close()
				b.k = k
				for _, c := range []string{"memory_search", "memory_append", "memory_search"} {
					args := map[string]object{"memory_search": {"query": "when are deploys of heron?"}, "memory_append": {"text": "The stork flies."}}[c]
					set, err := tools.New(k, private)
					if err != nil {
						t.Fatal(err)
					}
					raw, err := json.Marshal(args)
					if err != nil {
						t.Fatal(err)
					}
					out, err := set.Call(context.Background(), c, raw)
					if err != nil {
						t.Fatal(err)
					}
					for _, w := range commands {
						if strings.Contains(string(out), w) {
							t.Errorf("%s says %q: %s", c, w, out)
						}
					}
					if c == "memory_search" && wait == 0 && !strings.Contains(string(out), "Tuesdays") {
						t.Errorf("not found: %s", out)
					}
				}
			})
		}
	}
}

// What memory_append kept is found by the next memory_search, and a shared session is told
// what it may not see.
func TestAppendedIsFound(t *testing.T) {
	b := open(t, notes)
	for _, text := range []string{"The stork flies.", "鶴は千年。", "The bittern booms."} {
		b.call(private, "memory_append", object{"text": text})
		if a := b.call(private, "memory_search", object{"query": text}); a.Reason != "OK" || len(a.Results) == 0 || !strings.Contains(a.Results[0].Snippet, text) {
			t.Errorf("%s: %+v", text, a)
		}
	}
	if a := b.call(private, "memory_search", object{"query": "staging port"}); len(a.Withheld) != 0 || len(a.Results) == 0 {
		t.Errorf("%+v", a)
	}
	for _, q := range []string{"staging port", "heron", "zzyzx"} {
		a := b.call(tools.Options{}, "memory_search", object{"query": q})
		if len(a.Withheld) != 2 || a.Withheld[0].Path != "MEMORY.md" || a.Withheld[0].Reason == "" || a.Withheld[1].Class != "sessions" {
			t.Errorf("%s: %+v", q, a)
		}
		if len(a.Results) == 0 && !strings.Contains(a.Detail, "withheld, as this session is shared: MEMORY.md, past sessions") {
			t.Errorf("%s: %s", q, a.Detail)
		}
	}
}
