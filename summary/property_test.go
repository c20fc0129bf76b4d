package summary

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"pgregory.net/rapid"
)

func TestCap(t *testing.T) {
	for window, want := range map[int]int{0: 0, -5: 0, 5000: 600, 10000: 1200, 200000: 1250} {
		if got := Cap(window); got != want {
			t.Errorf("Cap(%d) = %d, want %d", window, got, want)
		}
	}
}

// randomMessages draws sessions from the shapes that the package reads.
func randomMessages() *rapid.Generator[[]memkernel.Message] {
	texts := rapid.SampledFrom([]string{"hi", "yes", "B", "2", "fix the parser please", "must never fail\n- always do x", "Which?\n1. a\n2. b", "Done?",
		"A. one\nB. two\n\nWhich?", strings.Repeat("long text ", 60), "<system-reminder>x</system-reminder>", "不要动它", "", "\xff\xfe\n[SESSION_SUMMARY v1]\ngoal: x", "[Request interrupted]"})
	inputs := rapid.SampledFrom([]string{`{"command":"go test ./a"}`, `{"command":"cd /r && go test ./... | tail"}`, `{"command":"git commit -m 'x y'"}`, `{"cmd":"ls","workdir":"/w"}`,
		`{"path":"a.go","content":"x"}`, `{"file_path":"/r/b.go","old_string":"x"}`, `{"todos":[{"content":"t","status":"pending"}]}`, `{"todos":[]}`,
		`{"plan":[{"step":"s","status":"in_progress"}]}`, `{"subject":"task"}`, `{"taskId":"1","status":"completed"}`, `{"taskId":1,"status":"deleted"}`, `{"session_id":3}`,
		`{"plan":"# p"}`, `{"questions":[{"question":"q?","options":[]}]}`, `{`, "*** Begin Patch\n*** Update File: q.go", `{"command":["bash","-lc","git checkout -b z"]}`})
	names := rapid.SampledFrom([]string{"Bash", "Edit", "TaskCreate", "TaskUpdate", "x"})
	results := rapid.SampledFrom([]string{"", "ok", "Exit code 1\nerror: x", "FAIL", "[b 1234567] s", "Process running with session ID 3\n", "Chunk\nProcess running with session ID 3\nOutput:\n", "Task #4 created",
		"The user doesn't want to do it. the user said:\nnever do it", "On branch q"})
	ids := rapid.SampledFrom([]string{"1", "2", "3", ""})
	return rapid.Custom(func(t *rapid.T) []memkernel.Message {
		var msgs []memkernel.Message
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			var m memkernel.Message
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				m = user(texts.Draw(t, "user"))
			case 1:
				m = says(texts.Draw(t, "says"))
			case 2:
				m = calls(ids.Draw(t, "id"), names.Draw(t, "name"), inputs.Draw(t, "input"))
			case 3:
				m = answers(ids.Draw(t, "id"), results.Draw(t, "result"), rapid.Bool().Draw(t, "error"))
			}
			if rapid.IntRange(0, 9).Draw(t, "side") == 0 {
				m.Branch = "side"
			}
			msgs = append(msgs, m)
		}
		return keyed(msgs...)
	})
}

func TestSplitAnywhere(t *testing.T) {
	gen := randomMessages()
	rapid.Check(t, func(t *rapid.T) {
		msgs := gen.Draw(t, "messages")
		cut := rapid.IntRange(0, len(msgs)).Draw(t, "cut")
		first := update(State{}, msgs[:cut])
		before, _ := json.Marshal(first)
		split := update(first, msgs[cut:])
		if after, _ := json.Marshal(first); string(after) != string(before) {
			t.Fatalf("Update changed its argument:\n%s\nwas\n%s", after, before)
		}
		whole := update(State{}, msgs)
		diffStates(t, "split", whole, split)
		var copied State
		data, _ := json.Marshal(first)
		if err := json.Unmarshal(data, &copied); err != nil {
			t.Fatalf("read state: %v", err)
		}
		diffStates(t, "through JSON", whole, update(copied, msgs[cut:]))
	})
}

func TestNeverOverCap(t *testing.T) {
	gen := randomMessages()
	counters := map[string]func(string) int{
		"bytes/3": tokens,
		"runes":   utf8.RuneCountInString,
		"words":   func(s string) int { return len(strings.Fields(s)) },
		"lines":   func(s string) int { return strings.Count(s, "\n") },
		"odd":     func(s string) int { return len(s)/4 + len(s)%7 },
	}
	rapid.Check(t, func(t *rapid.T) {
		s := update(State{}, gen.Draw(t, "messages"))
		limit := rapid.IntRange(0, 600).Draw(t, "cap")
		for name, count := range counters {
			text := render(s, Beside{}, limit, count, pointer)
			if text != "" && count(text) > limit {
				t.Fatalf("%s: %d over the cap %d:\n%s", name, count(text), limit, text)
			}
			if text == "" && count(header+"\n") <= limit {
				t.Fatalf("%s: empty at cap %d", name, limit)
			}
			if text != render(s, Beside{}, limit, count, pointer) {
				t.Fatalf("%s: two renderings differ", name)
			}
		}
		checkText(t, render(s, Beside{}, 1200, thirds, pointer), 1200)
	})
}
