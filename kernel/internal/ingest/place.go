package ingest

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// Places returns the place of every message: its atom, whether the atom is closed, and whether the
// message belongs to the open tool loop. Unchanged messages keep their atoms. The last atom that
// the assistant spoke in, and all later atoms, may still grow. Callers must have called Absorb.
func (b *Batch) Places() []pagevm.Place {
	known, msgs := b.before.Places, b.Msgs
	out := make([]pagevm.Place, len(msgs))
	from := settled(known, msgs[:min(b.Absorbed, len(known))])
	atom := 0
	for i := range from {
		out[i] = pagevm.Place{Atom: known[i].Atom, Closed: known[i].Closed}
		atom = known[i].Atom + 1
	}
	opener, open := transcript.OpenLoop(msgs)
	loop := opener
	for open && loop < len(msgs) && msgs[loop].Role != memkernel.RoleAssistant {
		loop++
	}
	for n, a := range transcript.Atoms(msgs[from:]) {
		for i := from + a.Start; i < from+a.End; i++ {
			out[i] = pagevm.Place{Atom: atom + n, Closed: a.Closed}
		}
	}
	for i := opener; open && i < len(msgs); i++ {
		out[i].Opener, out[i].InLoop = i < loop, i >= loop
	}
	return out
}

// settled returns the start of the last atom that the assistant spoke in. The atoms before it
// never change, because the results of a call come before the assistant speaks again.
func settled(known []pagevm.Place, msgs []memkernel.Message) int {
	i := len(msgs) - 1
	for i >= 0 && msgs[i].Role != memkernel.RoleAssistant {
		i--
	}
	for i > 0 && known[i-1].Atom == known[i].Atom {
		i--
	}
	return max(i, 0)
}
