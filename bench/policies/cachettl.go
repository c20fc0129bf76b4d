package policies

import (
	"fmt"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/replay"
)

// The defaults of OpenClaw's "cache-ttl" pruning (docs.openclaw.ai,
// concepts/session-pruning and gateway/configuration, 2026): sizes in characters,
// shares of the window at four characters a token.
const (
	pruneKeepAnswers = 3
	pruneSoftShare   = 0.3
	pruneHardShare   = 0.5
	pruneMinChars    = 50_000
	pruneSoftChars   = 4_000
	pruneSoftEnd     = 1_500 // kept of either end
	pruneChars       = 4     // per token
	pruned           = "[Old tool result content cleared]"
)

// cacheTTL appends, shortens old tool results when the cache has expired, and keeps
// them so. It compacts as append-late does once the window is full.
type cacheTTL struct {
	*replay.Late
	edits
	hardShare float64
}

// newCacheTTL takes the share of the window at which results are cleared, in per
// cent; 0 is the default.
func newCacheTTL(rec *replay.Recording, percent int) replay.Chooser {
	late := replay.NewLate(rec, 0)
	p := &cacheTTL{Late: late, edits: editsOf(&late.History), hardShare: pruneHardShare}
	if percent > 0 {
		p.hardShare = float64(percent) / 100
	}
	return p
}

func (p *cacheTTL) Choose(req replay.Request) replay.Choice {
	cut := ""
	if req.Cold && req.N > 0 && p.prune(req) {
		cut = "ttl"
	}
	c := p.CompactIfFull(req)
	if c.Cut == "" {
		c.Cut = cut
	}
	c.Items = p.Items(req.End)
	return c
}

// prune shortens large results, and clears the oldest ones if that did not do. It
// reports whether anything changed.
func (p *cacheTTL) prune(req replay.Request) (changed bool) {
	room := float64(req.Window) * pruneChars
	size := p.chars(req.End) + p.Rec.Opt.FixedTokens*pruneChars
	old := p.results(p.protected(req.End))
	if float64(size) < min(pruneSoftShare, p.hardShare)*room {
		return false
	}
	left := 0
	for _, r := range old {
		n, saved := p.soften(r)
		size, left, changed = size-saved, left+n-saved, changed || saved > 0
	}
	if left < pruneMinChars {
		return changed
	}
	for _, r := range old {
		if float64(size) < p.hardShare*room {
			break
		}
		if saved := p.empty(r); saved > 0 {
			size, changed = size-saved, true
		}
	}
	return changed
}

// protected returns where the newest answers begin, whose results stay.
func (p *cacheTTL) protected(end int) int {
	left := pruneKeepAnswers
	for i := end - 1; i >= p.From; i-- {
		if p.Rec.Messages[i].Role != memkernel.RoleAssistant {
			continue
		}
		if left--; left == 0 {
			return i
		}
	}
	return p.From
}

func (p *cacheTTL) chars(end int) int {
	n := 0
	for i := p.From; i < end; i++ {
		n += utf8.RuneCountInString(p.At(i).Text)
	}
	return n
}

// soften keeps the two ends of a large result. It returns the size before, and what
// was saved.
func (p *cacheTTL) soften(r result) (chars, saved int) {
	text, media := replay.ResultText(p.part(r))
	if form := p.form(r); form != "" {
		return utf8.RuneCountInString(form), 0
	}
	n := utf8.RuneCountInString(text)
	if media || n <= pruneSoftChars {
		return n, 0
	}
	t := []rune(text)
	short := fmt.Sprintf("%s\n...\n%s\n[shortened from %d characters]", string(t[:pruneSoftEnd]), string(t[n-pruneSoftEnd:]), n)
	p.replace(r, short)
	return n, n - utf8.RuneCountInString(short)
}

func (p *cacheTTL) empty(r result) (saved int) {
	text, media := replay.ResultText(p.part(r))
	if form := p.form(r); form != "" {
		text = form
	}
	if saved = utf8.RuneCountInString(text) - len(pruned); media || saved <= 0 {
		return 0
	}
	p.replace(r, pruned)
	return saved
}
