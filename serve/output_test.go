package serve

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// wholeAnswer encodes an answer by encoding/json alone.
func wholeAnswer(t interface{ Fatal(...any) }, v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestAnswerIsTheWhole: an answer that is written in pieces is, byte for byte, what
// encoding/json makes of it as a whole, alone and in a batch.
func TestAnswerIsTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SampledFrom([]string{`{"role": "user",` + "\n\t" + `"content":"a \" b \\"}`, `{}`, ` [ 1 , "  " ] `, `"<&> \u2028 \\\" x"`, `{"a":"` + strings.Repeat("long ", 40_000) + `"}`, "\"\u2028 \xff\"", "7"})
		plan := func() *planned {
			p := &planned{}
			p.Schema, p.ID = "memkernel/rpc_plan/v1", rapid.String().Draw(t, "id")
			p.Count, p.Markers, p.Notes = 3, []marker{}, []note{{"rule", "<text>"}}
			if rapid.Bool().Draw(t, "mark") {
				p.Conversation = &mark{"b", 2}
			}
			if rapid.Bool().Draw(t, "body") {
				p.Body = json.RawMessage(raw.Draw(t, "body"))
			}
			for range rapid.IntRange(0, 4).Draw(t, "items") {
				var it item
				span := [2]int{rapid.IntRange(0, 9).Draw(t, "from"), 12}
				switch rapid.IntRange(0, 3).Draw(t, "kind") {
				case 0:
					it.Host = &span
				case 1:
					it.Known, it.Replaces = &span[0], &span
				case 2:
					it.Replaces = &span
					fallthrough
				default:
					it.Message = verbatim(raw.Draw(t, "message"))
				}
				p.Items = append(p.Items, it)
			}
			return p
		}
		var list []*response
		for range rapid.IntRange(1, 3).Draw(t, "answers") {
			list = append(list, answer(`"x"`, plan(), nil))
		}
		list = append(list, answer("7", &mark{"b", 1}, nil), answer("", nil, errStopping()))
		for _, v := range []any{list[0], list, list[len(list)-1], notification{"2.0", "$/progress", progress{ID: "1", Stage: "<"}}} {
			out := encode(v)
			var got bytes.Buffer
			n, err := out.WriteTo(&got)
			want := wholeAnswer(t, v)
			if err != nil || got.String() != want || n != int64(len(want)) {
				t.Fatalf("%d, %v\ngot  %.2000s\nwant %.2000s", n, err, got.String(), want)
			}
			if s := out.size(); s >= 0 && s != len(want) {
				t.Fatalf("it has %d bytes, and says %d", len(want), s)
			}
		}
	})
}

// TestAnswerThatIsNone: what can't be written is an error in its place, and the others of a
// batch are answered.
func TestAnswerThatIsNone(t *testing.T) {
	bad := &planned{Items: []item{{Message: `{"a":1} x`}}}
	body := &planned{Body: json.RawMessage(`{`)}
	var b bytes.Buffer
	if _, err := encode([]*response{answer("1", bad, nil), answer("2", body, nil), answer("3", make(chan int), nil), answer("4", &mark{"b", 1}, nil)}).WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	var got []struct {
		ID     int
		Result *mark
		Error  *Error
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || len(got) != 4 {
		t.Fatalf("%v: %s", err, b.String())
	}
	for i, r := range got {
		if r.ID != i+1 || (r.Error == nil) != (i == 3) || r.Error != nil && r.Error.Data.Code != "INTERNAL" {
			t.Errorf("%s", b.String())
		}
	}
}

// TestAnswerIsNotCopied: the messages of a plan are written from where they are.
func TestAnswerIsNotCopied(t *testing.T) {
	large := `{"a":"` + strings.Repeat("x", 1<<20) + `"}`
	p := &planned{Body: json.RawMessage(large)}
	for range 7 {
		p.Items = append(p.Items, item{Message: verbatim(large)})
	}
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if n, err := encode(answer("1", p, nil)).WriteTo(io.Discard); err != nil || n < 8<<20 {
				b.Fatal(n, err)
			}
		}
	})
	if n := r.AllocedBytesPerOp(); n > 1<<20 {
		t.Errorf("%d bytes are allocated for an answer of 8 MiB", n)
	}
}

// slowReader is the other end of a connection, as slow as it likes.
type slowReader struct {
	net.Conn
	got bytes.Buffer
	// patience is how often more time was given, writes how often something came.
	patience, writes int
	largest          int
	dead             bool
	closed           bool
}

func (s *slowReader) SetWriteDeadline(time.Time) error {
	s.patience++
	return nil
}

func (s *slowReader) Write(p []byte) (int, error) {
	if s.dead {
		return 0, os.ErrDeadlineExceeded
	}
	s.writes++
	s.largest = max(s.largest, len(p))
	return s.got.Write(p)
}

func (s *slowReader) Close() error {
	s.closed = true
	return nil
}

// TestSlowReader: who reads a large answer slowly is given the time again for each piece, and
// one that has stopped reading is let go of.
func TestSlowReader(t *testing.T) {
	large := `{"a":"` + strings.Repeat("x", 1<<20) + `"}`
	p := &planned{Body: json.RawMessage(large), Items: []item{{Message: verbatim(large)}}}
	r := &slowReader{}
	c := newConn(New(nil, nil), strings.NewReader(""), r)
	c.write(answer("1", p, nil))
	if r.largest > writePiece || r.writes < 2<<20/writePiece || r.patience < r.writes || r.closed || !json.Valid(r.got.Bytes()) || bytes.Count(r.got.Bytes(), []byte("\n")) != 1 {
		t.Errorf("%d writes of up to %d bytes, time for %d, closed %v", r.writes, r.largest, r.patience, r.closed)
	}
	r.dead = true
	c.write(answer("2", p, nil))
	if !r.closed || !c.failed {
		t.Error("who reads no more is waited for")
	}
}
