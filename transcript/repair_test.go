package transcript

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"pgregory.net/rapid"
)

func callOfID(id string) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: "run", Input: "{}"}}
}

func resultOf(id, text string) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{
		CallID: id, Text: true, Content: []memkernel.Part{textPart(text)}}}
}

func thinkPart(sig string) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartThinking, Text: "hm", Signature: sig}
}

func user(parts ...memkernel.Part) memkernel.Message {
	return memkernel.Message{Role: memkernel.RoleUser, Parts: parts}
}

func assistant(parts ...memkernel.Part) memkernel.Message {
	return memkernel.Message{Role: memkernel.RoleAssistant, Parts: parts}
}

func tool(parts ...memkernel.Part) memkernel.Message {
	return memkernel.Message{Role: memkernel.RoleTool, Parts: parts}
}

func TestRepair(t *testing.T) {
	missing := missingResult
	for _, tc := range []struct {
		name    string
		in      []memkernel.Message
		pending bool
		want    string
		rules   []string
	}{
		{"sound", []memkernel.Message{user(textPart("a")), assistant(callOfID("1")), user(resultOf("1", "x"))}, false,
			"user: a\nassistant: call 1\nuser: result 1=x\n", nil},
		{"unanswered", []memkernel.Message{user(textPart("a")), assistant(callOfID("1")), user(textPart("b"))}, false,
			"user: a\nassistant: call 1\nuser(synthetic): result 1=" + missing + "\nuser: b\n", []string{"missing-result"}},
		{"unanswered beside answered", []memkernel.Message{assistant(callOfID("1"), callOfID("2")), user(resultOf("2", "x"), textPart("b"))}, false,
			"assistant: call 1 call 2\nuser: result 2=x\nuser(synthetic): result 1=" + missing + "\nuser: b\n", []string{"missing-result"}},
		{"newest pending", []memkernel.Message{user(textPart("a")), assistant(callOfID("1"))}, true,
			"user: a\nassistant: call 1\n", nil},
		{"newest not kept", []memkernel.Message{user(textPart("a")), assistant(callOfID("1"))}, false,
			"user: a\nassistant: call 1\nuser(synthetic): result 1=" + missing + "\n", []string{"missing-result"}},
		{"older pending", []memkernel.Message{assistant(callOfID("1")), user(textPart("b"))}, true,
			"assistant: call 1\nuser(synthetic): result 1=" + missing + "\nuser: b\n", []string{"missing-result"}},
		{"orphan", []memkernel.Message{user(resultOf("9", "x"), textPart("a"))}, false, "user: a\n", []string{"orphan-result"}},
		{"result before its call", []memkernel.Message{user(resultOf("1", "x")), assistant(callOfID("1"))}, false,
			"assistant: call 1\nuser(synthetic): result 1=" + missing + "\n", []string{"orphan-result", "missing-result"}},
		{"results under another role", []memkernel.Message{assistant(callOfID("1")), {Role: "function", Parts: []memkernel.Part{resultOf("1", "x")}}}, false,
			"assistant: call 1\nuser: result 1=x\n", []string{"role"}},
		{"results of the system", []memkernel.Message{assistant(callOfID("1")), {Role: memkernel.RoleSystem, Parts: []memkernel.Part{resultOf("1", "x")}}}, false,
			"assistant: call 1\nuser: result 1=x\n", []string{"role"}},
		{"answered twice", []memkernel.Message{assistant(callOfID("1")), user(resultOf("1", "x")), user(resultOf("1", "y"))}, false,
			"assistant: call 1\nuser: result 1=x\n", []string{"duplicate-result"}},
		{"id used again", []memkernel.Message{assistant(callOfID("1")), tool(resultOf("1", "x")), assistant(callOfID("1")), tool(resultOf("1", "y"))}, false,
			"assistant: call 1\ntool: result 1=x\nassistant: call 1_2\ntool: result 1_2=y\n", []string{"duplicate-call-id"}},
		{"id used while open", []memkernel.Message{assistant(callOfID("1"), callOfID("1")), user(resultOf("1", "x"))}, false,
			"assistant: call 1\nuser: result 1=x\n", []string{"duplicate-call"}},
		{"id used again after none", []memkernel.Message{assistant(callOfID("1")), user(textPart("m")), assistant(callOfID("1")), user(resultOf("1", "y")), assistant(textPart("b")), user(resultOf("1", "x"))}, false,
			"assistant: call 1\nuser(synthetic): result 1=" + missing + "\nuser: m\nassistant: call 1_2\nuser: result 1_2=y\nassistant: b\n", []string{"duplicate-call-id", "duplicate-result", "missing-result"}},
		{"id used again beside an answer", []memkernel.Message{assistant(callOfID("1"), callOfID("2")), user(resultOf("2", "x")), assistant(callOfID("1")), user(resultOf("1", "y"))}, false,
			"assistant: call 1 call 2\nuser: result 2=x\nuser(synthetic): result 1=" + missing + "\nassistant: call 1_2\nuser: result 1_2=y\n", []string{"duplicate-call-id", "missing-result"}},
		{"copy in a neighbour", []memkernel.Message{assistant(callOfID("1")), assistant(callOfID("1"), callOfID("2")), user(resultOf("1", "x"), resultOf("2", "y"))}, false,
			"assistant: call 1\nassistant: call 2\nuser: result 1=x result 2=y\n", []string{"duplicate-call"}},
		{"text between results", []memkernel.Message{assistant(callOfID("1"), callOfID("2")), user(resultOf("1", "x")), user(textPart("m")), user(resultOf("2", "y"))}, false,
			"assistant: call 1 call 2\nuser: result 1=x\nuser: result 2=y\nuser: m\n", []string{"moved-result"}},
		{"text before a result", []memkernel.Message{assistant(callOfID("1")), user(textPart("m"), resultOf("1", "x"))}, false,
			"assistant: call 1\nuser: result 1=x m\n", nil},
		{"late result", []memkernel.Message{assistant(callOfID("1")), user(textPart("m")), assistant(textPart("b")), user(resultOf("1", "x"))}, false,
			"assistant: call 1\nuser: result 1=x\nuser: m\nassistant: b\n", []string{"moved-result"}},
		{"neighbours stay", []memkernel.Message{assistant(callOfID("1")), assistant(callOfID("2")), user(resultOf("1", "x"), resultOf("2", "y"))}, false,
			"assistant: call 1\nassistant: call 2\nuser: result 1=x result 2=y\n", nil},
		{"neighbours, one unanswered", []memkernel.Message{assistant(callOfID("1")), assistant(callOfID("2")), assistant(callOfID("3")), user(resultOf("1", "x")), user(resultOf("3", "y"))}, false,
			"assistant: call 1\nassistant: call 2\nassistant: call 3\nuser: result 1=x\nuser: result 3=y\nuser(synthetic): result 2=" + missing + "\n", []string{"missing-result"}},
		{"empty", []memkernel.Message{user(textPart(" \n")), user(), assistant(textPart(""), textPart("a"))}, false,
			"assistant: a\n", []string{"empty-message", "empty-message", "empty-text"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, notes := Repair(tc.in, tc.pending)
			wantSketch(t, "repaired", got, tc.want)
			if diff := cmp.Diff(tc.rules, rules(notes)); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepairKeepsSoundInput(t *testing.T) {
	in := []memkernel.Message{user(textPart("a")), assistant(callOfID("1")), user(resultOf("1", "x"))}
	if out, notes := Repair(in, false); &out[0] != &in[0] || notes != nil {
		t.Error("sound input did not come back as the same slice")
	}
}

// drawMessages makes any conversation at all: orphans, duplicates, text among
// results, empty messages.
func drawMessages(t *rapid.T) []memkernel.Message {
	ids := []string{"1", "2", "3", "4"}
	part := rapid.Custom(func(t *rapid.T) memkernel.Part {
		id := rapid.SampledFrom(ids).Draw(t, "id")
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return callOfID(id)
		case 1:
			return resultOf(id, "r"+id)
		case 2:
			return thinkPart("sig")
		case 3:
			return textPart(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "text"))
		}
		return textPart("c")
	})
	n := rapid.IntRange(0, 12).Draw(t, "messages")
	var out []memkernel.Message
	for i := range n {
		m := memkernel.Message{Key: fmt.Sprintf("m%d", i), Role: rapid.SampledFrom([]memkernel.Role{
			memkernel.RoleUser, memkernel.RoleAssistant, memkernel.RoleTool}).Draw(t, "role")}
		m.Parts = rapid.SliceOfN(part, 0, 4).Draw(t, "parts")
		out = append(out, m)
	}
	return out
}

// TestRepairProperties: whatever goes in, what comes out is valid for every
// provider but for its ends, repairing twice changes nothing, and every part is
// either in the result or in a note.
func TestRepairProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawMessages(t)
		before := sketch(in)
		out, notes := Repair(in, false)
		if sketch(in) != before {
			t.Fatal("Repair changed its input")
		}
		if again, more := Repair(out, false); len(more) > 0 || sketch(again) != sketch(out) {
			t.Fatalf("repaired again:\n%swas:\n%s%v", sketch(again), sketch(out), more)
		}
		checkAtoms(t, out)
		req := &Request{Messages: out}
		for _, p := range []Format{FormatAnthropic, FormatOpenAI, FormatResponses} {
			for _, v := range Validate(p, req) {
				if v.Code == "A5" || v.Code == "A6" || v.Code == "A11" && v.Message < 0 {
					continue // begins or ends with the assistant, or nothing is left
				}
				t.Fatalf("%s: %v\n%s", p, v, sketch(out))
			}
		}
		kept, gone := 0, 0
		for _, m := range out {
			for _, p := range m.Parts {
				if p.Result == nil || !p.Result.Synthetic {
					kept++
				}
			}
		}
		for _, n := range notes {
			gone += len(n.Removed)
		}
		all := 0
		for _, m := range in {
			all += len(m.Parts)
		}
		if kept+gone != all {
			t.Fatalf("%d parts in, %d kept, %d noted\n%s\n%v", all, kept, gone, before, notes)
		}
		keys := map[string]bool{}
		for _, m := range out {
			if keys[m.Key] {
				t.Fatalf("key %s stands twice\n%s", m.Key, sketch(out))
			}
			keys[m.Key] = true
		}
	})
}

