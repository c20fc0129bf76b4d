package plan

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/retrieval"
)

// merger merges the kernel's hits and the records of other systems into one order. Their scores
// can't be compared. It therefore takes one from each in turn, the kernel's hit first, so that
// the best of each comes before the second of any. A hit that both found is kept once, in the
// kernel's words and at the better of the two places.
type merger struct {
	// prompt are the texts that the prompt shows, in the form for comparison.
	prompt []string
	hits   []retrieval.Hit
	// taken are the texts of hits, in the form for comparison.
	taken []string
	// leave notes a hit that is left out.
	leave func(*retrieval.Hit, retrieval.LeftReason)
}

// mergeHits orders the hits, and returns the hits that are left out. The hits in first come first.
// The kernel's own hits and the records follow in turn. If there are far more records than fit,
// the rest of the records are not compared.
func mergeHits(p prompt, l *Limits, first, own []retrieval.Hit, records []memoryRecord) (hits []retrieval.Hit, left []api.Excluded) {
	if len(records) == 0 {
		return append(first, own...), nil
	}
	m := &merger{prompt: promptTexts(p)}
	m.leave = func(h *retrieval.Hit, why retrieval.LeftReason) { left = append(left, leftOut(p.Call, l, h, string(why))) }
	if n := 2 * recallSpans; len(records) > n {
		for i := range records[n:] {
			m.leave(&records[n+i].hit, retrieval.OverItems)
		}
		records = records[:n]
	}
	for _, h := range first {
		m.take(h)
	}
	for n := 0; len(own) > 0 || n < len(records); n++ {
		if len(own) > 0 {
			m.own(own[0])
			own = own[1:]
		}
		if n < len(records) {
			own = m.foreign(records[n].hit, own)
		}
	}
	return m.hits, left
}

func (m *merger) take(h retrieval.Hit) {
	m.hits = append(m.hits, h)
	m.taken = append(m.taken, bareWords(h.Text))
}

// own takes a hit of the kernel, unless a record already says the same.
func (m *merger) own(h retrieval.Hit) {
	for i := range m.hits {
		if m.hits[i].Kind == retrieval.Foreign && says(m.taken[i:i+1], h.Text) {
			m.leave(&h, retrieval.Duplicate)
			return
		}
	}
	m.take(h)
}

// foreign takes a record, unless the prompt or a hit says the same. If a waiting hit of the
// kernel says the same, the hit takes the record's place. foreign returns the hits that keep
// waiting.
func (m *merger) foreign(h retrieval.Hit, waiting []retrieval.Hit) []retrieval.Hit {
	switch {
	case says(m.prompt, h.Text):
		m.leave(&h, retrieval.ShownAlready)
		return waiting
	case says(m.taken, h.Text):
		m.leave(&h, retrieval.Duplicate)
		return waiting
	}
	for i := range waiting {
		if says([]string{bareWords(waiting[i].Text)}, h.Text) {
			m.leave(&h, retrieval.Duplicate)
			m.own(waiting[i])
			return slices.Delete(slices.Clone(waiting), i, i+1)
		}
	}
	m.take(h)
	return waiting
}

// promptTexts returns all texts in the prompt, in the form for comparison: the host's system
// prompt and messages, and the kernel's own blocks.
func promptTexts(p prompt) []string {
	var out []string
	add := func(text string) {
		if text != "" {
			out = append(out, bareWords(text))
		}
	}
	for i := range p.Request.System {
		add(p.Request.System[i].Text)
	}
	eachShown(p, add)
	for i := range p.proj.Carry {
		add(p.text(p.texts, p.proj.Carry[i].Hash))
	}
	for i := range p.proj.Items {
		if k := p.proj.Items[i].Kind; k == pagevm.ItemNote || k == pagevm.ItemRetrieval {
			add(p.text(p.texts, p.proj.Items[i].Hash))
		}
	}
	return out
}

// says reports whether most lines of a text occur in one of texts. A line of one short word says
// too little to be looked for.
func says(texts []string, text string) bool {
	all, there := 0, 0
	for l := range strings.SplitSeq(text, "\n") {
		l = bareWords(l)
		if len(l) < minLine && strings.Count(l, " ") < 3 {
			continue
		}
		all += len(l)
		if slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, l) }) {
			there += len(l)
		}
	}
	return all > 0 && 5*there >= 4*all
}

// bareWords returns the words of a text in small letters, each between spaces, without the marks
// of lists, headings and emphasis, and without line ends.
func bareWords(text string) string {
	b := make([]byte, 1, len(text)+2)
	b[0] = ' '
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b = append(b, byte(r))
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			b = utf8.AppendRune(b, unicode.ToLower(r))
		case b[len(b)-1] != ' ':
			b = append(b, ' ')
		}
	}
	if b[len(b)-1] != ' ' {
		b = append(b, ' ')
	}
	return string(b)
}
