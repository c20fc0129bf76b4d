package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/transcript"
)

// callJSON is a call of a session. It has the call's prompt block by block, with the reasons for the
// prompt.
type callJSON struct {
	Schema  string `json:"schema"`
	Session string `json:"session"`
	// Call counts from 1.
	Call       int           `json:"call"`
	Calls      int           `json:"calls"`
	Time       time.Time     `json:"time"`
	Model      string        `json:"model"`
	Generation int           `json:"generation"`
	Budgets    api.Budgets   `json:"budgets"`
	Regions    []api.Region  `json:"regions"`
	Layout     *api.Layout   `json:"layout"`
	Faults     []fault.Fault `json:"faults"`
	// Blocks are in the order of the prompt.
	Blocks []block `json:"blocks"`
	// Answer is the beginning of the model's answer.
	Answer string `json:"answer"`
}

// block is a page as a prompt shows it.
type block struct {
	// Role is system, user, assistant or tool.
	Role string `json:"role"`
	// Kind is the kind of the content, such as text, tool_use, tool_result, thinking or image. In
	// the fixed part it is tools or system.
	Kind   string `json:"kind"`
	Region string `json:"region"`
	// Page is the page's id for memkernel get. Type is the type of the page. Tool is the tool
	// that made the page. Path is the path that the tool's call names.
	Page   string       `json:"page"`
	Type   string       `json:"type"`
	Tool   string       `json:"tool"`
	Path   string       `json:"path"`
	Level  pagevm.Level `json:"level"`
	Tokens int          `json:"tokens"`
	Pin    string       `json:"pin"`
	// Message is the index of the message in the prompt, -1 for the fixed part.
	Message int `json:"message"`
	// Since is the first call at which the page has this level. Why is the reason for the level.
	Since int    `json:"since_call"`
	Why   string `json:"why"`
	// Change is new, changed or same, compared with the previous call.
	Change string `json:"change"`
	// Breakpoint is the cache marker at the end of the block.
	Breakpoint *api.Breakpoint `json:"breakpoint"`
	// Text is the beginning of the block's text, with secrets masked. Bytes is the length of the
	// whole text.
	Text  string `json:"text"`
	Bytes int    `json:"bytes"`
}

// blockText bounds the part of a block's text that is handed out with the block's call.
const blockText = 700

// clip returns the beginning of a text, cut between characters.
func clip(s string, most int) string {
	return strings.ToValidUTF8(textutil.Head(s, most), "\uFFFD")
}

// blocks returns the blocks of a plan's messages, in the order of the messages.
func blocks(o *Options, plan *api.ContextPlan, n int, lives map[string][]stage) []block {
	out := []block{}
	for _, r := range plan.Regions {
		if (r.Name == cachelayout.RegionTools || r.Name == cachelayout.RegionSystem) && r.Tokens > 0 {
			out = append(out, block{Role: "system", Kind: r.Name, Region: r.Name, Type: "fixed", Level: pagevm.Full, Tokens: r.Tokens,
				Pin: "none", Message: -1, Since: 1, Why: "every call repeats it", Change: "same"})
		}
	}
	m := newMatcher(plan)
	newest := newestIn(plan)
	for i := range plan.Messages {
		msg := &plan.Messages[i]
		first := len(out)
		for j := range msg.Parts {
			b := block{Role: string(msg.Role), Kind: string(msg.Parts[j].Kind), Region: "working_set", Level: pagevm.Full, Message: i, Change: "same", Pin: "none"}
			if i == newest {
				b.Region = cachelayout.RegionNewest
			}
			if row := m.match(msg, j); row != nil {
				b.of(row, lives[row.ID], n+1, plan.Retrieval.Page)
			}
			text := shownText(&msg.Parts[j])
			// The parts of a page are one block, and so are parts of one kind that belong to no page.
			if k := len(out) - 1; k >= first && out[k].Page == b.Page && (b.Page != "" || out[k].Kind == b.Kind) {
				out[k].Bytes += len(text) + 1
				if len(out[k].Text) < blockText {
					out[k].Text = clip(out[k].Text+"\n"+o.begin(text, blockText), blockText)
				}
				continue
			}
			b.Text, b.Bytes = o.begin(text, blockText), len(text)
			out = append(out, b)
		}
	}
	setMarkers(out, plan)
	return out
}

