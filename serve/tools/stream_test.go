package tools_test

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve/tools"
)

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// answersTo returns the answers to lines that follow the handshake: ids with the codes of
// their errors.
func answersTo(t *testing.T, k *kernel.Kernel, in io.Reader) []string {
	t.Helper()
	s, err := tools.NewServer(k, tools.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := s.Serve(context.Background(), io.MultiReader(strings.NewReader(hello), in), &out); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	type frame struct {
		ID    json.RawMessage `json:"id"`
		Error *struct {
			Code json.RawMessage `json:"code"`
		} `json:"error"`
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var f frame
		switch err := json.Unmarshal([]byte(line), &f); {
		case err != nil:
			t.Errorf("no frame: %q", line)
		case f.Error != nil:
			got = append(got, string(f.ID)+" "+string(f.Error.Code))
		case f.ID != nil: // no notification
			got = append(got, string(f.ID))
		}
	}
	first := slices.Index(got, "0") // a line that is no request is answered at once
	if first < 0 {
		t.Fatalf("the handshake has no answer: %q", got)
	}
	return slices.Delete(got, first, first+1)
}

// TestLinesThatAreNoRequest: such a line gets an error, and the call after it its answer.
func TestLinesThatAreNoRequest(t *testing.T) {
	k, err := kernel.Open(context.Background(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	const ping, next = `{"jsonrpc":"2.0","id":"a","method":"ping"}`, `{"jsonrpc":"2.0","id":"next","method":"ping"}`
	for _, c := range []struct {
		line string
		want []string
	}{
		{"Debugger attached.", []string{"null -32700"}},
		{`{"jsonrpc":"2.0","id":"a","method":"pi`, []string{"null -32700"}},
		{"Content-Length: 42\r\n\r\n" + ping, []string{"null -32700", `"a"`}},
		{"\x00\x00" + ping, []string{"null -32700"}},
		{strings.Repeat("[", 20000), []string{"null -32700"}},
		{"\n \r\n\t", nil},
		{ping + "\r", []string{`"a"`}},
		{"\ufeff" + ping, []string{`"a"`}},
		{ping + ping, []string{"null -32700"}},
		{"true", []string{"null -32600"}},
		{`"` + strings.ReplaceAll(ping, `"`, `\"`) + `"`, []string{"null -32600"}},
		{`{}`, []string{"null -32600"}},
		{`{"id":"a","method":"ping"}`, []string{"null -32600"}},
		{`{"jsonrpc":2,"id":"a","method":"ping"}`, []string{"null -32600"}},
		{`{"jsonrpc":"2.0","id":"a","method":["ping"]}`, []string{"null -32600"}},
		{`{"jsonrpc":"2.0","id":["a"],"method":"ping"}`, []string{"null -32600"}},
		{`{"jsonrpc":"2.0","id":-3,"method":"ping"}`, []string{"-3"}},
		{`{"jsonrpc":"2.0","id":null,"method":"notifications/roots/list_changed"}`, nil},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`, nil},
		{`{"jsonrpc":"2.0","id":"a","result":{}}`, nil},
		{`[` + ping + `]`, []string{"null -32600"}},
		{`{"jsonrpc":"2.0","id":"` + strings.Repeat("a", 17<<20) + `","method":"ping"}`, []string{"null -32600"}},
	} {
		name := c.line[:min(len(c.line), 60)]
		got := answersTo(t, k, strings.NewReader(c.line+"\n"+next+"\n"))
		want := append(c.want, `"next"`)
		slices.Sort(want) // calls run at the same time
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
}

// TestInputEnds: the server ends with its input, in mid-line and with a call that is open
// until the client leaves, and what was asked is answered.
func TestInputEnds(t *testing.T) {
	k, err := kernel.Open(context.Background(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	for line, want := range map[string][]string{
		`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`: {`"a"`},
		`{"jsonrpc":"2.0","id":"a","meth`:                  {"null -32700"},
		``:                                                 nil,
		`{"jsonrpc":"2.0","id":"a","method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"notifications":{}}}`: nil,
	} {
		got := answersTo(t, k, iotest.OneByteReader(strings.NewReader(line)))
		if strings.Contains(line, "subscriptions/listen") && len(got) > 0 {
			want = []string{`"a"`} // a listener may be answered, once, when its input ends
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}
