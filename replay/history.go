package replay

import (
	"github.com/memkernel/memkernel/transcript"
)

// History is the part of the recording that a policy still shows. It is a run of the newest
// messages, some with results in another form, and a summary in front of the messages.
type History struct {
	Rec  *Recording
	From int
	// Lead is in front of the messages once older messages have left.
	Lead []Item
	// Other holds the messages that are shown in a changed form.
	Other map[int]Item
}

// At returns message i as it is shown.
func (h *History) At(i int) *Item {
	if it, ok := h.Other[i]; ok {
		return &it
	}
	return &h.Rec.Items[i]
}

// Items lists the items before message end.
func (h *History) Items(end int) []Item {
	out := make([]Item, 0, len(h.Lead)+end-h.From)
	out = append(out, h.Lead...)
	for i := h.From; i < end; i++ {
		out = append(out, *h.At(i))
	}
	return out
}

// Tokens returns the size of items.
func (h *History) Tokens(end int) int {
	n := 0
	for i := range h.Lead {
		n += h.Lead[i].Tokens
	}
	for i := h.From; i < end; i++ {
		n += h.At(i).Tokens
	}
	return n
}

// Newest returns the index of the first message of the newest whole atoms that fit into keep
// tokens. The newest atom is kept whatever its size.
func (h *History) Newest(end, keep int) int {
	atoms := transcript.Atoms(h.Rec.Messages[:end])
	from, n := end, 0
	for i := len(atoms) - 1; i >= 0 && atoms[i].Start >= h.From; i-- {
		for j := atoms[i].Start; j < atoms[i].End; j++ {
			n += h.At(j).Tokens
		}
		if from < end && n > keep {
			break
		}
		from = atoms[i].Start
	}
	return from
}
