package kernel

import (
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// liftBase64 takes binary content out of the text of tool results, where a command
// printed it: no model reads it, and it costs a token for every three bytes. It is
// kept once, as a blob that the note in its place names. Images that a tool handed
// over as images stay as they are, and so does what the user says. Where nothing
// can be kept all stays.
func (w *work) liftBase64() {
	if !w.durable {
		return
	}
	for i := w.kept; i < len(w.msgs); i++ {
		for j := range w.msgs[i].Parts {
			w.liftPart(i, j)
		}
	}
}

func (w *work) liftPart(i, j int) {
	part := &w.msgs[i].Parts[j]
	if part.Result == nil || part.Result.Opaque || part.Result.Synthetic {
		return
	}
	var found []mask.Payload
	content := part.Result.Content
	for n := range content {
		if content[n].Kind != memkernel.PartText {
			continue
		}
		text, ps := w.s.masker.LiftBase64(content[n].Text)
		if ps == nil {
			continue
		}
		w.stats.LiftedBytes += int64(len(content[n].Text) - len(text))
		if found == nil {
			content = slices.Clone(content)
		}
		content[n] = memkernel.Part{Kind: memkernel.PartText, Text: text}
		found = append(found, ps...)
	}
	if found == nil {
		return
	}
	r := *part.Result
	r.Content = content
	w.ownMsgs()
	m := &w.msgs[i]
	m.Parts, m.Raw = slices.Clone(m.Parts), ""
	m.Parts[j] = memkernel.Part{Kind: part.Kind, Result: &r}
	if w.lifted == nil {
		w.lifted = map[string][]mask.Payload{}
	}
	w.lifted[ids.Evidence(w.req.Branch, r.CallID)] = found
}
