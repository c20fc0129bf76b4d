package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/transcript"
)

// call is a model call with its request and the state before it. The host's conversation is made
// valid, and compared with the messages that were shown before.
type call struct {
	Request   *Request
	prior     *Prior
	session   session
	workspace Workspace // nil if no workspace is used
	log       *log
	// files returns the workspace's files that have a place in the session's prompts, most
	// important first. They are read once.
	files func() []File
	// pins are the pages that every prompt shows.
	pins []pin
	// typed returns the words that persons typed in Msgs. It reads them once.
	typed func() []spoken
	// worked returns the files and commands that the calls in Msgs used. did returns their effects
	// on files and tasks. Both read Msgs once.
	worked func() work
	did    func() *activity
	// Maker made the pages of the messages, and makes the pages of the kernel's own texts.
	Maker ingest.Maker
	// Raw is the conversation as the host sent it. Msgs is the conversation after it was made
	// valid. Hosts is the projection's view of Msgs.
	Raw, Msgs []memkernel.Message
	Hosts     []pagevm.HostMessage
	// Places are the places of the messages.
	Places []pagevm.Place
	// Prev is the state that was last sent to the provider. Align is the agreement of the messages
	// with those of Prev. absorbed counts the leading messages that the prior state has, too.
	Prev     *branch.State
	Align    pagevm.Alignment
	absorbed int
	// Adopted maps the key of a prompt to the host's key of the message that the prompt became.
	Adopted map[string]string
	// Removed are the parts that were removed to make the messages valid.
	Removed []api.Excluded
	// Ingested counts the pages that were new. LiftedBytes is the size of the base64 in results
	// that prompts do not show.
	Ingested    int
	LiftedBytes int64
}

// take makes the request valid, aligns it with the projection and makes pages of the new
// messages.
func take(ctx context.Context, prior *Prior, r *Request, s session, ws Workspace, w window) (call, error) {
	m := prior.Maker
	m.Large = budget.LargeResult(w.tokens)
	format := FormatOf(r.Format, &r.Price)
	b, err := ingest.Repair(m, prior.Before, nil, ingest.Request{Messages: r.Messages, Prompt: r.Prompt, Turn: r.Turn, Now: r.Now, Lead: format == transcript.FormatAnthropic || format == transcript.FormatGemini})
	if err != nil && (r.Demand == nil || !errors.Is(err, api.ErrAnswered)) {
		return call{}, err
	}
	if !b.Absorb() {
		return call{}, ctx.Err()
	}
	c := call{Request: r, prior: prior, session: s, workspace: ws, log: &log{faults: b.Faults}, pins: pinsOf(prior.Pinned), Maker: b.Maker,
		Raw: b.Raw, Msgs: b.Msgs, Hosts: b.Hosts, Places: b.Places(), absorbed: b.Absorbed,
		Adopted: b.Adopted, Removed: b.Removed, Ingested: len(b.Out.New), LiftedBytes: b.LiftedBytes}
	c.files = sync.OnceValue(func() []File { return readFiles(prior, r, ws, c.log) })
	msgs := c
	c.typed = sync.OnceValue(func() []spoken { return msgs.words() })
	c.worked = sync.OnceValue(func() work { return msgs.used() })
	c.did = sync.OnceValue(func() *activity { return activityOf(&msgs) })
	c = c.after(prior.Before)
	if c.Align.Rewrite != pagevm.RewriteNone {
		key := ""
		if c.Align.First < len(b.Hosts) {
			key = b.Hosts[c.Align.First].Key
		}
		c.log.fault(fault.Fault{Code: fault.Code(c.Align.Rewrite), Key: key,
			Detail: fmt.Sprintf("the host's messages differ from message %d on", c.Align.First+1)})
	}
	return c, nil
}

// after returns the call compared with another state that was sent to the provider.
func (c call) after(prev *branch.State) call {
	c.Prev, c.Align = prev, pagevm.Align(prev.Proj, c.Hosts)
	return c
}

// log holds the reports of the stages, in order. It only grows.
type log struct {
	faults, alerts []fault.Fault
	trail          []Step
}

func (l *log) fault(f fault.Fault) { l.faults = append(l.faults, f) }
func (l *log) alert(f fault.Fault) { l.alerts = append(l.alerts, f) }
func (l *log) step(s Step)         { l.trail = append(l.trail, s) }

// Step is one question to a decider, with its answer. Exactly one of its fields is set.
type Step struct {
	Cut    *CutStep
	Select *selectStep
	Next   *NextStep
}

// CutStep is a question to the cut planner.
type CutStep struct {
	In  cachelayout.CutInput
	Out cachelayout.Cut
}

// selectStep is a question to the selector. Out is the selector's answer. Wish is the answer that
// was passed on to Next.
type selectStep struct {
	In   pagevm.SelectInput
	Wish *pagevm.CutWish
	Out  pagevm.CutWish
}

