package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/fakemodel"
)

// recordings are the session files of hosts with hooks, below {home}, and where one that was
// recorded is kept: the hooks' tests read it.
var recordings = map[string]struct{ files, kept string }{
	"claude": {"{home}/.claude/projects/*/*.jsonl", "../../serve/hook/testdata/claude/recorded.jsonl"},
	"codex":  {"{home}/.codex/sessions/*/*/*/*.jsonl", "../../serve/hook/testdata/codex/recorded.jsonl"},
	"gemini": {"{home}/.gemini/tmp/*/chats/*.jsonl", "../../serve/hook/testdata/gemini/recorded.jsonl"},
}

// TestRecord records a small session of each host with hooks: a command, a question to
// memory that the model searches for, and a third turn, each in a process of its own, with
// memkernel's hooks and tools. With MEMKERNEL_E2E_RECORD=1 the recordings that the other
// tests read are made anew.
func TestRecord(t *testing.T) {
	binary := builtOnce(t)
	for i := range clis {
		h := &clis[i]
		if recordings[h.name].files == "" {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			dir, node := installNode(t)
			path, _ := install(t, dir, h.name, h.pkg, filepath.Join(".bin", h.program), pathWith(node))
			script := newScripted()
			script.perTurn, script.rows, script.asks = 1, 3, 1
			s := newStand(t, h, binary, path, node, false, fakemodel.Options{Script: script.answer})
			s.script = script
			s.put(h.files, s.url)
			s.memkernel("init", "--yes", "--host", h.name)
			for n, args := range [][]string{h.first, h.next, h.next} {
				if err := s.turn(s.url, args, n); err != nil {
					t.Fatal(err)
				}
			}
			all, err := filepath.Glob(s.fill(recordings[h.name].files, "", ""))
			if err != nil || len(all) == 0 {
				t.Fatalf("no session file: %v", err)
			}
			biggest, size := "", 0
			for _, f := range all {
				if data, err := os.ReadFile(f); err == nil && len(data) > size {
					biggest, size = f, len(data)
				}
			}
			data, err := os.ReadFile(biggest)
			if err != nil {
				t.Fatal(err)
			}
			text := small(t, data, strings.NewReplacer(strings.ReplaceAll(s.project, "/", "-"), "-project", s.project, "/project", s.home, "/home/u", s.binary, "memkernel", filepath.Dir(s.home), "/home"))
			for _, want := range []string{prompt(0, 1), prompt(1, 1), prompt(2, 1), fact, "row 3 of part 0-0", "done: mark-002"} {
				if !bytes.Contains(text, []byte(want)) {
					t.Errorf("%s does not hold %q", biggest, want)
				}
			}
			if os.Getenv("MEMKERNEL_E2E_RECORD") != "" {
				put(t, recordings[h.name].kept, string(text))
			}
		})
	}
}

// A text of more than said's length is the host's own unless it has words of ours, or the
// listing of a folder that has.
var (
	oursIn  = regexp.MustCompile(`memkernel|harbour|mark-0|row \d|<recall>|Checkpoint cp_`)
	tagOf   = regexp.MustCompile(`^\s*<([a-z_]+(?: [a-z]+)?)>`)
	longest = 80
)

// said leaves out what a host wrote, but for the tag that it wrote it in: its words are not
// ours to keep.
func said(text string) string {
	tag := ""
	if m := tagOf.FindStringSubmatch(text); m != nil {
		tag = m[1]
	}
	switch {
	case len(text) <= longest || tag != "session_context" && oursIn.MatchString(text):
		return text
	case tag != "":
		return "<" + tag + ">\nThe host's own words.\n</" + tag + ">"
	}
	return "The host's own words."
}

// small is a file of JSON lines without long texts of the host's own, and without this
// machine's folders.
func small(t *testing.T, data []byte, paths *strings.Replacer) []byte {
	t.Helper()
	var shrink func(v any, text, list int) any
	shrink = func(v any, text, list int) any {
		switch v := v.(type) {
		case string:
			if v = said(v); len(v) > text {
				return strings.ToValidUTF8(v[:min(text, 160)], "") + " (cut)"
			}
			return v
		case []any:
			v = v[:min(len(v), list)]
			for i := range v {
				v[i] = shrink(v[i], text, list)
			}
			return v
		case map[string]any:
			for k := range v {
				v[k] = shrink(v[k], text, list)
			}
		}
		return v
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for line := range bytes.Lines([]byte(paths.Replace(string(data)))) {
		var v map[string]any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		text, list := 160, 3
		switch v["type"] {
		case nil, "user", "assistant", "gemini", "response_item", "event_msg", "system":
			text, list = 2500, 1000
		case "attachment":
			if a, ok := v["attachment"].(map[string]any); ok && strings.HasPrefix(fmt.Sprint(a["type"]), "hook_") {
				text, list = 2500, 1000
			}
		}
		if err := e.Encode(shrink(v, text, list)); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}
