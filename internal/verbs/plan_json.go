package verbs

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/transcript"
)

// planJSON is the document of plan --json.
type planJSON struct {
	Schema string `json:"schema"`
	api.Outline
	// Dialect is the format of the transcript, "" without one.
	Dialect string `json:"dialect"`
	// View is host or full.
	View string `json:"view"`
	// Call is the number of the planned call, from 1, or 0 for a call that was not made yet.
	// Calls is the number of calls in the view.
	Call  int `json:"call"`
	Calls int `json:"calls"`
	// Now is the time of the call in the request.
	Now time.Time `json:"now,omitzero"`
	// Committed reports whether the plan was written. Pointers of an unwritten plan don't resolve
	// yet.
	Committed bool `json:"committed"`
	// FixedTokens is the size of a system prompt and tools that are not in the request. FixedFrom
	// is the origin of FixedTokens: "given", "first_call", or "" without such parts.
	FixedTokens int    `json:"fixed_tokens"`
	FixedFrom   string `json:"fixed_from"`
	// Messages are the planned messages in the format.
	Messages json.RawMessage `json:"messages"`
	// Notes name the parts that reading and rendering had to leave out or repair.
	Notes []noteJSON `json:"notes"`
	api.Details
	// Paging is the page table, and the paging of the conversation's plans including this one.
	Paging *paging.PageTable `json:"paging"`
}

type noteJSON struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
	// Line is the line of the transcript, 0 if the note is about no single line.
	Line int `json:"line"`
}

// planDocument returns the document.
func planDocument(out *planned) (*planJSON, error) {
	plan := out.plan
	format := nativeFormat(out)
	messages, notes, err := nativeMessages(out, format)
	if err != nil {
		return nil, err
	}
	doc := &planJSON{Schema: "memkernel/plan/v1", Outline: plan.Outline, Details: plan.Details, Paging: plan.Table,
		Dialect: string(out.session.Dialect), View: out.view.String(), Call: out.target.call, Calls: out.target.of,
		Now: out.request.Now, Committed: !out.peek, FixedTokens: out.request.FixedTokens,
		Messages: messages, Notes: []noteJSON{}}
	doc.Format = format
	switch {
	case out.implied:
		doc.FixedFrom = "first_call"
	case doc.FixedTokens > 0:
		doc.FixedFrom = "given"
	}
	for _, n := range append(out.session.Notes, notes...) {
		doc.Notes = append(doc.Notes, noteJSON{Rule: n.Rule, Text: n.Text, Line: n.Line})
	}
	return doc, nil
}

// nativeMessages returns the plan's messages in the format of the model's provider.
func nativeMessages(out *planned, f transcript.Format) (json.RawMessage, []transcript.Note, error) {
	body, notes, err := renderBody(out, f)
	if err != nil {
		return nil, nil, err
	}
	var b struct{ Messages, Input json.RawMessage }
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, nil, fmt.Errorf("render messages: %w", err)
	}
	switch {
	case b.Messages != nil:
		return b.Messages, notes, nil
	case b.Input != nil:
		return b.Input, notes, nil
	}
	return json.RawMessage("[]"), notes, nil
}