func TestAtoms(t *testing.T) {
	msgs := []memkernel.Message{
		{Role: memkernel.RoleSystem, Parts: []memkernel.Part{textPart("s")}},
		user(textPart("a")),
		assistant(thinkPart("s")), assistant(callOfID("1"), callOfID("2")),
		user(resultOf("1", "x")), user(textPart("meta")), user(resultOf("2", "y")),
		user(textPart("b")),
		assistant(callOfID("3")), tool(resultOf("3", "z")),
		assistant(callOfID("4")),
	}
	want := []Atom{
		{0, 1, false, 0, true}, {1, 2, false, 0, true}, {2, 7, true, 0, true},
		{7, 8, false, 0, true}, {8, 10, true, 0, true}, {10, 11, true, 1, false},
	}
	if diff := cmp.Diff(want, Atoms(msgs)); diff != "" {
		t.Errorf("atoms (-want +got):\n%s", diff)
	}
	if got := Atoms(msgs[:10]); got[4].Closed {
		t.Error("the newest results are closed before the model saw them")
	}
	system := memkernel.Message{Role: memkernel.RoleSystem, Parts: []memkernel.Part{textPart("s")}}
	told := []memkernel.Message{system, system, user(textPart("a")), system, system, assistant(callOfID("1")), user(resultOf("1", "x")), system, assistant(textPart("b")), system, user(textPart("c"))}
	want = []Atom{{0, 1, false, 0, true}, {1, 2, false, 0, true}, {2, 5, false, 0, true}, {5, 8, true, 0, true},
		{8, 9, true, 0, false}, {9, 10, false, 0, false}, {10, 11, false, 0, false}}
	if diff := cmp.Diff(want, Atoms(told)); diff != "" {
		t.Errorf("with system messages (-want +got):\n%s", diff)
	}
}

