package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/kernel/api"
)

// outcome is what a message comes to before anything is done for it.
type outcome struct {
	id, method string
	err        *Error
	args       params
}

// known are the methods whose parameters are read in these tests.
var known = func() map[string]method {
	out := map[string]method{}
	for _, m := range table() {
		out[m.name] = m
	}
	return out
}()

// readWhole reads a message as a whole, with encoding/json alone: what the reader has to come to.
func readWhole(text []byte) (out []outcome, batch bool, err *Error) {
	text = bytes.TrimSpace(text)
	if !json.Valid(text) {
		return nil, false, newError(codeParse, "NOT_JSON", "the line is not a JSON value", "send one JSON-RPC message per line, in UTF-8, without line breaks in it")
	}
	raws := []json.RawMessage{text}
	if batch = text[0] == '['; batch {
		raws = nil
		if err := json.Unmarshal(text, &raws); err != nil {
			panic(err)
		}
	}
	switch {
	case len(raws) == 0:
		return nil, false, invalid("", "the batch is empty")
	case len(raws) > maxBatch:
		return nil, false, invalid("", fmt.Sprintf("the batch has %d messages, at most %d are taken", len(raws), maxBatch))
	}
	for _, raw := range raws {
		p := parseRequest(raw)
		o := outcome{id: p.id, method: p.method, err: p.err}
		if m, ok := known[p.method]; ok && p.err == nil {
			o.args = m.params()
			o.err = decodeWhole(p.method, p.params, o.args)
			if c := o.args.handed(); o.err == nil && c != nil {
				for _, raw := range c.Messages {
					c.values = append(c.values, string(raw))
				}
				c.Messages = nil
			}
		}
		out = append(out, o)
	}
	return out, batch, nil
}

