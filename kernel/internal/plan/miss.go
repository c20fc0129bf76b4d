package plan

import (
	"fmt"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// misses looks at the model's calls since the last plan for signs that the prompt of that plan
// lacked something. It reports them as the faults of ClawVM (EuroMLSys 2026, section 3), and as
// the alert of the same form. It judges neither the first plan of a process nor a plan after the
// host rewrote its past. It returns the calls that ran, and the number of pages that the model
// used while the prompt showed them.
func misses(c *Call) (branch.Ran, int) {
	if c.Prev.Plan == "" || c.Align.Rewrite != pagevm.RewriteNone {
		return branch.Ran{}, 0
	}
	from := len(c.Prev.Proj.Seen)
	if !c.calledSince(from) {
		return c.Prev.Ran, 0
	}
	j := repeats{c: c, Ran: c.Prev.Ran.Clone(), from: from, calls: map[string]*memkernel.ToolCall{}, hit: map[string]bool{}}
	for i := j.Messages; i < len(c.Msgs); i++ {
		j.message(i)
	}
	j.Messages = len(c.Msgs)
	return j.Ran, len(j.hit)
}

// repeats records the calls that ran, and judges the calls after message from, which the last
// plan did not show yet. calls holds the calls so far by id, since hosts use ids again. hit holds
// the pages that the model used while the prompt showed them.
type repeats struct {
	branch.Ran
	c     *Call
	from  int
	calls map[string]*memkernel.ToolCall
	hit   map[string]bool
}

func (j *repeats) message(i int) {
	for k := range j.c.Msgs[i].Parts {
		if c := j.c.Msgs[i].Parts[k].Call; c != nil {
			j.calls[c.ID] = c
		}
	}
	for k := range j.c.Hosts[i].Segments {
		if s := &j.c.Hosts[i].Segments[k]; s.Kind == pagevm.ItemResult {
			j.result(i, s)
		}
	}
}

// result files a result, and judges it if it is new.
func (j *repeats) result(i int, s *pagevm.Segment) {
	r := j.c.Msgs[i].Parts[s.Part].Result
	call := j.calls[r.CallID]
	if call == nil {
		call = j.c.Maker.Calls[r.CallID]
	}
	page := j.c.Page(s.Page)
	if call == nil || page == nil {
		return
	}
	if j.c.Request.Resolver != "" && call.Name == j.c.Request.Resolver {
		if i >= j.from {
			j.refetched(j.c.Hosts[i].Key, call)
		}
		return
	}
	look, of := toolcall.Looks(call.Name, call.Input)
	j.Ran.Calls++
	if look == toolcall.LookMoving {
		j.Acts[timePasses] = j.Ran.Calls
		return
	}
	about := j.About[page.Path]
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
			j.again(j.c.Hosts[i].Key, call, before.Page)
			about = branch.About{}
		}
		j.Last[key] = now
		if page.Path != "" {
			j.About[page.Path] = branch.About{Page: s.Page, At: i}
		}
	}
	if about.Page != "" && i >= j.from && about.At < j.from && j.c.shownBefore(about.Page) >= pagevm.Structured {
		j.hit[about.Page] = true
	}
	if look == toolcall.LookAct || look == toolcall.LookUnknown {
		for _, what := range of {
			j.Acts[what] = j.Ran.Calls
		}
	}
}

// timePasses is the thing that a waiting call changes.
const timePasses = "time"

// asksAnew reports whether an equal call had a reason to run again although its outcome was the
// same. It had a reason if something that the call may depend on was changed, or if the call
// reads a state that has changed before. It also had a reason if nothing was done meanwhile
// except waiting.
func (j *repeats) asksAnew(look toolcall.Look, of []string, before branch.Run) bool {
	for _, what := range of {
		if j.Acts[what] > before.Call {
			return true
		}
	}
	return look != toolcall.LookContent && (before.Moved || before.Call == j.Ran.Calls-1 || j.Acts[timePasses] > before.Call)
}

// outcome returns the hash of a result's text without the parts that differ on every run. It also
// returns whether the call found nothing.
func outcome(page *pagevm.Page, r *memkernel.ToolResult) (hash string, nothing bool) {
	text := ingest.ResultText(r)
	said, nothing := toolcall.CanonicalResult(text)
	if said != text {
		return ids.Hash(said), nothing
	}
	return page.Hash, nothing
}

// again judges a call that ran before and had the same outcome.
func (j *repeats) again(key string, call *memkernel.ToolCall, page string) {
	level := j.c.shownBefore(page)
	what := call.Name
	if p := j.c.Page(page); p != nil && p.Path != "" {
		what += " " + p.Path
	}
	f := fault.Fault{Code: fault.DuplicateTool, Page: page, Key: j.c.HostKey(key), Cause: level.String(), Plan: j.c.Prev.Plan,
		Detail: fmt.Sprintf("%s ran again with the same result; its first one stood as %s, generation %d", what, level, j.c.Prev.Proj.Generation)}
	if level == pagevm.Full {
		f.Code, f.Cause, j.hit[page] = fault.AlertDuplicateSignature, "", true
		j.c.log.alert(f)
		return
	}
	j.c.fault(f)
}

// refetched records the pages that the model fetched by their handles.
func (j *repeats) refetched(key string, call *memkernel.ToolCall) {
	c := j.c
	for _, id := range pagevm.Handles(call.Input) {
		level := c.shownBefore(id)
		if level == pagevm.Full {
			j.hit[id] = true
			continue
		}
		c.fault(fault.Fault{Code: fault.Refetch, Page: id, Key: c.HostKey(key), Cause: level.String(), Plan: c.Prev.Plan,
			Detail: fmt.Sprintf("the model fetched what stood as %s, generation %d", level, c.Prev.Proj.Generation)})
	}
}

// counted returns the paging events of a plan. A hit is a page of the last prompt that the
// model's newest calls used. It is a page shown in full whose result an equal call returned, or
// that was fetched by its id. It is also a page shown structured or better that is the newest
// look at a path which a call named. Each page counts once per plan. The definition is the
// kernel's own. The model's own words are not searched.
func counted(r *Result) paging.Counts {
	c := paging.Counts{Hits: r.hits}
	for _, f := range r.Faults {
		if code := paging.Code(f.Code); slices.Contains(paging.Codes(), code) {
			c = c.Plus(paging.Counts{Faults: map[paging.Code]int{code: 1}})
		}
	}
	for _, f := range r.Alerts {
		if f.Code == fault.AlertDuplicateSignature {
			c.Alerts++
		}
	}
	return c
}

// shownBefore returns the level at which the last plan showed a page.
func (c *Call) shownBefore(id string) pagevm.Level { return LevelIn(c.Prev.Proj, id) }
