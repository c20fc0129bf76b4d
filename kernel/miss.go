package kernel

import (
	"fmt"
	"maps"
	"regexp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// The faults by which a prompt that lacked something shows itself, after ClawVM
// (EuroMLSys 2026, section 3), and the alert of the same form.
// reads are what the model has read so far, by canonical call: the page of the
// newest result. They are a line's, and never changed once made.
type reads struct {
	pages map[string]string
	// messages is how many of the line's messages they cover.
	messages int
}

// misses looks at what the model did since the last plan for signs that the prompt
// of that plan lacked something. The first plan of a process, and one after the host
// rewrote its past, have nothing to be judged by.
func (w *work) misses() {
	if w.prev.planID == "" || w.align.Rewrite != pagevm.RewriteNone {
		w.next.reads = reads{}
		return
	}
	from := len(w.prev.proj.Seen)
	if !w.calledSince(from) {
		return
	}
	known := w.prev.reads
	if known.pages = maps.Clone(known.pages); known.pages == nil {
		known.pages = map[string]string{}
	}
	for i := known.messages; i < len(w.msgs); i++ {
		for j := range w.hosts[i].Segments {
			w.look(i, &w.hosts[i].Segments[j], known.pages, i >= from)
		}
	}
	known.messages = len(w.msgs)
	w.next.reads = known
}

// calledSince tells whether any result came in from a message on.
func (w *work) calledSince(from int) bool {
	for i := from; i < len(w.hosts); i++ {
		for j := range w.hosts[i].Segments {
			if w.hosts[i].Segments[j].Kind == pagevm.ItemResult {
				return true
			}
		}
	}
	return false
}

// look files the result of a read, and judges it if it is new.
func (w *work) look(i int, s *pagevm.Segment, known map[string]string, fresh bool) {
	if s.Kind != pagevm.ItemResult {
		return
	}
	call := w.next.calls[w.msgs[i].Parts[s.Part].Result.CallID]
	if call == nil {
		return
	}
	if fresh && w.req.Resolver != "" && call.Name == w.req.Resolver {
		w.refetched(w.hosts[i].Key, call)
		return
	}
	if kind, _ := pagevm.ClassifyCall(call.Name, call.Input); kind != pagevm.CallRead {
		return
	}
	signature := pagevm.CanonicalCall(call.Name, call.Input)
	if before := known[signature]; fresh && before != "" {
		w.again(w.hosts[i].Key, call, w.page(before), w.page(s.Page))
	}
	known[signature] = s.Page
}

// again judges a read that was made before. If the file has changed it was needed.
func (w *work) again(key string, call *memkernel.ToolCall, before, now *pagevm.Page) {
	if before == nil || now == nil || before.ID == now.ID || before.Hash != now.Hash {
		return
	}
	level := w.shownBefore(before.ID)
	f := Fault{Code: FaultDuplicateTool, Page: before.ID, Key: w.hostKey(key), Cause: level.String(), Plan: w.prev.planID,
		Detail: fmt.Sprintf("%s %s ran again with the same result; its first one stood as %s, generation %d", call.Name, before.Path, level, w.prev.proj.Generation)}
	if level == pagevm.Full {
		f.Code, f.Cause = AlertDuplicateSignature, ""
		w.alerts = append(w.alerts, f)
		return
	}
	w.fault(f)
}

// handle is the form of the ids that pointers and spans are read by.
var handle = regexp.MustCompile(`\b(?:ev|cv|sp|rm|ws|nt|rt|pn)-[0-9a-f]{16}\b`)

// refetched notes the pages that the model asked for by their handles.
func (w *work) refetched(key string, call *memkernel.ToolCall) {
	for _, id := range handle.FindAllString(call.Input, -1) {
		if level := w.shownBefore(id); level != pagevm.Full {
			w.fault(Fault{Code: FaultRefetch, Page: id, Key: w.hostKey(key), Cause: level.String(), Plan: w.prev.planID,
				Detail: fmt.Sprintf("the model fetched what stood as %s, generation %d", level, w.prev.proj.Generation)})
		}
	}
}

// shownBefore is how the last plan showed a page.
func (w *work) shownBefore(id string) pagevm.Level { return levelIn(w.prev.proj, id) }
