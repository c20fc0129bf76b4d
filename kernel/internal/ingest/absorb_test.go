package ingest

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/transcript"
)

func testMaker(t *testing.T) *Maker {
	t.Helper()
	c, err := budget.NewModel("o200k", "gpt-5.5", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Maker{Known: map[string]*pagevm.Page{}, Calls: map[string]*toolcall.Call{}, Count: c, Resolver: "memory_get", Graves: noGraves{},
		Large: math.MaxInt, Durable: true, Out: &Pages{}}
}

type noGraves struct{}

func (noGraves) Any() bool                       { return false }
func (noGraves) Forgotten(string) (string, bool) { return "", false }
func (noGraves) ForgottenContent(string) bool    { return false }
func (noGraves) Retired(string) bool             { return false }

func TestSharedOutIngestEqualsOneAfterTheOther(t *testing.T) {
	s, err := transcript.LoadFile("../../../testdata/session.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs := s.View(transcript.Full)
	one, many := testMaker(t), testMaker(t)
	var want []pagevm.HostMessage
	for i := range msgs {
		one.index(msgs[i : i+1])
		want = append(want, one.message(&msgs[i]))
	}
	if !many.indexAhead(msgs) {
		t.Fatal("the calls of a healed session are not in order")
	}
	got := many.share(nil, msgs)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("hosts (-one +shared):\n%.2000s", d)
	}
	if d := cmp.Diff([]any{one.Out.New, one.Out.contents, one.Out.Blobs}, []any{many.Out.New, many.Out.contents, many.Out.Blobs}); d != "" {
		t.Errorf("capture (-one +shared):\n%.2000s", d)
	}
}

func TestIndexAhead(t *testing.T) {
	call := func(id string) memkernel.Message {
		return memkernel.Message{Role: memkernel.RoleAssistant, Parts: []memkernel.Part{{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id}}}}
	}
	result := func(id string) memkernel.Message {
		return memkernel.Message{Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id}}}}
	}
	for _, c := range []struct {
		name string
		msgs []memkernel.Message
		want bool
	}{
		{"nothing", nil, true},
		{"in order", []memkernel.Message{call("a"), result("a"), call("b"), result("b")}, true},
		{"an id used again", []memkernel.Message{call("a"), result("a"), call("a"), result("a")}, false},
		{"a result before its call", []memkernel.Message{result("a"), call("a")}, false},
		{"a result without a call", []memkernel.Message{call("a"), result("b")}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := testMaker(t).indexAhead(c.msgs); got != c.want {
				t.Errorf("indexAhead = %v, want %v", got, c.want)
			}
		})
	}
}