// of fills in the block from the row and the life of the block's page. The parameter recalled is
// the page that was recalled for this call.
func (b *block) of(row *paging.PageRow, life []stage, call int, recalled string) {
	b.Page, b.Type, b.Tool, b.Path, b.Level, b.Tokens = row.ID, string(row.Type), textutil.Visible(row.Tool), textutil.Visible(row.Path), row.Level, row.ShownTokens
	b.Pin = string(row.Pin)
	switch row.Place {
	case paging.InCarry:
		b.Region = cachelayout.RegionCarry
	case paging.InRetrieval:
		if row.ID == recalled {
			b.Region = cachelayout.RegionRetrieval
		}
	}
	b.Since, b.Change, b.Why = call, "new", "it came new"
	for i, s := range life {
		if s.Call > call {
			break
		}
		switch b.Since, b.Why = s.Call, s.Why; {
		case s.Call < call:
			b.Change = "same"
		case i > 0:
			b.Change = "changed"
		}
	}
}

// newestIn returns the newest of the host's own messages in a plan.
func newestIn(plan *api.ContextPlan) int {
	for i := len(plan.Messages) - 1; i >= 0; i-- {
		if !strings.HasPrefix(plan.Messages[i].Key, ownKey) {
			return i
		}
	}
	return -1
}

// ownKey is the prefix of the keys of messages that the kernel adds. carryKey is the key of the
// kernel's message before all other messages.
const (
	ownKey   = "memkernel:"
	carryKey = ownKey + "carry"
)

// setMarkers sets the cache markers of the blocks.
func setMarkers(out []block, plan *api.ContextPlan) {
	layout := &plan.Layout
	for i := range layout.Breakpoints {
		bp := &layout.Breakpoints[i]
		part := transcript.LastPart
		if i < len(plan.Markers) {
			part = plan.Markers[i].Part
		}
		at, seen := -1, 0
		for k := range out {
			switch {
			case bp.Message < 0 && out[k].Message < 0:
				at = k
			case bp.Message >= 0 && out[k].Message == bp.Message:
				if part == transcript.LastPart || seen <= part {
					at = k
				}
				seen++
			}
		}
		if at >= 0 {
			out[at].Breakpoint = bp
		}
	}
}

// matcher finds the page that a part of a message shows.
type matcher struct {
	byID, byCall, byKey map[string]*paging.PageRow
	carry               []*paging.PageRow // in their order
}

func newMatcher(plan *api.ContextPlan) *matcher {
	m := &matcher{byID: map[string]*paging.PageRow{}, byCall: map[string]*paging.PageRow{}, byKey: map[string]*paging.PageRow{}}
	for i := range plan.Table.Pages {
		r := &plan.Table.Pages[i]
		m.byID[r.ID] = r
		switch {
		case r.Place == paging.InCarry:
			m.carry = append(m.carry, r)
		case r.Place != paging.InConversation:
		case r.CallID != "" && r.Type == pagevm.Evidence:
			m.byCall[r.CallID] = r
		case m.byKey[r.Key] == nil:
			m.byKey[r.Key] = r
		}
	}
	return m
}

// match returns the row of a part, nil if there is no such row.
func (m *matcher) match(msg *memkernel.Message, part int) *paging.PageRow {
	id, own := strings.CutPrefix(msg.Key, ownKey)
	switch {
	case msg.Key == carryKey && part < len(m.carry):
		return m.carry[part]
	case own:
		return m.byID[id]
	}
	if p := &msg.Parts[part]; p.Result != nil {
		if r := m.byCall[p.Result.CallID]; r != nil {
			return r
		}
	}
	return m.byKey[msg.Key]
}

// shownText is partText with a call in a line.
func shownText(p *memkernel.Part) string {
	if p.Call != nil {
		return callLine(p.Call, "")
	}
	return partText(p)
}

// partText returns the text of a part.
func partText(p *memkernel.Part) string {
	switch {
	case p.Call != nil:
		return p.Call.Name + " " + p.Call.Input
	case p.Result != nil:
		var all []string
		for i := range p.Result.Content {
			all = append(all, partText(&p.Result.Content[i]))
		}
		return strings.Join(all, "\n")
	case p.Media != nil:
		return fmt.Sprintf("[%s %s %d × %d]", p.Kind, p.Media.Type, p.Media.Width, p.Media.Height)
	case p.Kind == memkernel.PartOther:
		return p.Raw
	}
	return p.Text
}
