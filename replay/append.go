package replay

import (
	"strconv"

	"github.com/memkernel/memkernel/cachelayout"
)

// lateSummary is the size of the summary of append-late.
const lateSummary = cachelayout.HostSummary

// Late appends until the prompt is over window − reserve. Then it compacts to a summary and the
// newest atoms.
type Late struct {
	History
	keep        int
	compactions int
}

func NewLate(rec *Recording, keep int) *Late {
	return &Late{History: History{Rec: rec}, keep: orElse(keep, cachelayout.HostKeep)}
}

func (p *Late) Choose(req Request) Choice {
	c := p.CompactIfFull(req)
	c.Items = p.Items(req.End)
	return c
}

// CompactIfFull compacts if the prompt would be larger than window − reserve. The kept atoms take
// at most a quarter of the room, unless the policy is set to keep more.
func (p *Late) CompactIfFull(req Request) (c Choice) {
	if p.Tokens(req.End) <= req.Room {
		return c
	}
	c.Cut = "full"
	c.Summarise(p.Tokens(req.End-1), 0, lateSummary)
	keep := p.keep
	if keep <= cachelayout.HostKeep {
		keep = min(keep, req.Room/4)
	}
	p.From = p.Newest(req.End, min(keep, req.Room-lateSummary))
	p.compactions++
	p.Lead = []Item{p.Rec.Summary(p.compactions, lateSummary)}
	return c
}

// Summary returns the item of the nth summary, which has so many tokens and no words.
func (r *Recording) Summary(n, tokens int) Item {
	it := r.Note("summary "+strconv.Itoa(n), "[summary of the session so far]")
	it.Tokens = max(it.Tokens, tokens)
	return it
}

// fullest shows every message of the session.
type fullest struct{ History }

func (p *fullest) Choose(req Request) Choice { return Choice{Items: p.Items(req.End)} }

func orElse(v, def int) int {
	if v > 0 {
		return v
	}
	return def
}