// NextStep is a question for the next projection.
type NextStep struct {
	Wishes pagevm.Wishes
	Cache  pagevm.Cache
	Proj   *pagevm.Projection
	Out    pagevm.Decision
}

// fault logs a fault. The fault belongs to the user's turn, unless it names another one.
func (c *call) fault(f fault.Fault) {
	if f.Turn == "" {
		f.Turn, _, _ = c.userTurn()
	}
	c.log.fault(f)
}

// nextProjection returns the projection that pagevm.Next derives from the previous one.
func (c *call) nextProjection(wishes pagevm.Wishes, cache pagevm.Cache) (*pagevm.Projection, pagevm.Decision) {
	p, dec := pagevm.Next(c.Prev.Proj, pagevm.Delta{Host: c.Hosts, Places: c.Places, Align: c.Align}, wishes, cache)
	c.log.step(Step{Next: &NextStep{wishes, cache, p, dec}})
	return p, dec
}

// economy returns the preference where memory costs money.
func (c *call) economy() cachelayout.Economy { return cmp.Or(c.Request.Economy, c.prior.Economy) }

// Format returns the shape of the request that the host will send.
func (c *call) Format() transcript.Format { return FormatOf(c.Request.Format, &c.Request.Price) }

// text finds the bytes of a representation or kernel block by hash, first in the given texts.
func (c *call) text(texts map[string]string, hash string) string {
	if t, ok := texts[hash]; ok {
		return t
	}
	if t, ok := c.Maker.Out.Text(hash); ok {
		return t
	}
	return c.prior.Texts[hash]
}

// userTurn finds the newest message by which a person opened a turn. It returns the message's key
// and all text that the person typed. The result fresh reports that the turn has no answer yet.
// If no person is known to have spoken, as with a subagent, userTurn takes the newest user
// message that needs an answer.
func (c *call) userTurn() (key, text string, fresh bool) {
	asked, askedFresh := -1, false
	fresh = true
	for i := len(c.Msgs) - 1; i >= 0; i-- {
		m := &c.Msgs[i]
		if m.Role == memkernel.RoleAssistant {
			fresh = false
		}
		if m.Origin != memkernel.OriginHost || !transcript.PlainUser(*m) {
			continue
		}
		if transcript.MarkedTyped(*m) {
			own, quoted := transcript.Typed(*m)
			if text := strings.TrimSpace(own + "\n" + quoted); text != "" || hasMedia(m) {
				return m.Key, text, fresh
			}
		}
		if asked < 0 {
			asked, askedFresh = i, fresh
		}
	}
	if asked < 0 {
		return "", "", false
	}
	return c.Msgs[asked].Key, transcript.Words(c.Msgs[asked]), askedFresh
}

func hasMedia(m *memkernel.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p memkernel.Part) bool { return p.Media != nil })
}

// InLoop reports whether a tool loop is open.
func (c *call) InLoop() bool { return len(c.Places) > 0 && c.Places[len(c.Places)-1].InLoop }

// stripThinking reports whether thinking that a cut makes invalid must be removed. This is so if
// the model binds thinking to its prefix and the provider does not drop invalid thinking. A
// provider that refused such thinking does not drop it, whatever option it was sent.
func (c *call) stripThinking() bool {
	refused := c.Request.Overflow != nil && budget.RefusesThinking(c.Request.Overflow.Text)
	return refused || c.Request.Price.PreservedThinking && !c.Request.DropOption && !c.Request.Price.DropsThinking
}

// boundLoop reports whether the open tool loop holds thinking that a cut would make
// invalid and that the provider does not drop.
func (c *call) boundLoop() bool {
	if !c.stripThinking() {
		return false
	}
	for i, s := range c.segments(0) {
		if c.Places[i].InLoop && s.Bare.Hash != "" {
			return true
		}
	}
	return false
}

// hostCompacted reports whether the host has replaced messages by its own summary. A restore text
// follows such a compaction, as it follows a compaction by the kernel.
func (c *call) hostCompacted() bool {
	return c.Align.Rewrite == pagevm.RewriteBehind && c.summaryFirst()
}

// summaryFirst reports whether the first message that differs is a summary of the host.
func (c *call) summaryFirst() bool {
	first := c.Align.First
	return first < len(c.Msgs) && c.Msgs[first].Origin == memkernel.OriginSummary
}

// anew reports whether the host's messages differ from the first message on, because they are
// another conversation of the session, and not the same one compacted.
func (c *call) anew() bool {
	return len(c.Prev.Proj.Seen) > 0 && c.Align.Rewrite == pagevm.RewriteBehind && c.Align.First == 0 && !c.hostCompacted()
}

// leadGone reports whether the host's first messages had left the last prompt.
func (c *call) leadGone() bool { return len(c.Align.Seen) > 0 && c.Align.Seen[0].Gone }

// Renewed reports whether the carry block has to be made again, because the past that it
// describes has changed.
func (c *call) Renewed() bool { return c.Align.Stale || c.hostCompacted() }

