package policies

import (
	"strconv"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

// edits shows results of a history in another form.
type edits struct {
	of *replay.History
	// forms is what replaces a result, by message and part.
	forms map[string]string
}

func editsOf(h *replay.History) edits { return edits{of: h, forms: map[string]string{}} }

// result is a tool result that is shown, by message and part.
type result struct{ message, part int }

// results lists the tool results before message end, oldest first.
func (h *edits) results(end int) []result {
	var out []result
	for i := h.of.From; i < end; i++ {
		for j := range h.of.Rec.Messages[i].Parts {
			if h.of.Rec.Messages[i].Parts[j].Result != nil {
				out = append(out, result{i, j})
			}
		}
	}
	return out
}

func (h *edits) part(r result) *memkernel.Part { return &h.of.Rec.Messages[r.message].Parts[r.part] }

// replace shows text in place of a result's content from now on. It returns how
// many tokens that saves.
func (h *edits) replace(r result, text string) int {
	before := h.of.At(r.message).Tokens
	h.forms[formKey(r)] = text
	m := h.of.Rec.Messages[r.message]
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
	it := h.of.Rec.Item(hash, m)
	h.of.Other[r.message] = it
	return before - it.Tokens
}

func formKey(r result) string { return strconv.Itoa(r.message) + "/" + strconv.Itoa(r.part) }

// form returns what a result shows in place of its own text, "" for itself.
func (h *edits) form(r result) string { return h.forms[formKey(r)] }

// withText returns a part with a result whose content is a text.
func withText(p memkernel.Part, text string) memkernel.Part {
	c := *p.Result
	c.Content, c.Text = []memkernel.Part{{Kind: memkernel.PartText, Text: text}}, true
	p.Result = &c
	return p
}

// begin drops the messages before from. A provider takes no prompt that begins with
// an answer or a result, so a line is in front of one.
func begin(h *replay.History, from int) {
	h.From, h.Lead = from, h.Lead[:0]
	if from > 0 && from < len(h.Rec.Messages) && !transcript.PlainUser(h.Rec.Messages[from]) {
		h.Lead = append(h.Lead, h.Rec.Note("left out", leftOut))
	}
}

const leftOut = "[Earlier messages were left out.]"
