package plan

import (
	"fmt"
	"regexp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// The faults by which a prompt that lacked something shows itself, after ClawVM
// (EuroMLSys 2026, section 3), and the alert of the same form.
// misses looks at what the model did since the last plan for signs that the prompt
// of that plan lacked something. The first plan of a process, and one after the host
// rewrote its past, have nothing to be judged by.
func misses(m *measured) {
	if m.Prev.Plan == "" || m.Align.Rewrite != pagevm.RewriteNone {
		m.ran = branch.Ran{}
		return
	}
	from := len(m.Prev.Proj.Seen)
	if !m.calledSince(from) {
		return
	}
	j := repeats{m: m, Ran: m.Prev.Ran.Clone(), from: from, calls: map[string]*memkernel.ToolCall{}}
	for i := j.Messages; i < len(m.Msgs); i++ {
		j.message(i)
	}
	j.Messages = len(m.Msgs)
	m.ran = j.Ran
}

// repeats files what ran, and judges what ran behind message from, which the last plan
// did not show yet. calls are those met by id: hosts use ids again.
type repeats struct {
	branch.Ran
	m     *measured
	from  int
	calls map[string]*memkernel.ToolCall
}

func (j *repeats) message(i int) {
	for k := range j.m.Msgs[i].Parts {
		if c := j.m.Msgs[i].Parts[k].Call; c != nil {
			j.calls[c.ID] = c
		}
	}
	for k := range j.m.Hosts[i].Segments {
		if s := &j.m.Hosts[i].Segments[k]; s.Kind == pagevm.ItemResult {
			j.result(i, s)
		}
	}
}

// result files a result, and judges it if it is new.
func (j *repeats) result(i int, s *pagevm.Segment) {
	r := j.m.Msgs[i].Parts[s.Part].Result
	call := j.calls[r.CallID]
	if call == nil {
		call = j.m.Calls[r.CallID]
	}
	page := j.m.Page(s.Page)
	if call == nil || page == nil {
		return
	}
	if j.m.req.Resolver != "" && call.Name == j.m.req.Resolver {
		if i >= j.from {
			refetched(j.m, j.m.Hosts[i].Key, call)
		}
		return
	}
	look, of := toolcall.Looks(call.Name, call.Input)
	j.Ran.Calls++
	if look == toolcall.LookMoving {
		j.Acts[timePasses] = j.Ran.Calls
		return
	}
	if look != toolcall.LookAct {
		key := ids.Hash(toolcall.Canonical(call.Name, call.Input))
		said, nothing := outcome(page, r)
		if nothing { // which may be otherwise after an edit
			of = append(of, toolcall.Files)
		}
		now := branch.Run{Page: s.Page, Said: said, Call: j.Ran.Calls, At: i}
		before, again := j.Last[key]
		now.Moved = again && (before.Moved || before.Said != now.Said)
		if again && i >= j.from && before.At < j.from && before.Said == now.Said && !j.asksAnew(look, of, before) {
			j.again(j.m.Hosts[i].Key, call, before.Page)
		}
		j.Last[key] = now
	}
	if look == toolcall.LookAct || look == toolcall.LookUnknown {
		for _, what := range of {
			j.Acts[what] = j.Ran.Calls
		}
	}
}

// timePasses is what a call changes that waits.
const timePasses = "time"

// asksAnew tells whether an equal call had a reason to run again, though it came to the
// same: something was done that it may depend on, or it asks how things stand, which
// has changed before, or nothing was done meanwhile but wait.
func (j *repeats) asksAnew(look toolcall.Look, of []string, before branch.Run) bool {
	for _, what := range of {
		if j.Acts[what] > before.Call {
			return true
		}
	}
	return look != toolcall.LookContent && (before.Moved || before.Call == j.Ran.Calls-1 || j.Acts[timePasses] > before.Call)
}

// outcome is the hash of what a result says, without what is new on every run, and
// whether it came to nothing.
func outcome(page *pagevm.Page, r *memkernel.ToolResult) (hash string, nothing bool) {
	text := ingest.ResultText(r)
	said, nothing := toolcall.CanonicalResult(text)
	if said != text {
		return ids.Hash(said), nothing
	}
	return page.Hash, nothing
}

// again judges a call that ran before and came to the same.
func (j *repeats) again(key string, call *memkernel.ToolCall, page string) {
	level := j.m.shownBefore(page)
	what := call.Name
	if p := j.m.Page(page); p != nil && p.Path != "" {
		what += " " + p.Path
	}
	f := ingest.Fault{Code: FaultDuplicateTool, Page: page, Key: j.m.HostKey(key), Cause: level.String(), Plan: j.m.Prev.Plan,
		Detail: fmt.Sprintf("%s ran again with the same result; its first one stood as %s, generation %d", what, level, j.m.Prev.Proj.Generation)}
	if level == pagevm.Full {
		f.Code, f.Cause = AlertDuplicateSignature, ""
		j.m.log.alerts = append(j.m.log.alerts, f)
		return
	}
	j.m.fault(f)
}

// handle is the form of the ids that pointers and spans are read by.
var handle = regexp.MustCompile(`\b(?:ev|cv|sp|rm|ws|nt|rt|pn)-[0-9a-f]{16}\b`)

// refetched notes the pages that the model asked for by their handles.
func refetched(m *measured, key string, call *memkernel.ToolCall) {
	for _, id := range handle.FindAllString(call.Input, -1) {
		if level := m.shownBefore(id); level != pagevm.Full {
			m.fault(ingest.Fault{Code: FaultRefetch, Page: id, Key: m.HostKey(key), Cause: level.String(), Plan: m.Prev.Plan,
				Detail: fmt.Sprintf("the model fetched what stood as %s, generation %d", level, m.Prev.Proj.Generation)})
		}
	}
}

// shownBefore is how the last plan showed a page.
func (m *measured) shownBefore(id string) pagevm.Level { return LevelIn(m.Prev.Proj, id) }