func TestOpenLoop(t *testing.T) {
	a, q := user(textPart("a")), user(textPart("q"))
	c1, r1 := assistant(callOfID("1")), user(resultOf("1", "x"))
	for _, tc := range []struct {
		name  string
		in    []memkernel.Message
		start int
		ok    bool
	}{
		{"nothing", nil, 0, false},
		{"question", []memkernel.Message{a}, 0, false},
		{"answered", []memkernel.Message{a, assistant(textPart("b"))}, 0, false},
		{"pending", []memkernel.Message{a, c1}, 0, true},
		{"results in", []memkernel.Message{a, assistant(textPart("b")), q, c1, r1}, 2, true},
		{"loop over", []memkernel.Message{a, c1, r1, assistant(textPart("b"))}, 0, false},
		{"next question", []memkernel.Message{a, c1, r1, assistant(textPart("b")), q}, 0, false},
		{"text beside results", []memkernel.Message{a, c1, r1, q}, 0, true},
		{"two questions", []memkernel.Message{a, q, c1, r1}, 0, true},
		{"no opening", []memkernel.Message{c1, r1}, 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if start, ok := OpenLoop(tc.in); start != tc.start || ok != tc.ok {
				t.Errorf("OpenLoop = %d, %v, want %d, %v", start, ok, tc.start, tc.ok)
			}
		})
	}
}

// A conversation that is repaired piece by piece comes out as when it is repaired at once,
// wherever the pieces end and whatever ids come again; a piece that would not reports it
// and leaves the past as it was.
func TestPastRepair(t *testing.T) {
	pieces := 0
	rapid.Check(t, func(t *rapid.T) {
		in := append(drawMessages(t), drawMessages(t)...)
		var past Past
		var done []memkernel.Message
		for from := 0; from < len(in); {
			to := from + rapid.IntRange(1, len(in)-from).Draw(t, "to")
			want, _ := Repair(in[:to], false)
			tail, _, ok := past.Repair(in[from:to])
			if also := past.Take(in[from:to]); ok != also {
				t.Fatalf("taken %v and repaired %v\n%s", also, ok, sketch(tail))
			}
			if !ok {
				return
			}
			pieces++
			if done = append(done, tail...); sketch(done) != sketch(want) {
				t.Fatalf("in pieces:\n%sat once:\n%s", sketch(done), sketch(want))
			}
			from = to
		}
	})
	if pieces < 100 {
		t.Errorf("%d pieces were repaired", pieces)
	}
}
