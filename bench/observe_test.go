package bench

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// observeSizes are the lengths of the sessions that are committed, in messages. The
// first is what the others are compared with.
var observeSizes = []int{500, 2_000, 8_000, 50_000}

// hookSize is the longest session that is committed by a kernel per turn: each of them
// reads the session's journal.
const hookSize = 2_000

// BenchmarkObserve commits generated sessions turn by turn, in three ways: as the verb
// observe does, which feeds one growing conversation that it vouches for; as a host
// does whose process stays, which hands in all of it each time; and as hooks do, which
// open a kernel per turn and hand in what is new. Cost per turn must not grow with the
// turns before it: x-smallest compares it with the shortest session's.
func BenchmarkObserve(b *testing.B) {
	for _, way := range []struct {
		name   string
		most   int
		commit func(testing.TB, string, []memkernel.Message, []int, func())
	}{{"verb", 50_000, observeGrowing}, {"resident", 50_000, observeWhole}, {"hook", hookSize, observeAnew}} {
		smallest := 0.0
		for _, size := range observeSizes {
			if size > way.most {
				continue
			}
			b.Run(fmt.Sprintf("%s/messages=%d", way.name, size), func(b *testing.B) {
				msgs, ends := longSession(size)
				b.ResetTimer()
				for range b.N {
					m := measureObserve(b, func(dir string, mark func()) { way.commit(b, dir, msgs, ends, mark) })
					perTurn := float64(m.cpu.Microseconds()) / float64(len(ends))
					if smallest == 0 {
						smallest = perTurn
					}
					b.ReportMetric(perTurn, "cpu-us/turn")
					b.ReportMetric(perTurn/smallest, "x-smallest")
					b.ReportMetric(float64(m.bytes)/float64(len(ends)), "B/turn")
					b.ReportMetric(float64(m.allocs)/float64(len(ends)), "allocs/turn")
					b.ReportMetric(m.first, "journal-B/turn-early")
					b.ReportMetric(m.last, "journal-B/turn-late")
				}
			})
		}
	}
}

// observeCost is what committing a session took. first and last are the bytes of the
// journal per turn of two tenths: from a tenth of the session on, and at its end.
type observeCost struct {
	cpu           time.Duration
	bytes, allocs uint64
	first, last   float64
}

func measureObserve(b *testing.B, commit func(dir string, mark func())) observeCost {
	b.Helper()
	dir := b.TempDir()
	var before, after runtime.MemStats
	var sizes []int64
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := cpuTime()
	commit(dir, func() { sizes = append(sizes, journalBytes(dir)) })
	m := observeCost{cpu: cpuTime() - start}
	runtime.ReadMemStats(&after)
	m.bytes, m.allocs = after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
	if tenth := len(sizes) / 10; tenth > 0 {
		m.first = float64(sizes[2*tenth]-sizes[tenth]) / float64(tenth)
		m.last = float64(sizes[len(sizes)-1]-sizes[len(sizes)-1-tenth]) / float64(tenth)
	}
	return m
}

// journalBytes is the size of the journals below a folder.
func journalBytes(dir string) (n int64) {
	_ = filepath.WalkDir(filepath.Join(dir, "state", "sessions"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "journal.jsonl" {
			if fi, err := d.Info(); err == nil {
				n += fi.Size()
			}
		}
		return nil
	})
	return n
}

// longSession is a session of so many messages, four a turn: the user's words, a call,
// its result, the answer.
func longSession(n int) (msgs []memkernel.Message, ends []int) {
	at := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	add := func(role memkernel.Role, p memkernel.Part) {
		at = at.Add(7 * time.Second)
		m := memkernel.Message{Key: fmt.Sprintf("m%06d", len(msgs)), Role: role, Time: at, Parts: []memkernel.Part{p}}
		if role == memkernel.RoleAssistant {
			m.Usage = &memkernel.Usage{InputTokens: 40, CacheReadTokens: 30_000, CacheWrite5mTokens: 900, OutputTokens: 120}
		}
		msgs = append(msgs, m)
	}
	text := func(s string) memkernel.Part { return memkernel.Part{Kind: memkernel.PartText, Text: s} }
	for t := 0; len(msgs) < n; t++ {
		id, file := fmt.Sprintf("toolu_%06d", t), fmt.Sprintf("internal/depot/route%d.go", t)
		add(memkernel.RoleUser, text(fmt.Sprintf("Look at %s: does route %d still close at %d o'clock?", file, t, 9+t%9)))
		add(memkernel.RoleAssistant, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: "Read", Input: fmt.Sprintf(`{"file_path":%q}`, file)}})
		var body strings.Builder
		for l := range 30 {
			fmt.Fprintf(&body, "%5d\tfunc closing%d_%d(day Day) Clock { return clock(%d, day) }\n", l+1, t, l, l+t)
		}
		add(memkernel.RoleUser, memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id, Name: "Read", Content: []memkernel.Part{text(body.String())}}})
		add(memkernel.RoleAssistant, text(fmt.Sprintf("Route %d closes at %d o'clock, as before. I left %s as it is.", t, 9+t%9, file)))
		ends = append(ends, len(msgs))
	}
	return msgs, ends
}

func observer(b testing.TB, dir string) *kernel.Kernel {
	b.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "work"), 0o700); err != nil {
		b.Fatal(err)
	}
	k, err := kernel.Open(context.Background(), filepath.Join(dir, "work"), &kernel.Options{StateDir: filepath.Join(dir, "state")})
	if err != nil {
		b.Fatal(err)
	}
	return k
}

func commitTurn(b testing.TB, k *kernel.Kernel, t api.Turn) {
	b.Helper()
	t.SessionKey, t.Model, t.Private = "s", "claude-opus-4-5", true
	last := &t.Messages[len(t.Messages)-1]
	t.Usage, t.Now = last.Usage, last.Time
	o, err := k.ObserveTurn(context.Background(), t)
	if err != nil || o.Outcome != api.Committed {
		b.Fatalf("%+v %v", o, err)
	}
}

// observeGrowing is what the verb does.
func observeGrowing(b testing.TB, dir string, msgs []memkernel.Message, ends []int, mark func()) {
	k := observer(b, dir)
	defer k.Close()
	for i, end := range ends {
		commitTurn(b, k, api.Turn{Messages: msgs[:end:end], Unchanged: turnBegin(ends, i), More: i+1 < len(ends)})
		mark()
	}
}

// observeWhole is what a host does whose process stays.
func observeWhole(b testing.TB, dir string, msgs []memkernel.Message, ends []int, mark func()) {
	k := observer(b, dir)
	defer k.Close()
	var conversation []memkernel.Message
	for i, end := range ends {
		conversation = append(conversation, msgs[turnBegin(ends, i):end]...)
		commitTurn(b, k, api.Turn{Messages: conversation})
		mark()
	}
}

// observeAnew is what hooks do: a kernel per turn, which is handed the turn before and
// what is new.
func observeAnew(b testing.TB, dir string, msgs []memkernel.Message, ends []int, mark func()) {
	for i, end := range ends {
		k := observer(b, dir)
		commitTurn(b, k, api.Turn{Messages: msgs[turnBegin(ends, max(0, i-1)):end]})
		if err := k.Close(); err != nil {
			b.Fatal(err)
		}
		mark()
	}
}

func turnBegin(ends []int, i int) int {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}
