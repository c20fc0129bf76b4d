package kernel

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/transcript"
)

// places says where every message stands: its atom, whether that is closed, and
// whether it belongs to the open tool loop. The first kept messages are those that
// known is about: their atoms are taken over, but for the last that the assistant
// spoke in, and all behind it, which may go on.
func places(known []pagevm.Place, kept int, msgs []memkernel.Message) []pagevm.Place {
	out := make([]pagevm.Place, len(msgs))
	from := settled(known, msgs[:min(kept, len(known))])
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

// settled is where the last atom begins that the assistant spoke in. In front of
// it nothing changes however the conversation goes on: the results of a call stand
// before the assistant speaks again.
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

// growth gives the tokens that each of the last n calls added, oldest first: an
// assistant atom, and the user's words since the atom before.
func growth(hosts []pagevm.HostMessage, at []pagevm.Place, n int) []int {
	var out []int
	sum := 0
	for i := len(hosts) - 1; i >= 0 && len(out) < n; i-- {
		sum += hosts[i].Tokens()
		if hosts[i].Role == memkernel.RoleAssistant && (i == 0 || at[i-1].Atom != at[i].Atom) {
			out = append(out, sum)
			sum = 0
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// supersede marks evidence that was replaced: by a newer read or an edit of the same
// path, and where a call names none by the same call, if it acts on nothing. It returns
// a copy; w.hosts stays as it is.
func (w *work) supersede() []pagevm.HostMessage {
	out := append([]pagevm.HostMessage(nil), w.hosts...)
	newer := map[string]bool{}
	for i := len(out) - 1; i >= 0; i-- {
		for j := range out[i].Segments {
			s := &out[i].Segments[j]
			what := w.evidenceOf(i, s)
			if what == "" {
				continue
			}
			if newer[what] && !s.Superseded {
				segs := append([]pagevm.Segment(nil), out[i].Segments...)
				segs[j].Superseded = true
				out[i].Segments = segs
			}
			newer[what] = true
		}
	}
	return out
}

// evidenceOf names what a segment shows, "" if nothing can replace it.
func (w *work) evidenceOf(i int, s *pagevm.Segment) string {
	p := w.page(s.Page)
	switch {
	case p == nil:
		return ""
	case p.Path != "" || s.Kind != pagevm.ItemResult:
		return p.Path
	}
	call := w.next.Calls[w.msgs[i].Parts[s.Part].Result.CallID]
	if call == nil {
		return ""
	}
	if look, _ := toolcall.Looks(call.Name, call.Input); look == toolcall.LookAct {
		return ""
	}
	return toolcall.Canonical(call.Name, call.Input)
}
