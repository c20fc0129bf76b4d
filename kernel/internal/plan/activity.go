package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// newestTokens is the size of the end of the conversation that a cut leaves as it is, at most
// 1/newestShare of the conversation that the cut keeps. In 28 sessions of nine repositories
// (2026-11-29) the last 25,000 tokens had two thirds of the shown lines that the edits of the next 40
// calls quoted. But where they fill the prompt, older content leaves that is needed more often.
// Replays in a window of 200k (mkbench economics, 2026-12-01) compare a share of one with a half:
//
//	sessions                       bill               actions ready
//	12 of three repositories       $162.51, $160.76   93.7 %, 93.2 %
//	16 of five repositories        $260.68, $257.01   93.9 %, 93.3 %
//	40 more of the first three     $301.45, $298.29   96.3 %, 96.3 %
//	the bundled sample             $10.41, $10.12     77.7 %, 93.5 %
//
// With a quarter, 2.7 % of the edits of the 12 sessions are blind in a window of 272k; with a half none.
const (
	newestTokens = 25_000
	newestShare  = 2
)

// activity is the newest use of each file in a conversation, and its newest finished task. Messages
// are counted from 1.
type activity struct {
	files map[string]fileUse
	// finished is the newest message with the result of a call that finished a task.
	finished int
}

// fileUse has two messages with results about a file, 0 if there is none: replaced is the newest
// after which no earlier text of the file is needed, and touched is the newest that read or edited
// the file.
type fileUse struct{ replaced, touched int }

// activityOf returns the activity of the calls that succeeded.
func activityOf(c *call) *activity {
	a := &activity{files: map[string]fileUse{}}
	var tasks toolcall.Tasks
	for i := range c.Msgs {
		for _, p := range c.Msgs[i].Parts {
			if p.Result == nil || p.Result.IsError || p.Result.Synthetic {
				continue
			}
			call := c.Maker.Calls[p.Result.CallID]
			if call == nil {
				continue
			}
			if tasks.Finish(call) {
				a.finished = i + 1
			}
			text := ""
			if call.Kind == toolcall.CallRead {
				text = ingest.ResultText(p.Result)
			}
			if call.Kind == toolcall.CallOther || strings.HasPrefix(text, unchanged) {
				continue
			}
			for _, name := range call.Paths {
				f := a.files[name]
				f.touched = i + 1
				if slices.Contains(call.Replaces, name) && !strings.Contains(text, "truncated") {
					f.replaced = i + 1
				}
				a.files[name] = f
			}
		}
	}
	return a
}

// unchanged begins Claude Code's result of reading a file whose text it does not repeat.
const unchanged = "File unchanged since"

// replaced reports whether all files of a call at a message were replaced later.
func (a *activity) replaced(call *toolcall.Call, message int) bool {
	return call.Kind != toolcall.CallOther && len(call.Paths) > 0 && !slices.ContainsFunc(call.Paths, func(p string) bool {
		return a.files[p].replaced <= message
	})
}

// done reports whether a task was finished after all files of a call were last touched, and none of
// the files was named since. The function named returns the newest message that names a file.
func (a *activity) done(call *toolcall.Call, named func(file string) int) bool {
	return len(call.Paths) > 0 && !slices.ContainsFunc(call.Paths, func(p string) bool {
		f := a.files[p]
		return f.touched == 0 || f.touched >= a.finished || named(p) > a.finished
	})
}

// nameOf returns the name by which texts name a file.
func nameOf(file string) represent.Name {
	if own := represent.Names(path.Base(file)); len(own) > 0 {
		return own[len(own)-1]
	}
	return 0
}

// withNewest returns traits in which the last tokens of the conversation count as its newest text.
// Their size is the size in a prompt. Text that is gone, and files of finished tasks, do not count
// as new.
func withNewest(c *call, p *pagevm.Projection, seen []pagevm.Seen, traits [][]pagevm.Traits, tokens int) [][]pagevm.Traits {
	size := make(map[string]int, len(p.Items))
	for i := range p.Items {
		size[p.Items[i].Page] = p.Items[i].Tokens
	}
	out := slices.Clone(traits)
	for i := len(out) - 1; i >= 0; i-- {
		if seen[i].Gone {
			continue
		}
		out[i] = slices.Clone(out[i])
		for j := range out[i] {
			s := &c.Hosts[i].Segments[j]
			if t := &out[i][j]; t.State > pagevm.TaskDone {
				t.State = pagevm.Newest
				if tokens -= size[s.Page]; c.leavesThinking(i, s) {
					tokens += size[s.Page] - s.Bare.Tokens
				}
			}
		}
		if tokens < 0 {
			out[i] = traits[i]
			break
		}
	}
	return out
}

// states returns, by page, the state in words in which the plan's cut saw the page. It is empty
// without a cut.
func (r *Result) states() map[string]string {
	out := map[string]string{}
	for i := range r.Trail {
		if sel := r.Trail[i].Select; sel != nil && r.Chosen.Made.Cut != nil {
			for h := range sel.In.Host {
				for j := range sel.In.Traits[h] {
					out[sel.In.Host[h].Segments[j].Page] = sel.In.Traits[h][j].State.String()
				}
			}
		}
	}
	return out
}
