package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/display"
)

// TestMeter: one line, with per cent, not before its patience ends, wiped at the end.
func TestMeter(t *testing.T) {
	var b strings.Builder
	now := time.Unix(0, 0)
	m := newMeter(&b, time.Second, func() time.Time { return now })
	step := func(done int, after time.Duration) string {
		b.Reset()
		now = now.Add(after)
		m.Show("replaying 数据", done, 1200, "call")
		return b.String()
	}
	m.Done()
	if got := b.String() + step(1, 0) + step(2, 900*time.Millisecond); got != "" {
		t.Errorf("drew %q before its time", got)
	}
	if got, want := step(300, 600*time.Millisecond), "\r\x1b[Kreplaying 数据: 300 of 1,200 calls, 25 %"; got != want {
		t.Errorf("drew %q, want %q", got, want)
	}
	if got := step(301, time.Millisecond); got != "" {
		t.Errorf("drew %q right after", got)
	}
	if got := step(1200, time.Millisecond); !strings.Contains(got, "100 %") {
		t.Errorf("the end is drawn as %q", got)
	}
	b.Reset()
	m.Done()
	if m.Done(); b.String() != "\r\x1b[K" {
		t.Errorf("wiped with %q", b.String())
	}
	b.Reset()
	m = newMeter(&b, 0, func() time.Time { return now })
	m.Work("auditing")
	m.Done()
	if got := b.String(); got != "\r\x1b[Kauditing: 0 s\r\x1b[K" {
		t.Errorf("drew %q", got)
	}
	m.Show(strings.Repeat("数据", 100), 1, 0, "call")
	if line := strings.TrimPrefix(b.String()[strings.LastIndex(b.String(), "\r"):], "\r\x1b[K"); display.Width(line) >= display.Columns {
		t.Errorf("%d columns: %q", display.Width(line), line)
	}
	// Work that has counts shows these, and seconds for the rest.
	b.Reset()
	m = newMeter(&b, time.Second, func() time.Time { return now })
	m.Work("checking")
	m.Show("checking", 0, 4, "session")
	now = now.Add(2 * time.Second)
	m.Show("checking", 3, 4, "session")
	m.Show("checking", 0, 9, "blob")
	now = now.Add(2 * time.Second)
	m.Show("checking", 4, 9, "blob")
	if got, want := strings.Split(b.String(), "\r\x1b[K")[1:], []string{"checking: 3 of 4 sessions, 75 %", "checking: 4 of 9 blobs, 44 %"}; !slices.Equal(got, want) {
		t.Errorf("drew %q, want %q", got, want)
	}
	m.Done()
	var none *meter
	none.Show("x", 1, 2, "y")
	none.Work("x")
	none.Done()
}
