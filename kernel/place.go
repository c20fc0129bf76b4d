package kernel

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// places says where every message stands: its atom, whether that is closed, and
// whether it belongs to the open tool loop.
func places(msgs []memkernel.Message) []pagevm.Place {
	out := make([]pagevm.Place, len(msgs))
	opener, open := transcript.OpenLoop(msgs)
	loop := opener
	for open && loop < len(msgs) && msgs[loop].Role != memkernel.RoleAssistant {
		loop++
	}
	for n, a := range transcript.Atoms(msgs) {
		for i := a.Start; i < a.End; i++ {
			out[i] = pagevm.Place{Atom: n, Closed: a.Closed}
			if open {
				out[i].Opener = i >= opener && i < loop
				out[i].InLoop = i >= loop
			}
		}
	}
	return out
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

// supersede marks evidence that a newer read or an edit of the same path made
// stale. It returns a copy; hosts stays as it is.
func supersede(hosts []pagevm.HostMessage, pages func(string) *pagevm.Page) []pagevm.HostMessage {
	out := append([]pagevm.HostMessage(nil), hosts...)
	newer := map[string]bool{}
	for i := len(out) - 1; i >= 0; i-- {
		for j := range out[i].Segments {
			s := &out[i].Segments[j]
			p := pages(s.Page)
			if p == nil || p.Path == "" {
				continue
			}
			if newer[p.Path] && !s.Superseded {
				segs := append([]pagevm.Segment(nil), out[i].Segments...)
				segs[j].Superseded = true
				out[i].Segments = segs
			}
			newer[p.Path] = true
		}
	}
	return out
}
