package recall

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
)

// sessions reads the shared Claude Code transcripts with compactions taken
// out, just well enough for these tests: so many of them in the quick suite.
func sessions(t testing.TB, quick int) map[string][]memkernel.Message {
	t.Helper()
	files, _ := filepath.Glob("../../../shared/data/transcripts/claude-code/*.jsonl")
	if len(files) == 0 {
		t.Skip("no transcripts in ../../../shared/data: nothing to run on")
	}
	out := map[string][]memkernel.Message{}
	for _, f := range suite.Some(files, quick) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(f)] = readSession(data)
	}
	return out
}

type block struct {
	Type, Text, ID, Name string
	Input, Content       json.RawMessage
	ToolUseID            string `json:"tool_use_id"`
}

func readSession(data []byte) (out []memkernel.Message) {
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 64<<20)
	last := ""
	for sc.Scan() {
		var r struct {
			IsSidechain, IsCompactSummary bool
			Message                       struct {
				ID, Role string
				Content  json.RawMessage
			}
		}
		if json.Unmarshal(sc.Bytes(), &r) != nil || r.Message.Role == "" || r.IsSidechain || r.IsCompactSummary {
			continue
		}
		m := memkernel.Message{Role: memkernel.Role(r.Message.Role), Parts: parts(r.Message.Content)}
		if r.Message.ID != "" && r.Message.ID == last { // one message spans several lines
			prev := &out[len(out)-1]
			prev.Parts = append(prev.Parts, m.Parts...)
			continue
		}
		last = r.Message.ID
		out = append(out, m)
	}
	return out
}

func parts(raw json.RawMessage) (out []memkernel.Part) {
	var bs []block
	var s string
	if json.Unmarshal(raw, &s) == nil {
		bs = []block{{Type: "text", Text: s}}
	} else if json.Unmarshal(raw, &bs) != nil {
		return nil
	}
	for _, b := range bs {
		switch b.Type {
		case "text":
			out = append(out, memkernel.Part{Kind: memkernel.PartText, Text: b.Text})
		case "tool_use":
			out = append(out, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: b.ID, Name: b.Name, Input: string(b.Input)}})
		case "tool_result":
			out = append(out, memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: b.ToolUseID, Content: parts(b.Content)}})
		}
	}
	return out
}

// replay scores a session under a policy that chooses where the prompt begins.
func replay(msgs []memkernel.Message, from func(texts []string) int) (sum Score, calls int) {
	tr := New()
	var p Prompt
	texts := make([]string, 0, len(msgs))
	for _, m := range msgs {
		if m.Role == memkernel.RoleAssistant {
			p.Set(texts[from(texts):])
			score := tr.Judge(&p, m, nil)
			sum.Add(score)
			calls++
		}
		tr.Append(m)
		texts = append(texts, TextOf(m))
	}
	return sum, calls
}

func everything([]string) int { return 0 }

// lastChars keeps the newest texts within n characters: a window that slides
// on every call.
func lastChars(n int) func([]string) int {
	return func(texts []string) int {
		i := len(texts)
		for size := 0; i > 0; i-- {
			if size += len(texts[i-1]); size > n {
				break
			}
		}
		return i
	}
}

func TestSharedTranscripts(t *testing.T) {
	all := sessions(t, 4)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		msgs := all[name]
		all, calls := replay(msgs, everything)
		slide, _ := replay(msgs, lastChars(3*64000))
		none, _ := replay(msgs, lastChars(3*5000))
		if all.Shown != all.References || all.AnchorsShown != all.Anchors {
			t.Errorf("%s: everything is shown, yet %+v", name, all)
		}
		if all.References == 0 || none.Shown >= all.Shown {
			t.Errorf("%s: the measure does not discriminate: %+v against %+v", name, none, all)
		}
		t.Logf("%-45s %3d calls %4d references %3d anchors: recall everything %.0f %%, last 64k %.0f %%, last 5k %.0f %%", name, calls, all.References, all.Anchors,
			100*all.Recall(), 100*slide.Recall(), 100*none.Recall())
	}
}

func TestScannersOnSharedText(t *testing.T) {
	all := sessions(t, 2)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		msgs := all[name]
		for _, m := range msgs[:min(len(msgs), 60)] {
			if s := TextOf(m); len(s) < 20000 {
				checkScan(t, s)
			}
		}
	}
}

func BenchmarkReplay(b *testing.B) {
	for name, msgs := range sessions(b, 1<<10) {
		size := 0
		for _, m := range msgs {
			size += len(TextOf(m))
		}
		b.Run(name+"/extending", func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				replay(msgs, everything)
			}
		})
		b.Run(name+"/sliding", func(b *testing.B) {
			for b.Loop() {
				replay(msgs, lastChars(3*64000))
			}
		})
	}
}
