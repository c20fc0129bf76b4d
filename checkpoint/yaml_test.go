package checkpoint_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/checkpoint"
)

// roundTrip writes a checkpoint and reads it back.
func roundTrip(t interface {
	Helper()
	Fatalf(string, ...any)
}, c *checkpoint.Checkpoint) []byte {
	t.Helper()
	data, err := checkpoint.Marshal(c)
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	again, err := checkpoint.Unmarshal(data)
	if err != nil {
		t.Fatalf("read: %v\n%s", err, data)
	}
	if d := cmp.Diff(c, again, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("a round trip changed it (- written, + read):\n%s\n%s", d, data)
	}
	return data
}

// hostile are texts that have broken writers of YAML.
var hostile = []string{"", " ", "\n", "\n\n", "a\n", "a\n\n", "\na", " a", "a ", "a \nb", "a\n b", "a\r\nb", "a\tb", "\ta", "- x", "? x", "key: value", "a: b: c", "# no comment", "a # b",
	"'", `"`, `\`, `"quoted"`, "`tick`", "{a: b}", "[1, 2]", "&anchor", "*alias", "!!binary x", "!tag", "|", ">", "|-", "%YAML 1.2", "---", "...", "--- !ruby/object", "<<: *x",
	"null", "~", "true", "no", "0x1f", "1e3", "2026-03-09", "12:30:45", "\x00", "\x07", "\x1b[31m", "\u0085", "\u2028", "\u2029", "\ufeff", "\ufeffa", "\u202e", "😀", "现在", "a\u00a0b",
	"\ufffe", strings.Repeat("x", 5000), strings.Repeat("y\n", 100), "decisions:\n  - id: \"d9\"", "a\n# sha256: 00\n", "cp_009"}

// A checkpoint of any texts reads back as it was written, and none of them gets
// out of its scalar: the document has the keys of the format and no others.
func TestHostileText(t *testing.T) {
	texts := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String(), rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostile), 1, 4).Draw(t, "parts"), "")
	}))
	keys := keysOf(t, &checkpoint.Checkpoint{})
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) string { return strings.ToValidUTF8(texts.Draw(t, name), "\uFFFD") }
		text := func(name string) checkpoint.Text { return checkpoint.Text(draw(name)) }
		c := &checkpoint.Checkpoint{Working: checkpoint.Working{Topic: text("topic"), NextAction: text("next"),
			LastToolCall: &checkpoint.ToolCall{Name: checkpoint.Name(draw("tool")), ParamsSummary: text("params")}},
			Decisions: []checkpoint.Decision{{ID: checkpoint.Name(draw("id")), What: text("what"), When: checkpoint.Time{Time: noon}}},
			Resources: checkpoint.Resources{FilesRead: []checkpoint.Name{checkpoint.Name(draw("file"))}, ToolsUsed: []checkpoint.Name{checkpoint.Name(draw("used"))}},
			Thread:    checkpoint.Thread{Summary: text("summary"), KeyExchanges: []checkpoint.Exchange{{Role: "user", Gist: text("gist")}}},
			OpenItems: []checkpoint.Text{text("item"), text("item2")}, Learnings: []checkpoint.Text{text("learning")}}
		c.Meta = checkpoint.Meta{SessionKey: checkpoint.Name(draw("session")), SessionFile: checkpoint.Name(draw("file")), Channel: checkpoint.Name(draw("channel"))}
		complete(c)
		roundTrip(t, c)
		for key := range keysOf(t, c) {
			if !keys[key] {
				t.Fatalf("a text became the key %q", key)
			}
		}
	})
}

// complete fills in what every checkpoint has.
func complete(c *checkpoint.Checkpoint) {
	c.Schema, c.SchemaVersion, c.Meta.CheckpointID, c.Meta.Trigger, c.Working.Status = checkpoint.Schema, 1, "cp_003", checkpoint.TriggerAuto, checkpoint.StatusIdle
}

// keysOf reads all keys of a checkpoint's file with no type to help.
func keysOf(t interface {
	Helper()
	Fatalf(string, ...any)
}, c *checkpoint.Checkpoint) map[string]bool {
	t.Helper()
	complete(c)
	if c.Working.LastToolCall == nil { // one of everything, so that all keys are there
		c.Working.LastToolCall = &checkpoint.ToolCall{}
		c.Decisions = []checkpoint.Decision{{When: checkpoint.Time{Time: time.Unix(0, 0).UTC()}}}
		c.Thread.KeyExchanges = []checkpoint.Exchange{{}}
	}
	data, err := checkpoint.Marshal(c)
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		t.Fatalf("read: %v", err)
	}
	keys := map[string]bool{}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 {
				keys[child.Value] = true
			}
			walk(child)
		}
	}
	walk(&doc)
	return keys
}

// TestStyles: free text is in blocks, tool names are quoted.
func TestStyles(t *testing.T) {
	c := build(japan())
	data := string(roundTrip(t, c))
	for _, want := range []string{"topic: |-\n    现在签证怎么办？\n", "- \"web_search\"\n", "last_tool_call:\n    name: \"web_search\"\n    params_summary: |-\n", "what: |-\n      I propose two weeks: Tokyo",
		"trigger: \"auto-80pct\"", "utilization: 0.81\n", "created_at: \"2026-03-09T12:00:00Z\"", "files_read: []", "previous_checkpoint: \"\""} {
		if !strings.Contains(data, want) {
			t.Errorf("%q is missing:\n%s", want, data)
		}
	}
	c.Meta.SessionKey = "\xff\xfe"
	if data, err := checkpoint.Marshal(c); err != nil || !bytes.Contains(data, []byte("session_key: \"\uFFFD\"")) {
		t.Errorf("bytes that are no text: %v", err)
	}
}

// Whatever is under a right sum is refused or understood: what is understood
// can be written again, and shown.
func TestAnyBody(t *testing.T) {
	good := string(roundTrip(t, sample(3)))
	body := good[:strings.LastIndex(good, "# sha256: ")]
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(body)
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			piece := rapid.OneOf(rapid.SampledFrom(hostile), rapid.StringN(0, 3, 8)).Draw(t, "piece")
			b = append(append(bytes.Clone(b[:at]), piece...), b[min(len(b), at+rapid.IntRange(0, 9).Draw(t, "drop")):]...)
		}
		c, err := checkpoint.Unmarshal([]byte(string(b) + fmt.Sprintf("# sha256: %x\n", sha256.Sum256(b))))
		if err != nil {
			return
		}
		roundTrip(t, c)
		if text := checkpoint.Restore(c, nil); len(text) > 3*checkpoint.RestoreCap {
			t.Fatalf("%d bytes", len(text))
		}
	})
}

// TestCutAnywhere: a file that lost its end, or one byte, is never taken for whole.
func TestCutAnywhere(t *testing.T) {
	data := roundTrip(t, build(japan()))
	for n := range data {
		if _, err := checkpoint.Unmarshal(data[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes pass for a checkpoint", n, len(data))
		}
	}
	for n := range data {
		bad := bytes.Clone(data)
		bad[n] ^= 1
		if _, err := checkpoint.Unmarshal(bad); err == nil {
			t.Fatalf("a changed byte at %d passes", n)
		}
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	good := string(roundTrip(t, build(japan())))
	body := good[:strings.LastIndex(good, "# sha256: ")]
	for _, c := range []struct{ name, body, want string }{
		{"newer", strings.Replace(body, "schema_version: 1", "schema_version: 2\nnew: 1", 1), "schema version 2 is newer than 1: use a newer program"},
		{"another schema", strings.Replace(body, "openclaw/checkpoint", "x", 1), `schema "x" version 1, want "openclaw/checkpoint" version 1`},
		{"unknown key", body + "extra: 1\n", "field extra not found"},
		{"unknown trigger", strings.Replace(body, "auto-80pct", "x", 1), `unknown trigger "x"`},
		{"unknown status", strings.Replace(body, "in_progress", "x", 1), `unknown status "x"`},
		{"no id", strings.Replace(body, "cp_001", "cp_1", 1), `checkpoint id "cp_1"`},
		{"no time", strings.Replace(body, "2026-03-09T12:00:00Z", "noon", 1), "line 7"},
		{"two documents", body + "---\na: 1\n", "a second document follows"},
		{"no yaml", "a: [", "line"},
	} {
		_, err := checkpoint.Unmarshal([]byte(c.body + fmt.Sprintf("# sha256: %x\n", sha256.Sum256([]byte(c.body)))))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
