package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// misses looks at the model's calls since the last plan for signs that the prompt of that plan
// lacked something. It reports them as faults by the definitions of ClawVM (EuroMLSys 2026, section
// 3), and as an alert of the same form. It skips a conversation's first plan and a plan after the
// host rewrote its past. It returns the calls that ran, and the number of pages that the model used
// while the prompt showed them.
func misses(c *call) (branch.Ran, int) {
	if c.Prev.Plan == "" || c.Align.Rewrite != pagevm.RewriteNone {
		return branch.Ran{}, 0
	}
	from := len(c.Prev.Proj.Seen) // the first message that the last plan did not show
	if !c.calledSince(from) {
		return c.Prev.Ran, 0
	}
	ran, used := c.Prev.Ran.Clone(), map[string]bool{}
	calls := map[string]*toolcall.Call{} // the newest call of each id, since hosts use ids again
	for i := ran.Messages; i < len(c.Msgs); i++ {
		for k := range c.Msgs[i].Parts {
			if call := c.Msgs[i].Parts[k].Call; call != nil {
				calls[call.ID] = c.shown(call)
			}
		}
		for k := range c.Hosts[i].Segments {
			s := &c.Hosts[i].Segments[k]
			if s.Kind != pagevm.ItemResult {
				continue
			}
			r := c.Msgs[i].Parts[s.Part].Result
			call, page := cmp.Or(calls[r.CallID], c.Maker.Calls[r.CallID]), c.Page(s.Page)
			if call == nil || page == nil {
				continue
			}
			key := c.HostKey(c.Hosts[i].Key)
			if c.Request.Resolver != "" && call.Name == c.Request.Resolver {
				for _, id := range pagevm.Handles(call.Input) {
					if i >= from && c.shownWhole(id, fault.Fault{Code: fault.Refetch, Key: key}, "the model fetched what stood as %s, generation %d") {
						used[id] = true
					}
				}
				continue
			}
			ran.Calls++
			look, of := call.Look, slices.Clip(call.Of)
			if look == toolcall.LookMoving {
				ran.Acts[timePasses] = ran.Calls
				continue
			}
			about := ran.About[page.Path]
			if look != toolcall.LookAct {
				form := ingest.Hash(call.Canonical())
				said, nothing := outcome(page, r)
				if nothing { // an edit may change an empty result
					of = append(of, toolcall.Files)
				}
				now := branch.Run{Page: s.Page, Said: said, Call: ran.Calls, At: i}
				before, again := ran.Last[form]
				now.Moved = again && (before.Moved || before.Said != now.Said)
				if again && i >= from && before.At < from && before.Said == now.Said && !asksAnew(&ran, look, of, before) {
					if repeated(c, key, call, before.Page) {
						used[before.Page] = true
					}
					about = branch.About{}
				}
				ran.Last[form] = now
				if page.Path != "" {
					ran.About[page.Path] = branch.About{Page: s.Page, At: i}
				}
			}
			if about.Page != "" && i >= from && about.At < from && c.Prev.Proj.LevelOf(about.Page) >= pagevm.Structured {
				used[about.Page] = true
			}
			if look == toolcall.LookAct || look == toolcall.LookUnknown {
				for _, what := range of {
					ran.Acts[what] = ran.Calls
				}
			}
		}
	}
	ran.Messages = len(c.Msgs)
	return ran, len(used)
}

// timePasses is the key of the time in [branch.Ran.Acts]. A waiting call changes the time.
const timePasses = "time"

// asksAnew reports whether an equal call had a reason to run again although its outcome was the
// same. It had a reason if something that the call may depend on was changed, or if the call
// reads a state that has changed before. It also had a reason if nothing was done meanwhile
// except waiting.
func asksAnew(ran *branch.Ran, look toolcall.Look, of []string, before branch.Run) bool {
	acted := func(what string) bool { return ran.Acts[what] > before.Call }
	return slices.ContainsFunc(of, acted) || look != toolcall.LookContent && (before.Moved || before.Call == ran.Calls-1 || acted(timePasses))
}

// repeated reports whether the prompt showed in full a result that a call has now returned again.
// If not, it logs a fault. If so, it logs an alert.
func repeated(c *call, key string, call *toolcall.Call, page string) bool {
	what := call.Name
	if p := c.Page(page); p != nil && p.Path != "" {
		what += " " + p.Path
	}
	format := strings.ReplaceAll(what, "%", "%%") + " ran again with the same result; its first one stood as %s, generation %d"
	if !c.shownWhole(page, fault.Fault{Code: fault.DuplicateTool, Key: key}, format) {
		return false
	}
	c.log.alert(fault.Fault{Code: fault.AlertDuplicateSignature, Page: page, Key: key, Plan: c.Prev.Plan, Detail: fmt.Sprintf(format, pagevm.Full, c.Prev.Proj.Generation)})
	return true
}

// shownWhole reports whether the last plan showed a page in full. If not, it logs a fault whose
// detail names the level at which the page was shown, and the prompt's generation.
func (c *call) shownWhole(page string, f fault.Fault, detail string) bool {
	level := c.Prev.Proj.LevelOf(page)
	if level == pagevm.Full {
		return true
	}
	f.Page, f.Cause, f.Plan, f.Detail = page, level.String(), c.Prev.Plan, fmt.Sprintf(detail, level, c.Prev.Proj.Generation)
	c.fault(f)
	return false
}

// outcome returns the hash of a result's text without the parts that differ on every run. nothing
// reports that the call found nothing.
func outcome(page *pagevm.Page, r *memkernel.ToolResult) (hash string, nothing bool) {
	text := ingest.ResultText(r)
	said, nothing := toolcall.CanonicalResult(text)
	if said != text {
		return ingest.Hash(said), nothing
	}
	return page.Hash, nothing
}

// counted returns the counts of a plan's paging events. A hit is a page of the last prompt that the
// model's newest calls used. The page was shown in full, and an equal call returned its result, or
// a call fetched it by its id. Or the page was shown structured or better, and is the newest look
// at a path that a call named. Each page counts once per plan. The definition is the kernel's own.
// The model's own words are not searched.
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
