package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/settings"
)

// foreign are settings that people have.
var foreign = map[string]string{
	"empty object": "{}",
	"blank":        "\n",
	"one line":     `{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}`,
	"tabs":         "{\n\t\"b\": 1,\n\t\"a\": [1,2 , 3],\n\t\"hooks\": {}\n}\n",
	"four spaces":  "{\n    \"hooks\": {\n        \"Stop\": [],\n        \"PreToolUse\": [\n            {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"check\"}]}\n        ]\n    },\n\n    \"z\": 1.50,\n    \"a\": \"\\u00e9<>&\"\n}",
	"same events":  "{\r\n  \"hooks\": {\r\n    \"SessionStart\": [\r\n      { \"matcher\": \"startup\", \"hooks\": [ {\"type\":\"command\",\"command\":\"other hook --host\"} ] }\r\n    ],\r\n    \"BeforeAgent\": [ ],\r\n    \"disabled\": [\"x\"]\r\n  }\r\n}\r\n",
	"big numbers":  `{ "n": 12345678901234567890.123456789012345678901234567890, "deep": {"hooks": {"Stop": "mine"}} }`,
}

func settingsIn(t *testing.T, h Host, text string) Settings {
	t.Helper()
	s := Settings{Host: h, Dir: t.TempDir(), Program: "/opt/memkernel"}
	if text == "" {
		return s
	}
	if err := os.MkdirAll(filepath.Dir(s.Path()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path(), []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return s
}

// edit gives the file what an edit of its content comes to, and returns it.
func edit(t *testing.T, s Settings, do func([]byte) ([]byte, error)) []byte {
	t.Helper()
	before, err := settings.Read(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	after, err := do(before)
	if err == nil {
		err = settings.Write(s.Path(), before, after)
	}
	if err != nil {
		t.Fatal(err)
	}
	return after
}

// commands counts a command in the settings by event.
func commands(t *testing.T, s Settings, run string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Hooks map[string]json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	out := map[string]int{}
	for event, raw := range doc.Hooks {
		var groups []struct {
			Hooks []struct{ Command string } `json:"hooks"`
		}
		if json.Unmarshal(raw, &groups) != nil {
			continue
		}
		for _, g := range groups {
			for _, c := range g.Hooks {
				if c.Command == run || c.Command == onlyLarge+run {
					out[event]++
				}
			}
		}
	}
	return out
}

// TestAddAndTakeOut: every byte of the user's stays, a second run changes nothing, and taking
// out leaves no hook of ours and all of the user's.
func TestAddAndTakeOut(t *testing.T) {
	for _, h := range allHosts() {
		for name, text := range foreign {
			t.Run(string(h)+"/"+name, func(t *testing.T) {
				s := settingsIn(t, h, text)
				data := edit(t, s, s.Add)
				got := commands(t, s, s.command())
				for _, event := range h.Events() {
					if got[event] != 1 {
						t.Errorf("%s runs it %d times", event, got[event])
					}
				}
				if !subsequence([]byte(strings.TrimSpace(text)), data) {
					t.Errorf("bytes of the user's are gone:\n%s", data)
				}
				if again := edit(t, s, s.Add); !bytes.Equal(again, data) {
					t.Errorf("a second run changed it:\n%s", again)
				}
				moved := s
				moved.Program = "/usr/bin/memkernel"
				edit(t, s, moved.Add)
				if old, now := commands(t, s, s.command()), commands(t, s, moved.command()); len(old) != 0 || len(now) != len(h.Events()) {
					t.Errorf("after a move: %v and %v", old, now)
				}
				after := edit(t, s, s.TakeOut)
				if d, err := s.parse(after); err != nil || s.has(d) {
					t.Errorf("%v: hooks are left:\n%s", err, after)
				}
				for _, theirs := range []string{"say done", "check", "other hook --host", "12345678901234567890.123456789012345678901234567890", "mine"} {
					if strings.Contains(text, theirs) && !bytes.Contains(after, []byte(theirs)) {
						t.Errorf("%s is gone:\n%s", theirs, after)
					}
				}
			})
		}
	}
}

// subsequence reports whether a's bytes are in b in order.
func subsequence(a, b []byte) bool {
	for _, c := range b {
		if len(a) > 0 && a[0] == c {
			a = a[1:]
		}
	}
	return len(a) == 0
}

// TestNoFileBefore: what only held the hooks goes with them.
func TestNoFileBefore(t *testing.T) {
	s := settingsIn(t, codex, "")
	data, err := s.Add(nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if data, err = s.TakeOut(data); err != nil || data != nil {
			t.Errorf("%v, %s", err, data)
		}
		data = []byte(nil)
	}
}

// TestEditedMeanwhile: what the user changed after the install stays when the hooks
// are taken out, also where hooks of both are in one group.
func TestEditedMeanwhile(t *testing.T) {
	s := settingsIn(t, claude, foreign["four spaces"])
	data := edit(t, s, s.Add)
	data = bytes.Replace(data, []byte(`"hooks": [
                    {`), []byte(`"hooks": [
                    {"type": "command", "command": "mine"},
                    {`), 1)
	data = bytes.Replace(data, []byte(`"z": 1.50`), []byte(`"z": 2`), 1)
	if err := os.WriteFile(s.Path(), data, 0o640); err != nil {
		t.Fatal(err)
	}
	edit(t, s, s.TakeOut)
	if n := len(commands(t, s, s.command())); n != 0 {
		t.Errorf("%d are left", n)
	}
	if mine := commands(t, s, "mine"); len(mine) != 1 {
		t.Errorf("the user's own hook: %v", mine)
	}
	if got, _ := os.ReadFile(s.Path()); !bytes.Contains(got, []byte(`"z": 2`)) || !bytes.Contains(got, []byte("check")) {
		t.Errorf("%s", got)
	}
}

// TestRefused: what can't be edited without loss is named by file and line, and
// stays as it is.
func TestRefused(t *testing.T) {
	for text, line := range map[string]int{
		"{\n  // mine\n  \"a\": 1\n}": 2,
		"{\n  \"a\": 1,\n}":           3,
		"{\n  \"a\": 1\n":             3,
		"[]":                          1,
		"{\"hooks\": []}":             0,
		"{\"hooks\": {\"Stop\": {}}}": 0,
		"{\"hooks\": {\"Stop\": [{\"hooks\": 1}]}}":   0,
		"{\"hooks\": {}, \"hooks\": {}}":              0,
		"{\"hooks\": {\"Stop\": [], \"Stop\": []}}\n": 0,
	} {
		s := settingsIn(t, claude, text)
		_, err := s.Add([]byte(text))
		var e *settings.Error
		if !errors.As(err, &e) || e.Line != line || e.Path == "" {
			t.Errorf("%q: %v, want line %d", text, err, line)
		}
	}
}

func (s Settings) Add(data []byte) ([]byte, error) { return s.Edit(data, true) }

func (s Settings) TakeOut(data []byte) ([]byte, error) { return s.Edit(data, false) }
