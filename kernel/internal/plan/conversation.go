package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// conversation is the host's conversation of the call. It was made valid and compared with the
// messages that were shown before.
type conversation struct {
	input
	*ingest.Batch
	// Places are the places of the messages.
	Places []pagevm.Place
	// Align is how far the messages agree with the messages of Prev.
	Align pagevm.Alignment
	// Prev is the state that the provider was sent last.
	Prev *branch.State
	// Ingested counts the pages that were new.
	Ingested int
}

// take makes the request valid, aligns it with the projection and makes pages of the new
// messages.
func take(ctx context.Context, in input, res resolved) (conversation, error) {
	r := in.req
	m := in.prior.Maker
	m.Large = budget.LargeResult(res.window)
	b, err := ingest.Repair(m, in.prior.Before, ingest.Request{Messages: r.Messages, Prompt: r.Prompt, Turn: r.Turn, Now: r.Now, Lead: in.Format() == transcript.FormatAnthropic || in.Format() == transcript.FormatGemini})
	if err != nil && (r.Demand == nil || !errors.Is(err, api.ErrAnswered)) {
		return conversation{}, err
	}
	if !b.Absorb() {
		return conversation{}, ctx.Err()
	}
	in.log.faults = append(in.log.faults, b.Faults...)
	c := conversation{input: in, Batch: b, Prev: in.prior.Before, Ingested: len(b.Out.New)}
	c.Places = ingest.Places(c.Prev.Places, b.Absorbed, b.Msgs)
	if c.Align = pagevm.Align(c.Prev.Proj, b.Hosts); c.Align.Rewrite != pagevm.RewriteNone {
		in.log.faults = append(in.log.faults, fault.Fault{Code: fault.Code(c.Align.Rewrite), Key: keyAt(b.Hosts, c.Align.First),
			Detail: fmt.Sprintf("the host's messages differ from message %d on", c.Align.First+1)})
	}
	return c, nil
}

func keyAt(hosts []pagevm.HostMessage, i int) string {
	if i < len(hosts) {
		return hosts[i].Key
	}
	return ""
}

// userTurn finds the newest message by which a person opened a turn. It returns the message's key
// and all text that the person typed. The result fresh reports that the turn has no answer yet.
// If no person is known to have spoken, as with a subagent, userTurn takes the newest user
// message that needs an answer.
func (c *conversation) userTurn() (key, text string, fresh bool) {
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
	for i := range m.Parts {
		if m.Parts[i].Media != nil {
			return true
		}
	}
	return false
}

// InLoop reports whether a tool loop is open.
func (c *conversation) InLoop() bool { return len(c.Places) > 0 && c.Places[len(c.Places)-1].InLoop }

// stripThinking reports whether thinking that a cut makes invalid must be removed. This is so if
// the model binds thinking to its prefix and the provider does not drop invalid thinking. A
// provider that refused such thinking does not drop it, whatever option it was sent.
func (c *conversation) stripThinking() bool {
	refused := c.req.Overflow != nil && budget.RefusesThinking(c.req.Overflow.Text)
	return refused || c.req.Price.PreservedThinking && !c.req.DropOption && !c.req.Price.DropsThinking
}

// BoundLoop reports whether the open tool loop holds thinking that a cut would make
// invalid and that the provider does not drop.
func (c *conversation) BoundLoop() bool {
	if !c.stripThinking() {
		return false
	}
	for i := len(c.Places) - 1; i >= 0 && c.Places[i].InLoop; i-- {
		for j := range c.Hosts[i].Segments {
			if c.Hosts[i].Segments[j].Bare.Hash != "" {
				return true
			}
		}
	}
	return false
}

// hostCompacted reports whether the host has replaced messages by its own summary. A restore text
// follows such a compaction, as it follows a compaction by the kernel.
func (c *conversation) hostCompacted() bool {
	first := c.Align.First
	return c.Align.Rewrite == pagevm.RewriteBehind && first < len(c.Msgs) && c.Msgs[first].Origin == memkernel.OriginSummary
}

