package kernel

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/tokencount"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

func testIngester(t *testing.T) *ingester {
	t.Helper()
	c, err := tokencount.New("o200k", "gpt-5.5", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &ingester{known: map[string]*pagevm.Page{}, calls: map[string]*memkernel.ToolCall{}, count: c, resolver: "memory_get", graves: &erasures{},
		large: math.MaxInt, durable: true, out: newCapture(), short: &shortener{}}
}

func TestSharedOutIngestEqualsOneAfterTheOther(t *testing.T) {
	s, err := transcript.LoadFile("../testdata/session.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs := s.View(transcript.Full)
	one, many := testIngester(t), testIngester(t)
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
	if d := cmp.Diff([]any{one.out.pages, one.out.contents, one.out.blobs}, []any{many.out.pages, many.out.contents, many.out.blobs}); d != "" {
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
			if got := testIngester(t).indexAhead(c.msgs); got != c.want {
				t.Errorf("indexAhead = %v, want %v", got, c.want)
			}
		})
	}
}
