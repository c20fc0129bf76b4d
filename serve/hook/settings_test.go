package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
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
	s := Settings{Host: h, Path: SettingsPath(h, t.TempDir()), Program: "/opt/memkernel"}
	if text == "" {
		return s
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return s
}

func apply(t *testing.T, make func() (*Change, error)) *Change {
	t.Helper()
	c, err := make()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(); err != nil {
		t.Fatal(err)
	}
	return c
}

// commands counts a command in the settings by event.
func commands(t *testing.T, s Settings, run string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(s.Path)
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

// TestInstallAndUndo: every byte of the user's stays, a second run changes nothing,
// and taking out gives the file back as it was.
func TestInstallAndUndo(t *testing.T) {
	for _, h := range Hosts() {
		for name, text := range foreign {
			t.Run(string(h)+"/"+name, func(t *testing.T) {
				s := settingsIn(t, h, text)
				apply(t, s.Install)
				got := commands(t, s, s.command())
				for _, event := range h.Events() {
					if got[event] != 1 {
						t.Errorf("%s runs it %d times", event, got[event])
					}
				}
				data, _ := os.ReadFile(s.Path)
				if !subsequence([]byte(strings.TrimSpace(text)), data) {
					t.Errorf("bytes of the user's are gone:\n%s", data)
				}
				if c := apply(t, s.Install); c.Changed() {
					t.Errorf("a second run changed it:\n%s", c.After)
				}
				moved := s
				moved.Program = "/usr/bin/memkernel"
				apply(t, moved.Install)
				if old, now := commands(t, s, s.command()), commands(t, s, moved.command()); len(old) != 0 || len(now) != len(h.Events()) {
					t.Errorf("after a move: %v and %v", old, now)
				}
				apply(t, s.Uninstall)
				if data, err := os.ReadFile(s.Path); err != nil || string(data) != text {
					t.Errorf("not as it was: %v\n%q\n%q", err, data, text)
				}
				if _, err := os.Stat(s.Path + backupSuffix); err == nil {
					t.Error("the copy is left behind")
				}
				if st, _ := os.Stat(s.Path); st.Mode().Perm() != 0o640 {
					t.Errorf("mode %v", st.Mode())
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
	s := settingsIn(t, Codex, "")
	apply(t, s.Install)
	apply(t, s.Uninstall)
	if _, err := os.Stat(s.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if c := apply(t, s.Uninstall); c.Changed() {
		t.Error("nothing was taken out twice")
	}
}

// TestEditedMeanwhile: what the user changed after the install stays when the hooks
// are taken out, also where hooks of both are in one group.
func TestEditedMeanwhile(t *testing.T) {
	s := settingsIn(t, Claude, foreign["four spaces"])
	apply(t, s.Install)
	data, _ := os.ReadFile(s.Path)
	data = bytes.Replace(data, []byte(`"hooks": [
                    {`), []byte(`"hooks": [
                    {"type": "command", "command": "mine"},
                    {`), 1)
	data = bytes.Replace(data, []byte(`"z": 1.50`), []byte(`"z": 2`), 1)
	if err := os.WriteFile(s.Path, data, 0o640); err != nil {
		t.Fatal(err)
	}
	apply(t, s.Uninstall)
	if n := len(commands(t, s, s.command())); n != 0 {
		t.Errorf("%d are left", n)
	}
	if mine := commands(t, s, "mine"); len(mine) != 1 {
		t.Errorf("the user's own hook: %v", mine)
	}
	if got, _ := os.ReadFile(s.Path); !bytes.Contains(got, []byte(`"z": 2`)) || !bytes.Contains(got, []byte("check")) {
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
		s := settingsIn(t, Claude, text)
		_, err := s.Install()
		var e *settings.Error
		if !errors.As(err, &e) || e.Line != line || e.Path == "" {
			t.Errorf("%q: %v, want line %d", text, err, line)
		}
		if data, _ := os.ReadFile(s.Path); string(data) != text {
			t.Errorf("%q became %q", text, data)
		}
	}
}

// TestChangedBetween: a host that writes its settings meanwhile isn't overwritten.
func TestChangedBetween(t *testing.T) {
	s := settingsIn(t, Gemini, "{}")
	c, err := s.Install()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path, []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(); !errors.Is(err, settings.ErrChanged) {
		t.Errorf("%v", err)
	}
}

// TestLinkedSettings: a link to the file, as people keep who share their settings,
// stays a link.
func TestLinkedSettings(t *testing.T) {
	s := settingsIn(t, Claude, "{}")
	real := filepath.Join(t.TempDir(), "real.json")
	if err := os.Rename(s.Path, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, s.Path); err != nil {
		t.Skip(err)
	}
	apply(t, s.Install)
	if st, err := os.Lstat(s.Path); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v", st, err)
	}
	apply(t, s.Uninstall)
	if data, _ := os.ReadFile(real); string(data) != "{}" {
		t.Errorf("%q", data)
	}
}

// TestKilledWhileInstalling stops at every operation on files in turn: the settings
// are those of before or of after, and running it again comes to the same.
func TestKilledWhileInstalling(t *testing.T) {
	text := foreign["four spaces"]
	s := settingsIn(t, Claude, text)
	done := apply(t, s.Install).After
	for n := 1; ; n++ {
		s := settingsIn(t, Claude, text)
		c, err := s.Install()
		if err != nil {
			t.Fatal(err)
		}
		count, killed := 0, errors.New("killed")
		restore := atomicfile.SetHook(func(op, path string) error {
			if count++; count >= n {
				return killed
			}
			return nil
		})
		err = c.Apply()
		restore()
		data, _ := os.ReadFile(s.Path)
		if string(data) != text && !bytes.Equal(data, done) {
			t.Fatalf("operation %d: half written: %q", n, data)
		}
		apply(t, s.Install)
		apply(t, s.Uninstall)
		if data, _ := os.ReadFile(s.Path); string(data) != text {
			t.Fatalf("operation %d: not as it was: %q", n, data)
		}
		if err == nil {
			return
		}
	}
}
