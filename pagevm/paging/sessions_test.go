package paging

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// drawOperation does something to a tracer: mostly a turn of one of two sessions
// with private and shared pages, sometimes an update or a removal.
func drawOperation(t *rapid.T, tr *Tracer, n int, alive *[]Page) {
	session := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "session")
	pick := func(name string) *Page {
		return &(*alive)[rapid.IntRange(0, len(*alive)-1).Draw(t, name)]
	}
	var err error
	switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
	case what == 0 && len(*alive) > 1:
		p := pick("removed")
		err = tr.Remove(p.ID)
		*p = (*alive)[len(*alive)-1]
		*alive = (*alive)[:len(*alive)-1]
	case what == 2:
		p := drawPage(t, fmt.Sprintf("n%d", 99-n))
		p.Session = session
		err = tr.Add(p)
		*alive = append(*alive, p)
	case what == 1:
		p := pick("updated")
		now := drawPage(t, p.ID)
		now.Type, now.Scope, now.Session, now.Group, now.Supersedes = p.Type, p.Scope, p.Session, p.Group, p.Supersedes
		now.Version = 1000 * (n + 1)
		err = tr.Update(now)
		*p = now
	default:
		_, err = tr.Step(drawSessionTurn(t, n, session, *alive))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// drawSessionTurn draws a turn over the pages that a session sees.
func drawSessionTurn(t *rapid.T, n int, session string, alive []Page) *Turn {
	var seen []Page
	for _, p := range alive {
		if p.visible(session) {
			seen = append(seen, p)
		}
	}
	if len(seen) == 0 {
		return &Turn{Turn: n, Session: session}
	}
	turn := drawTurn(t, n, seen)
	turn.Session = session
	turn.Begin, turn.End = drawFlight(t, seen)
	return turn
}

func drawShared(t *rapid.T) (pages []Page) {
	for i := range rapid.IntRange(2, 9).Draw(t, "pages") {
		p := drawPage(t, fmt.Sprintf("p%d", rapid.IntRange(0, 99).Draw(t, "id")*10+i))
		p.Session = rapid.SampledFrom([]string{"x", "y", ""}).Draw(t, "owner")
		if p.Session == "" {
			p.Scope = "project"
		}
		p.Group = rapid.SampledFrom([]string{"", "", "g"}).Draw(t, "group")
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "stale") == 0 {
			p.Supersedes = pages[i-1].ID
		}
		pages = append(pages, p)
	}
	return pages
}

// TestManySessions mixes turns of two sessions with updates and removals: the
// budget is kept, a page that is superseded is no higher than its floor, and the
// trace replays.
func TestManySessions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var trace bytes.Buffer
		cfg := Config{Policy: drawPolicy(t), Budget: rapid.IntRange(5, 200).Draw(t, "budget")}
		tr, err := NewTracer(cfg, &trace)
		if err != nil {
			t.Fatal(err)
		}
		alive := drawShared(t)
		for _, p := range alive {
			if err := tr.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		for n := 1; n <= 15; n++ {
			drawOperation(t, tr, n, &alive)
			consistent(t, tr.Engine)
			if tr.Engine.out.Tokens > cfg.Budget {
				t.Fatalf("%d tokens over the budget of %d", tr.Engine.out.Tokens, cfg.Budget)
			}
		}
		if _, diff, err := Replay(&trace); diff != nil || err != nil {
			t.Fatalf("replay: %+v, %v", diff, err)
		}
	})
}

// consistent checks that rows and entries point at each other.
func consistent(t *rapid.T, e *Engine) {
	for _, s := range e.sessions {
		for i := range s.entries {
			r := &e.rows[s.entries[i].row]
			if r.gone || r.slots[s.id] != int32(i) {
				t.Fatalf("session %s: entry %d belongs to row %d, which says %v", s.name, i, s.entries[i].row, r.slots)
			}
			if i > 0 && i < s.sorted && e.rows[s.entries[i-1].row].page.ID >= r.page.ID {
				t.Fatalf("session %s: entries %d and %d are out of order", s.name, i-1, i)
			}
		}
	}
}
