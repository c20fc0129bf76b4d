package kernel

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

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
// a copy; w.Hosts stays as it is.
func (w *work) supersede() []pagevm.HostMessage {
	out := append([]pagevm.HostMessage(nil), w.Hosts...)
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
	call := w.Calls[w.Msgs[i].Parts[s.Part].Result.CallID]
	if call == nil {
		return ""
	}
	if look, _ := toolcall.Looks(call.Name, call.Input); look == toolcall.LookAct {
		return ""
	}
	return toolcall.Canonical(call.Name, call.Input)
}
