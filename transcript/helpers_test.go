package transcript

import (
	"bytes"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
)

// rewrite streams data and writes the records back.
func rewrite(tb testing.TB, data []byte, opt *Options) []byte {
	tb.Helper()
	var out bytes.Buffer
	for r := range records(tb, data, opt) {
		out.WriteString(r.Lead + r.Raw + r.Tail)
	}
	return out.Bytes()
}

func records(tb testing.TB, data []byte, opt *Options) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for rec, err := range Stream(bytes.NewReader(data), opt) {
			if err != nil {
				tb.Error(err)
				return
			}
			if !yield(rec) {
				return
			}
		}
	}
}

func load(t *testing.T, text string, opt *Options) *Session {
	t.Helper()
	s, err := Load(strings.NewReader(text), "test", opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fataler is what testing.T and rapid.T share.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// checkAtoms checks that atoms tile the messages and part no call from its
// result.
func checkAtoms(tb fataler, msgs []memkernel.Message) {
	tb.Helper()
	next := 0
	home := map[string]int{}
	for n, a := range Atoms(msgs) {
		if a.Start != next || a.End <= a.Start {
			tb.Fatalf("atom %d is [%d,%d), want it to begin at %d", n, a.Start, a.End, next)
		}
		next = a.End
		for _, m := range msgs[a.Start:a.End] {
			for _, p := range m.Parts {
				if isCall(&p) {
					home[p.Call.ID] = n
				}
				if at, ok := home[resultID(&p)]; ok && at != n && isResult(&p) {
					tb.Errorf("result of %s is in atom %d, its call in %d", resultID(&p), n, at)
				}
			}
		}
	}
	if next != len(msgs) {
		tb.Fatalf("atoms end at %d of %d messages", next, len(msgs))
	}
}

func resultID(p *memkernel.Part) string {
	if isResult(p) && !p.Result.Opaque {
		return p.Result.CallID
	}
	return ""
}

// sketch writes messages in one line each: role, origin and parts.
func sketch(msgs []memkernel.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(string(m.Role))
		if m.Origin != "" {
			b.WriteString("(" + string(m.Origin) + ")")
		}
		b.WriteByte(':')
		for _, p := range m.Parts {
			b.WriteByte(' ')
			switch {
			case isCall(&p):
				b.WriteString("call " + p.Call.ID)
			case isResult(&p):
				b.WriteString("result " + p.Result.CallID + "=" + resultText(p.Result))
			case isThinking(&p):
				b.WriteString("(" + p.Text + ")")
			case p.Kind == memkernel.PartText:
				b.WriteString(p.Text)
			default:
				b.WriteString("<" + string(p.Kind) + ">")
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// realFiles lists the shared transcripts of a dialect, none if absent.
func realFiles(d Dialect) []string {
	files, _ := filepath.Glob("../../shared/data/transcripts/" + string(d) + "/*.jsonl")
	return files
}