// Renewed reports whether the carry block has to be made again, because the past that it
// describes has changed.
func (c *conversation) Renewed() bool { return c.Align.Stale || c.hostCompacted() }

// callsSoFar counts the model calls of the conversation so far.
func (c *conversation) callsSoFar() int {
	n := 0
	for i := range c.Msgs {
		if c.Msgs[i].Role == memkernel.RoleAssistant && c.Msgs[i].Origin == memkernel.OriginHost {
			n++
		}
	}
	return n
}

// turnsSoFar counts the user's turns of the conversation.
func (c *conversation) turnsSoFar() int {
	n := 0
	for i := range c.Hosts {
		if transcript.PlainUser(c.Msgs[i]) {
			n++
		}
	}
	return n
}

// mustStand reports whether every cut keeps a message. It is so for a message that is not closed,
// that opened the loop, or that is the newest.
func (c *conversation) mustStand(i int) bool {
	return !c.Places[i].Closed || c.Places[i].Opener || i == len(c.Hosts)-1
}

func (c *conversation) SegmentParts(i int, s *pagevm.Segment) []memkernel.Part {
	return c.Msgs[i].Parts[s.Part : s.Part+s.Parts]
}

// Supersede marks evidence that was replaced by a newer read or an edit of the same path. The
// result of a call that has no path and acts on nothing is replaced by the same call. Supersede
// returns a copy and does not change c.Hosts.
func (c *conversation) Supersede() []pagevm.HostMessage {
	out := append([]pagevm.HostMessage(nil), c.Hosts...)
	newer := map[string]bool{}
	for i := len(out) - 1; i >= 0; i-- {
		for j := range out[i].Segments {
			s := &out[i].Segments[j]
			what := c.evidenceOf(i, s)
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

// evidenceOf returns the name of the thing that a segment shows, "" if no later segment can
// replace it.
func (c *conversation) evidenceOf(i int, s *pagevm.Segment) string {
	p := c.Page(s.Page)
	switch {
	case p == nil:
		return ""
	case p.Path != "" || s.Kind != pagevm.ItemResult:
		return p.Path
	}
	call := c.Calls[c.Msgs[i].Parts[s.Part].Result.CallID]
	if call == nil {
		return ""
	}
	if look, _ := toolcall.Looks(call.Name, call.Input); look == toolcall.LookAct {
		return ""
	}
	return toolcall.Canonical(call.Name, call.Input)
}

// calledSince reports whether message from or a later message has a result.
func (c *conversation) calledSince(from int) bool {
	for i := from; i < len(c.Hosts); i++ {
		for j := range c.Hosts[i].Segments {
			if c.Hosts[i].Segments[j].Kind == pagevm.ItemResult {
				return true
			}
		}
	}
	return false
}

// identity returns the values, other than the blocks of p, on which the provider's cache depends.
func (c *conversation) identity(p *pagevm.Projection) cachelayout.Identity {
	id := cachelayout.Identity{Model: c.req.Model, ToolChoice: c.req.ToolChoice, Thinking: c.req.Thinking, Effort: c.req.Effort}
	for i := range p.Items {
		id.Images = id.Images || p.Items[i].Image
	}
	return id
}

// bytesFrom returns the size of the text in message from and all later messages.
func (c *conversation) bytesFrom(from int) int {
	n := 0
	for i := min(from, len(c.Hosts)); i < len(c.Hosts); i++ {
		for j := range c.Hosts[i].Segments {
			if p := c.Page(c.Hosts[i].Segments[j].Page); p != nil {
				n += int(p.Bytes)
			}
		}
	}
	return n
}

// Page finds a page, new or known.
func (c *conversation) Page(id string) *pagevm.Page {
	if p := c.Out.Page(id); p != nil {
		return p
	}
	return c.Known[id]
}

// HostKey returns the host's key of a message.
func (c *conversation) HostKey(key string) string {
	if k, ok := c.Adopted[key]; ok {
		return k
	}
	return key
}
