package replay

import (
	"strconv"

	"github.com/memkernel/memkernel/cachelayout"
)

// lateSummary is the size of the summary of append-late.
const lateSummary = cachelayout.HostSummary

// appendLate appends until the prompt is over window − reserve, and compacts then:
// a summary and the newest atoms stay.
type appendLate struct {
	history
	keep        int
	compactions int
}

func newAppendLate(rec *recording, keep int) *appendLate {
	return &appendLate{history: newHistory(rec), keep: orElse(keep, cachelayout.HostKeep)}
}

func (p *appendLate) choose(req request) choice {
	c := p.compactIfFull(req)
	c.items = p.items(req.end)
	return c
}

// compactIfFull compacts if the prompt would be over window − reserve. What is kept
// is at most a quarter of the room unless more was asked for.
func (p *appendLate) compactIfFull(req request) (c choice) {
	if p.tokens(req.end) <= req.room {
		return c
	}
	c.cut = "full"
	c.summarise(p.tokens(req.end-1), 0, lateSummary)
	keep := p.keep
	if keep <= cachelayout.HostKeep {
		keep = min(keep, cachelayout.HostKeeps(req.room))
	}
	p.from = p.newest(req.end, min(keep, req.room-lateSummary))
	p.compactions++
	p.lead = []item{p.rec.summary(p.compactions, lateSummary)}
	return c
}

// summary returns the item of the nth summary, of so many tokens unless its words are more.
func (r *recording) summary(n, tokens int) item {
	text := "[summary of the session so far]"
	if r.opt.Summary != nil {
		text += "\n" + r.opt.Summary(r.msgs, tokens)
	}
	it := r.note("summary "+strconv.Itoa(n), text)
	it.tokens = max(it.tokens, tokens)
	return it
}

// fullest shows everything ever said.
type fullest struct{ history }

func (p *fullest) choose(req request) choice { return choice{items: p.items(req.end)} }

func orElse(v, def int) int {
	if v > 0 {
		return v
	}
	return def
}
