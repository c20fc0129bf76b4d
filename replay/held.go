package replay

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/replay/recall"
)

// held counts the text of the agent's files in prompts.
type held struct {
	// Fresh and Changed have the lines that edits quote, by whether the file was edited after the
	// agent last read it.
	Fresh, Changed recall.Quoted
	// Dead is the text of results, right after a cut, whose files were deleted, written over or
	// read whole since. Finished is that of the newest results whose files belong to a finished
	// task.
	Dead, Finished textShare
}

// textShare counts tokens, and those of them that are shown in full.
type textShare struct{ Tokens, Shown int }

func (h *held) add(o *held) {
	h.Fresh.Add(o.Fresh)
	h.Changed.Add(o.Changed)
	h.Dead.add(o.Dead.Tokens, o.Dead.Shown)
	h.Finished.add(o.Finished.Tokens, o.Finished.Shown)
}

func (s *textShare) add(tokens, shown int) { s.Tokens, s.Shown = s.Tokens+tokens, s.Shown+shown }

// newestTokens is the part of the conversation, from its end, in which Finished looks. Our choice:
// older results have left most prompts anyway.
const newestTokens = 25_000

// hold counts the dead and finished text of a prompt that is sent after `end` messages.
func (h *held) hold(j *judge, prompt []memkernel.Message, end int) {
	full := map[string]string{}
	for i := range prompt {
		for k := range prompt[i].Parts {
			if r := prompt[i].Parts[k].Result; r != nil {
				full[r.CallID] = recall.TextOf(memkernel.Message{Parts: prompt[i].Parts[k : k+1]})
			}
		}
	}
	newest := end
	for n := 0; newest > 0 && n < newestTokens; newest-- {
		n += j.rec.Items[newest-1].Tokens
	}
	for _, r := range j.tracker.FileResults() {
		tokens, shown := j.rec.size(r.Place), 0
		if text, ok := full[r.Place.CallID]; ok && text == r.Text {
			shown = tokens
		}
		if r.Dead {
			h.Dead.add(tokens, shown)
		}
		if r.Finished && r.Place.Message >= newest {
			h.Finished.add(tokens, shown)
		}
	}
}