func decodeWhole(method string, raw json.RawMessage, into params) *Error {
	raw = bytes.TrimSpace(raw)
	known := "the parameters of " + method + " are " + strings.Join(memberNames(reflect.TypeOf(into).Elem()), ", ")
	if len(raw) == 0 {
		return nil
	}
	if raw[0] != '{' {
		return badParams(known, "%s: the parameters are not an object", method)
	}
	d, err := decodeStrict(raw, into)
	if err != nil {
		return badParams(known, "%s: %s", method, strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return badParams(known, "%s: there is something behind the parameters", method)
	}
	if into.deadline() < 0 {
		return badParams("give how long the call may take, in milliseconds", "%s: deadline_ms is negative", method)
	}
	return nil
}

// readPieces reads a message as it comes, in pieces that end at these places.
func readPieces(text []byte, ends []int) (out []outcome, batch bool, err *Error) {
	var c cutter
	from := 0
	for _, to := range ends {
		c.Write(text[from:to])
		from = to
	}
	c.Write(text[from:])
	msgs, batch, err := parse(c.end())
	for _, p := range msgs {
		o := outcome{id: p.id, method: p.method, err: p.err}
		if m, ok := known[p.method]; ok && p.err == nil {
			o.args = m.params()
			o.err = decode(&p.request, o.args)
		}
		out = append(out, o)
	}
	return out, batch, err
}

// sameReading fails if a message is read otherwise than as a whole.
func sameReading(t interface {
	Helper()
	Fatalf(string, ...any)
}, text []byte, ends []int) {
	t.Helper()
	want, wantBatch, wantErr := readWhole(text)
	got, batch, err := readPieces(text, ends)
	if batch != wantBatch || !reflect.DeepEqual(err, wantErr) || len(got) != len(want) {
		t.Fatalf("%.500q\ngot  %v %v %+v\nwant %v %v %+v", text, batch, err, got, wantBatch, wantErr, want)
	}
	for i := range want {
		if want[i].err != nil {
			want[i].args, got[i].args = nil, nil // nobody looks at them
		}
		if !reflect.DeepEqual(got[i], want[i]) {
			g, _ := json.Marshal(got[i].args)
			w, _ := json.Marshal(want[i].args)
			t.Fatalf("%.500q\ngot  %+v %s %+v\nwant %+v %s %+v", text, got[i], g, handed(got[i]), want[i], w, handed(want[i]))
		}
	}
}

func handed(o outcome) *conversation {
	if o.args == nil {
		return nil
	}
	return o.args.handed()
}

// oddMessages are messages, and what is none, in the forms in which clients or attackers may
// write them.
var oddMessages = []string{
	``, ` `, `null`, `7`, `"x"`, `[]`, `[ ]`, `[null]`, `{}`, `{`, `}`, `]`, `[`, `{]`, `[}`, `{"a":}`, `{"a",1}`, `{,}`, `[1,]`, "\ufeff{}", "\v{}", "\u00a0{}\u2028",
	`{"jsonrpc":"2.0","id":1,"method":"pages"}`, `{"jsonrpc":"2.0","id":1,"method":"pages"}{"jsonrpc":"2.0","id":2,"method":"pages"}`, `{"jsonrpc":"2.0","id":1,"method":"pages"} x`,
	`{"jsonrpc":"2.0","method":"plan","params":{"conversation":{"messages":[{"role":"user"}, 2 ,"]",[{"a":[]}],null,true]}}}`,
	`{"params":{"conversation":{"keys":["a"],"messages":[{"role":"user","content":"\\\"]}"}],"dialect":"pi"},"model":"m"},"method":"observe_turn","id":"x","jsonrpc":"2.0"}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1],"messages":[2,3]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1]},"conversation":{"dialect":"pi"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1]},"conversation":null}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1],"messages":null}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1]}},"params":{"conversation":{"messages":[2]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"CONVERSATION":{"Messages":[1]},"conver\u0073ation":{"me\u017f\u017fages":[2,3]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","Params":{"conversation":{"messages":[1]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","\u0070arams":{"conversation":{"messages":[1]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":{"messages":[1]}}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":[{"messages":[1]}]}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":[{"conversation":{"messages":[1]}}]}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":"[1]"}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[ ]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1,]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[,1]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1 2]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1}}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[{"a":1],2]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1` + "\v" + `]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages"[1]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages"::[1]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1]`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":["` + "\xff\x00" + `"]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":["` + "\xff\xc3" + `"],"keys":["` + "\xff" + `"]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"reserve":1e3,"conversation":{"keep":1e0,"base":"b","messages":[1e3]},"context_window":2000.0}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"reserve":1.5,"conversation":{"messages":[1]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"search","params":{"conversation":{"messages":[1]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"x":1,"conversation":{"messages":[1]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"x":1,"messages":[1]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"conversation":{"messages":[1]}}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools.call","params":{"name":"n","arguments":{"conversation":{"messages":[1]},"params":{"conversation":{"messages":[1]}}}}}`,
	`[{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1,2]}}},{"jsonrpc":"2.0","id":2,"method":"plan","params":{"conversation":{"messages":[3]}}},7,[{"params":{"conversation":{"messages":[9]}}}],{"jsonrpc":"2.0","method":"pages"}]`,
	`[[{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1]}}}]]`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1]}},"result":{}}`,
	`{"jsonrpc":"2.0","id":[1],"method":"plan","params":{"conversation":{"messages":[1]}}}`,
	`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1]}}}]`,
	`]{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1]}}}`,
}

// TestReaderIsTheWhole: odd messages come to the same, whether they are read as they come or as
// a whole.
func TestReaderIsTheWhole(t *testing.T) {
	for _, text := range oddMessages {
		sameReading(t, []byte(text), nil)
		bytewise := make([]int, len(text))
		for i := range bytewise {
			bytewise[i] = i
		}
		sameReading(t, []byte(text), bytewise)
	}
	for _, depth := range []int{maxDepth - 5, maxDepth - 4, maxDepth - 3, maxDepth, maxDepth + 1} {
		deep := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		for _, text := range []string{deep, `{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[` + deep + `]}}}`,
			`[{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[` + deep + `]}}}]`,
			`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"tools":` + deep + `}}`} {
			sameReading(t, []byte(text), nil)
		}
	}
	for _, n := range []int{cutChunk - 3, cutChunk - 2, cutChunk - 1, cutChunk, 3*cutChunk + 7} {
		for _, space := range []string{"", " ", strings.Repeat(" \n", cutChunk)} {
			text := `{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[` + space + `"` + strings.Repeat("x", n) + `"` + space + `,{"a":"` + strings.Repeat(`\"`, n) + `"}` + space + `]}}}`
			sameReading(t, []byte(text), []int{len(text) / 2})
		}
	}
}

// drawText draws a text that is a message, or nearly one.
func drawText(t *rapid.T) string {
	space := rapid.SampledFrom([]string{"", "", "", "", " ", "\n", "\t\r", "\v"})
	name := rapid.SampledFrom([]string{"params", "conversation", "messages", "params", "conversation", "messages", "Params", "CONVERSATION", "Messages", `me\u0073\u017fages`, "meſſages", `\u0063onversation`,
		"id", "jsonrpc", "method", "dialect", "base", "keep", "keys", "model", "session_key", "reserve", "other", "", "\xff", `\"messages`})
	scalar := rapid.SampledFrom([]string{"null", "true", "0", "1", "1e3", "1000.0", "1.5", "-1", "1e400", "9007199254740993", `"2.0"`, `"plan"`, `"search"`, `"x"`, `"\\"`, `"\""`, `"[{,:"`, `"]}"`, "\"\xff\"", `"\ud800"`, `""`, "nul", "01", `"`})
	var value func(depth int) string
	object := func(members []string) string { return "{" + strings.Join(members, ",") + "}" }
	value = func(depth int) string {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth == 0 || kind < 3 {
			return space.Draw(t, "space") + scalar.Draw(t, "scalar") + space.Draw(t, "space")
		}
		var parts []string
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			v := value(depth - 1)
			if kind == 3 {
				v = space.Draw(t, "space") + `"` + name.Draw(t, "name") + `"` + space.Draw(t, "space") + ":" + v
			}
			parts = append(parts, v)
		}
		if kind == 3 {
			return object(parts)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	talk := func() string {
		var members []string
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			n := name.Draw(t, "name")
			v := value(2)
			if strings.EqualFold(n, "messages") && rapid.Bool().Draw(t, "list") {
				var list []string
				for range rapid.IntRange(0, 4).Draw(t, "values") {
					list = append(list, value(3))
				}
				v = "[" + strings.Join(list, ",") + "]"
			}
			members = append(members, `"`+n+`":`+v)
		}
		return object(members)
	}
	message := func() string {
		members := []string{`"jsonrpc":"2.0"`, `"id":7`, `"method":"` + rapid.SampledFrom([]string{"plan", "observe_turn", "flush_turn", "reset", "search", "none"}).Draw(t, "method") + `"`}
		for range rapid.IntRange(0, 2).Draw(t, "params") {
			var params []string
			for range rapid.IntRange(0, 3).Draw(t, "members") {
				if rapid.Bool().Draw(t, "talk") {
					params = append(params, `"`+rapid.SampledFrom([]string{"conversation", "Conversation", `conver\u017fation`}).Draw(t, "name")+`":`+talk())
				} else {
					params = append(params, `"`+name.Draw(t, "name")+`":`+value(3))
				}
			}
			members = append(members, `"params":`+object(params))
		}
		if rapid.IntRange(0, 4).Draw(t, "more") == 0 {
			members = append(members, `"`+name.Draw(t, "name")+`":`+value(4))
		}
		return object(rapid.Permutation(members).Draw(t, "order"))
	}
	text := message()
	switch rapid.IntRange(0, 4).Draw(t, "form") {
	case 0:
		text = "[" + text + "," + message() + "," + value(3) + "]"
	case 1:
		text += message()
	}
	for range rapid.IntRange(0, 2).Draw(t, "damages") - 1 {
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		text = text[:at] + rapid.SampledFrom([]string{"", `"`, "[", "]", "{", "}", ",", ":", `\`, " "}).Draw(t, "by") + text[at+rapid.IntRange(0, 1).Draw(t, "away"):]
		if text == "" {
			break
		}
	}
	return text
}

// TestReaderReadsAnything: the same for messages that are drawn, in pieces that are.
func TestReaderReadsAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t)
		ends := rapid.SliceOfN(rapid.IntRange(0, len(text)), 0, 8).Draw(t, "ends")
		slices.Sort(ends)
		sameReading(t, []byte(text), ends)
	})
}

func FuzzReader(f *testing.F) {
	for _, text := range oddMessages {
		f.Add([]byte(text), uint(len(text)/2))
	}
	f.Fuzz(func(t *testing.T, text []byte, end uint) {
		sameReading(t, text, []int{int(end % uint(len(text)+1))})
	})
}

// TestReaderCopiesOnce: what is allocated for a message is its conversation once, with a part
// of it for what it is read by.
func TestReaderCopiesOnce(t *testing.T) {
	for name, each := range map[string]int{"many": 2000, "few": 1 << 20} {
		var list []string
		for size := 0; size < 8<<20; size += each {
			list = append(list, `{"role":"user","content":"`+strings.Repeat("x", each)+`"}`)
		}
		text := []byte(`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[` + strings.Join(list, ",") + `]}}}`)
		r := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m, err := ReadMessage(bytes.NewReader(text), -1)
				if err != nil || m.err != nil || len(m.lists[0]) != len(list) {
					b.Fatal("it is not read")
				}
			}
		})
		if per := float64(r.AllocedBytesPerOp()) / float64(len(text)); per > 1.5 {
			t.Errorf("%s: %.2f bytes are allocated per byte", name, per)
		} else {
			t.Logf("%s: %.2f bytes are allocated per byte", name, per)
		}
	}
}

// TestStreamGoesOn: what is no message, or longer than one may be, is answered in its place, and
// the stream goes on with the next line.
func TestStreamGoesOn(t *testing.T) {
	_, c := piped(t, &Options{LineBytes: 5 << 20}, nil)
	long := `{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":["` + strings.Repeat("x", 5<<20) + `"]}}}`
	wrong := `{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[1 2],"dialect":"pi"}}}`
	for _, x := range []struct{ line, code string }{
		{`{"jsonrpc":"2.0","id":1,"method":"search","params":{"query":"` + strings.Repeat("x", MaxText) + `"}}`, "LINE_TOO_LONG"},
		{`{"jsonrpc":"2.0","id":1,"method":"search","params":{"query":"` + strings.Repeat("x", api.MaxQuestion+1) + `"}}`, "QUERY_TOO_LONG"},
		{`{"jsonrpc":"2.0","id":1,"method":"pages","params":{"session_key":"` + strings.Repeat("x", mostSmall) + `"}}`, "LINE_TOO_LONG"},
		{`{"jsonrpc":"2.0","id":1,"params":{"method":"plan","session_key":"` + strings.Repeat("x", mostSmall) + `"},"method":"pages"}`, "LINE_TOO_LONG"},
		{`{"jsonrpc":"2.0","id":1,"params":{"session_key":"` + strings.Repeat("x", mostSmall) + `","method":"pages"},"method":"remember"}`, "INVALID_PARAMS"},
		{`[{"jsonrpc":"2.0","method":"remember","params":{}},{"jsonrpc":"2.0","id":1,"method" : "\u0070ages" ,"params":{"session_key":"` + strings.Repeat("x", mostSmall) + `"}}]`, "LINE_TOO_LONG"},
		{wrong, "NOT_JSON"}, {long, "LINE_TOO_LONG"}, {strings.Replace(long, `["`, `[1 2,"`, 1), "LINE_TOO_LONG"}, {"]", "NOT_JSON"}, {"{", "NOT_JSON"}, {`"`, "NOT_JSON"},
		{`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":["`, "NOT_JSON"},
		{`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"conversation":{"messages":[7],"dialect":"anthropic"}}}`, "INVALID_PARAMS"},
		{"\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"no.such"}`, "UNKNOWN_METHOD"},
	} {
		c.send("%s\n \t \n\n{\"jsonrpc\":\"2.0\",\"id\":\"next\",\"method\":\"pages\"}", x.line)
		got := map[any]reply{}
		for range 2 {
			r := c.receive()
			got[r.ID] = r
		}
		if r := got["next"]; r.Error != nil || r.ID == nil {
			t.Errorf("%.80s: then %+v", x.line, got)
		}
		delete(got, "next")
		for r := range maps.Values(got) {
			if r.Error == nil || r.Error.Data.Code != x.code {
				t.Errorf("%.80s: %+v", x.line, r)
			}
		}
	}
}

// TestBoundBetweenNames: a message whose text ends its room at a name is refused like all others.
func TestBoundBetweenNames(t *testing.T) {
	for over := range 40 {
		begin := `{"jsonrpc":"2.0","method":"plan","id":"`
		text := begin + strings.Repeat("x", MaxText-over-len(begin)) + `","params":{"conversation":{"messages":[]}}}`
		if _, err := ReadMessage(strings.NewReader(text), -1); err == nil || !strings.Contains(err.Error(), fmt.Sprint(MaxText)) {
			t.Errorf("%d bytes before the end: %v", over, err)
		}
	}
}

// TestHeldOnce: messages that are handed in again are those that are held, and the new copies
// are let go of before anything is planned.
func TestHeldOnce(t *testing.T) {
	s := newShelf(1 << 20)
	key := heldKey{session: "s"}
	hand := func(n int) (*conversation, *held) {
		c := &conversation{Dialect: "anthropic"}
		for i := range n {
			c.values = append(c.values, fmt.Sprintf(`{"role":"user","content":"%d"}`, i))
		}
		h, err := s.receive(key, c)
		if err != nil {
			t.Fatal(err)
		}
		return c, h
	}
	_, h := hand(3)
	first := slices.Clone(h.intake.Values())
	s.put(h)
	c, h := hand(4)
	if c.values != nil {
		t.Error("the call holds what it handed in")
	}
	for i, v := range first {
		if got := h.intake.Values()[i]; unsafe.StringData(got) != unsafe.StringData(v) {
			t.Errorf("message %d is held anew", i)
		}
	}
}