// callsSoFar counts the model calls of the conversation so far.
func (c *call) callsSoFar() int { return c.count(byModel) }

// count returns the number of messages for which wanted is true.
func (c *call) count(wanted func(*memkernel.Message) bool) (n int) {
	for i := range c.Msgs {
		if wanted(&c.Msgs[i]) {
			n++
		}
	}
	return n
}

// turnsSoFar counts the user's turns of the conversation.
func (c *call) turnsSoFar() int {
	return c.count(func(m *memkernel.Message) bool { return transcript.PlainUser(*m) })
}

// mustStand reports whether every cut keeps a message. Every cut keeps messages that are not
// closed, the message that opened the loop, and the newest message.
func (c *call) mustStand(i int) bool {
	return !c.Places[i].Closed || c.Places[i].Opener || i == len(c.Hosts)-1
}

// segments yields the segments of message from and all later messages, each with the index of its
// message.
func (c *call) segments(from int) iter.Seq2[int, *pagevm.Segment] { return segmentsOf(c.Hosts, from) }

// segmentsOf yields the segments of message from of hosts and of all later messages.
func segmentsOf(hosts []pagevm.HostMessage, from int) iter.Seq2[int, *pagevm.Segment] {
	return func(yield func(int, *pagevm.Segment) bool) {
		for i := from; i < len(hosts); i++ {
			for j := range hosts[i].Segments {
				if !yield(i, &hosts[i].Segments[j]) {
					return
				}
			}
		}
	}
}

// SegmentParts returns the parts of message i that a segment holds.
func (c *call) SegmentParts(i int, s *pagevm.Segment) []memkernel.Part {
	return c.Msgs[i].Parts[s.Part : s.Part+s.Parts]
}

// supersede marks the text of files that were replaced later, and instructions that were replaced
// by a newer version. The result of a call that has no path and changes nothing is replaced by the
// result of a later equal call. supersede returns a copy and does not change c.Hosts.
func (c *call) supersede() []pagevm.HostMessage {
	out := slices.Clone(c.Hosts)
	newer := map[string]bool{}
	for i := len(out) - 1; i >= 0; i-- {
		for j := range out[i].Segments {
			s := &out[i].Segments[j]
			what, gone := c.evidenceOf(i, s)
			if what == "" && !gone {
				continue
			}
			if gone || newer[what] && !s.Superseded {
				out[i].Segments = slices.Clone(out[i].Segments)
				out[i].Segments[j].Superseded = true
			}
			newer[what] = what != ""
		}
	}
	return out
}

// evidenceOf returns the name of the thing that a segment shows, "" if no later segment can replace
// it. gone reports that the segment shows files that were replaced later.
func (c *call) evidenceOf(i int, s *pagevm.Segment) (name string, gone bool) {
	p := c.Page(s.Page)
	switch {
	case s.Instruction != "":
		return s.Instruction, false
	case p == nil:
		return "", false
	case s.Kind != pagevm.ItemResult:
		return p.Path, false
	}
	call := c.Maker.Calls[c.Msgs[i].Parts[s.Part].Result.CallID]
	switch {
	case call == nil:
		return "", false
	case p.Path != "":
		return "", c.did().replaced(call, i+1)
	case call.Look == toolcall.LookAct:
		return "", false
	}
	return call.Canonical(), false
}

// shown returns what is known about a call. Hosts may use a call's id again, so it compares the
// calls.
func (c *call) shown(call *memkernel.ToolCall) *toolcall.Call {
	if known := c.Maker.Calls[call.ID]; known != nil && known.Is(call.Name, call.Input) {
		return known
	}
	return toolcall.Read(call.Name, call.Input)
}

// calledSince reports whether message from or a later message has a result.
func (c *call) calledSince(from int) bool {
	for _, s := range c.segments(from) {
		if s.Kind == pagevm.ItemResult {
			return true
		}
	}
	return false
}

// identity returns the values, other than the blocks of p, on which the provider's cache depends.
func (c *call) identity(p *pagevm.Projection) cachelayout.Identity {
	id := cachelayout.Identity{Model: c.Request.Model, ToolChoice: c.Request.ToolChoice, Thinking: c.Request.Thinking, Effort: c.Request.Effort}
	for i := range p.Items {
		id.Images = id.Images || p.Items[i].Image
	}
	return id
}

// bytesFrom returns the size of the text in message from and all later messages.
func (c *call) bytesFrom(from int) (n int) {
	for _, s := range c.segments(from) {
		if p := c.Page(s.Page); p != nil {
			n += int(p.Bytes)
		}
	}
	return n
}

// Page finds a page, new or known.
func (c *call) Page(id string) *pagevm.Page {
	if p := c.Maker.Out.Page(id); p != nil {
		return p
	}
	return c.Maker.Known[id]
}

// HostKey returns the host's key of a message.
func (c *call) HostKey(key string) string {
	return cmp.Or(c.Adopted[key], key)
}
