package replay

import (
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// history is the part of the recording that a policy still shows: the messages
// from one on, some with results in another form, and a summary in front of them.
type history struct {
	rec  *recording
	from int
	// lead is in front of the messages once some left.
	lead []item
	// other holds the messages that are not shown as they were, forms what
	// replaces a result, by call.
	other map[int]item
	forms map[string]string
}

func newHistory(rec *recording) history {
	return history{rec: rec, other: map[int]item{}, forms: map[string]string{}}
}

// at returns message i as it is shown.
func (h *history) at(i int) *item {
	if it, ok := h.other[i]; ok {
		return &it
	}
	return &h.rec.items[i]
}

// items lists what is before message end.
func (h *history) items(end int) []item {
	out := make([]item, 0, len(h.lead)+end-h.from)
	out = append(out, h.lead...)
	for i := h.from; i < end; i++ {
		out = append(out, *h.at(i))
	}
	return out
}

// tokens returns the size of items.
func (h *history) tokens(end int) int {
	n := 0
	for i := range h.lead {
		n += h.lead[i].tokens
	}
	for i := h.from; i < end; i++ {
		n += h.at(i).tokens
	}
	return n
}

// result is a tool result that is shown, by message and part.
type result struct{ message, part int }

// results lists the tool results before message end, oldest first.
func (h *history) results(end int) []result {
	var out []result
	for i := h.from; i < end; i++ {
		for j := range h.rec.msgs[i].Parts {
			if h.rec.msgs[i].Parts[j].Result != nil {
				out = append(out, result{i, j})
			}
		}
	}
	return out
}

func (h *history) part(r result) *memkernel.Part { return &h.rec.msgs[r.message].Parts[r.part] }

// replace shows text in place of a result's content from now on. It returns how
// many tokens that saves.
func (h *history) replace(r result, text string) int {
	before := h.at(r.message).tokens
	h.forms[formKey(r)] = text
	m := h.rec.msgs[r.message]
	m.Raw, m.Parts = "", append([]memkernel.Part(nil), m.Parts...)
	hash := "m" + strconv.Itoa(r.message)
	for j := range m.Parts {
		form, ok := h.forms[formKey(result{r.message, j})]
		if !ok {
			continue
		}
		m.Parts[j] = withText(m.Parts[j], form)
		hash += "/" + strconv.Itoa(j) + ":" + strconv.Itoa(len(form))
	}
	it := h.rec.item(hash, m)
	h.other[r.message] = it
	return before - it.tokens
}

func formKey(r result) string { return strconv.Itoa(r.message) + "/" + strconv.Itoa(r.part) }

// form returns what a result shows in place of its own text, "" for itself.
func (h *history) form(r result) string { return h.forms[formKey(r)] }

// withText returns a part with a result whose content is a text.
func withText(p memkernel.Part, text string) memkernel.Part {
	c := *p.Result
	c.Content, c.Text = []memkernel.Part{{Kind: memkernel.PartText, Text: text}}, true
	p.Result = &c
	return p
}

// textOf returns the text of a result; media reports whether it holds
// something else too.
func textOf(p *memkernel.Part) (text string, media bool) {
	var b strings.Builder
	for i := range p.Result.Content {
		c := &p.Result.Content[i]
		media = media || c.Kind != memkernel.PartText
		b.WriteString(c.Text)
	}
	return b.String(), media || p.Result.Opaque
}

// begin drops the messages before from. A provider takes no prompt that begins with
// an answer or a result, so a line is in front of one.
func (h *history) begin(from int) {
	h.from, h.lead = from, h.lead[:0]
	if from > 0 && from < len(h.rec.msgs) && !transcript.PlainUser(h.rec.msgs[from]) {
		h.lead = append(h.lead, h.rec.note("left out", leftOut))
	}
}

const leftOut = "[Earlier messages were left out.]"

// newest returns where the newest whole atoms within keep tokens begin. The newest
// atom is kept whatever its size.
func (h *history) newest(end, keep int) int {
	atoms := transcript.Atoms(h.rec.msgs[:end])
	from, n := end, 0
	for i := len(atoms) - 1; i >= 0 && atoms[i].Start >= h.from; i-- {
		for j := atoms[i].Start; j < atoms[i].End; j++ {
			n += h.at(j).tokens
		}
		if from < end && n > keep {
			break
		}
		from = atoms[i].Start
	}
	return from
}
