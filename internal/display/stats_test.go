package display

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/billing"
)

// TestStatsFitsAnyWidth draws sums of any size in terminals of any width.
func TestStatsFitsAnyWidth(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(rt, "calls")
		st := &billing.Report{}
		for range n {
			st.Calls = append(st.Calls, billing.Call{PlannedInputTokens: rapid.IntRange(0, 1<<40).Draw(rt, "planned"),
				Usage: memkernel.Usage{InputTokens: rapid.IntRange(0, 1<<40).Draw(rt, "input")}})
		}
		st.Total = billing.Sum{Calls: n, Name: "total"}
		st.Sessions = []billing.Sum{{Name: rapid.String().Draw(rt, "session"), Calls: n}}
		w := rapid.IntRange(MinWidth, Columns).Draw(rt, "width")
		var drawn strings.Builder
		if err := Stats(&drawn, st, Style{Width: w}); err != nil {
			rt.Fatal(err)
		}
		for i, l := range strings.Split(drawn.String(), "\n") {
			if Width(l) > w {
				rt.Fatalf("line %d is %d columns wide, %d there are: %q", i+1, Width(l), w, l)
			}
		}
		wellFormed(t, StatsSections(st, time.UTC))
	})
}

func TestRoundUp(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, 1: 1, 1.1: 2, 37: 40, 99: 100, 0.0031: 0.004} {
		if got := roundUp(v); got < want*0.999 || got > want*1.001 {
			t.Errorf("roundUp(%v) = %v, want %v", v, got, want)
		}
	}
}

// wellFormed parses sections of a page as XML.
func wellFormed(t *testing.T, sections string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader("<body>" + sections + "</body>"))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the sections are not well-formed: %v", err)
		}
	}
}
