package replay

import (
	"slices"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/replay/recall"
)

func TestSinceCompaction(t *testing.T) {
	s := newScript()
	for range 4 {
		s.user(0, "go").answer(0, "yes")
	}
	for _, c := range []struct {
		at   []int
		want []int
	}{
		{nil, []int{0, 0, 0, 0}},
		{[]int{2}, []int{0, 1, 2, 3}}, // before the second question
		{[]int{3}, []int{0, 1, 2, 3}}, // before its answer
		{[]int{2, 6}, []int{0, 1, 2, 1}},
		{[]int{8}, []int{0, 0, 0, 0}}, // behind the last
	} {
		if got := sinceCompaction(s.msgs, c.at, 4); !slices.Equal(got, c.want) {
			t.Errorf("compactions at %v: %v, want %v", c.at, got, c.want)
		}
	}
}

// A reference counts as behind a pointer if one leads to any of its places.
func TestReferencesBehindPointers(t *testing.T) {
	tr := recall.New()
	add := func(role memkernel.Role, s string) {
		tr.Append(memkernel.Message{Key: s[:1], Role: role, Parts: []memkernel.Part{textPart(s)}})
	}
	add(memkernel.RoleUser, "a look at parse_header and at parse_footer")
	add(memkernel.RoleUser, "b parse_header again")
	add(memkernel.RoleUser, "c "+text(30_000))
	m := memkernel.Message{Role: memkernel.RoleAssistant, Parts: []memkernel.Part{textPart("parse_header calls parse_footer")}}
	if got, want := len(tr.Places(m)), 2; got != want {
		t.Fatalf("%d references, want %d", got, want)
	}
	var none recall.Prompt
	if score := tr.Judge(&none, m, func(at recall.Place) bool { return at.Message == 0 }); score.Pointer != 2 {
		t.Errorf("with a pointer: %+v", score)
	}
	if score := tr.Judge(&none, m, nil); score.Missing != 2 {
		t.Errorf("without: %+v", score)
	}
}

// TestHeldText: of what died or was finished, only what the prompt shows in full counts as shown.
func TestHeldText(t *testing.T) {
	const input = `{"file_path":"/p/a.go"}`
	rec := newScript().user(10, "go").tool("Read", input, 500, "old text").tool("Read", input, 500, "new text").
		tool("Bash", `{"command":"git commit -qm x"}`, 10, "").answer(10, "so").record(t, Options{})
	j := &judge{rec: rec, tracker: recall.New()}
	for _, m := range rec.Messages {
		j.tracker.Append(m)
	}
	end := len(rec.Messages)
	size := func(i int, id string) int { return rec.size(recall.Place{Message: i, CallID: id}) }
	var all, none held
	all.hold(j, rec.Messages, end)
	none.hold(j, rec.Messages[end-3:], end)
	dead, both := size(2, "call1"), size(2, "call1")+size(4, "call2")
	if want := (held{Dead: textShare{dead, dead}, Finished: textShare{both, both}}); all != want {
		t.Errorf("all is shown: %+v, want %+v", all, want)
	}
	if want := (held{Dead: textShare{dead, 0}, Finished: textShare{both, 0}}); none != want {
		t.Errorf("nothing is shown: %+v, want %+v", none, want)
	}
}
