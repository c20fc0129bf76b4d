package verbs

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/cachelayout/predict"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/transcript"
)

// planJSON is the document of plan --json.
type planJSON struct {
	Schema string `json:"schema"`
	// PlanID names the plan, for a host that reports back.
	PlanID     string `json:"plan_id"`
	SessionKey string `json:"session_key"`
	// Branch is the sidechain, "" for the main line.
	Branch string `json:"branch"`
	Model  string `json:"model"`
	// Dialect is how the transcript is written, "" without one.
	Dialect string `json:"dialect"`
	// View is host or full.
	View string `json:"view"`
	// Call is which recorded call is planned, from 1, or 0 for one still to come; Calls is
	// how many the view has.
	Call  int `json:"call"`
	Calls int `json:"calls"`
	// Now is when the call is made, as it was asked for.
	Now time.Time `json:"now,omitzero"`
	// Committed reports whether anything was written; without it pointers don't resolve
	// yet.
	Committed bool `json:"committed"`
	// Generation rises at every cut and whenever the host rewrites its past.
	Generation int `json:"generation"`
	// FixedTokens is the size of a system prompt and tools that nobody handed in,
	// FixedFrom where it comes from: "given", "first_call", or "" without one.
	FixedTokens int    `json:"fixed_tokens"`
	FixedFrom   string `json:"fixed_from"`
	// Budgets are the arithmetic of the plan.
	Budgets api.Budgets `json:"budgets"`
	// Regions are in prompt order.
	Regions []api.Region `json:"regions"`
	// Layout is the side of the provider's cache.
	Layout *document.Layout `json:"layout"`
	// Params are settings that the request needs.
	Params api.Params `json:"params"`

	// Retrieval is what was recalled for the user's newest words.
	Retrieval api.Retrieval `json:"retrieval"`
	// Debug has every page and what became of it.
	Debug api.Debug `json:"debug"`
	// Reduced are pages that are not shown in full, with the way back.
	Reduced []api.Reduced `json:"reduced"`
	Faults  []fault.Fault `json:"faults"`
	// Alerts are signs of trouble that no prompt could have prevented.
	Alerts []fault.Fault `json:"alerts"`
	// Deferred are changes that wait for a cut.
	Deferred []api.Deferred `json:"deferred"`
	// Paging is the page table, and what the conversation's plans told of paging, this one
	// counted.
	Paging *paging.PageTable `json:"paging"`
	// Stats is what the plan cost this program.
	Stats  api.Stats         `json:"stats"`
	Format transcript.Format `json:"format"`
	// Messages are the planned messages in the format.
	Messages json.RawMessage `json:"messages"`
	// Notes say what reading and rendering had to leave out or repair.
	Notes []noteJSON `json:"notes"`
	// Recorded compares the recorded calls with what the cache should have done.
	Recorded *predict.Report `json:"recorded"`
}

type noteJSON struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
	// Line is that of the transcript, 0 for none.
	Line int `json:"line"`
}

// planDocument makes the document.
func planDocument(out *planned) (*planJSON, error) {
	plan := out.plan
	format := nativeFormat(out)
	messages, notes, err := nativeMessages(out, format)
	if err != nil {
		return nil, err
	}
	doc := &planJSON{
		Schema: "memkernel/plan/v1", PlanID: plan.ID, SessionKey: plan.SessionKey, Branch: plan.Branch, Model: plan.Model,
		Dialect: string(out.session.Dialect), View: out.view.String(), Call: out.target.call, Calls: out.target.of,
		Now: out.request.Now, Committed: !out.peek, Generation: plan.Generation, FixedTokens: out.request.FixedTokens,
		Budgets: plan.Budgets, Regions: document.List(plan.Regions), Layout: document.OfLayout(plan), Params: plan.Params,
		Retrieval: plan.Retrieval, Debug: api.Debug{Included: document.List(plan.Debug.Included), Excluded: document.List(plan.Debug.Excluded)},
		Reduced: document.List(plan.Reduced), Faults: document.List(plan.Faults), Alerts: document.List(plan.Alerts), Deferred: document.List(plan.Deferred),
		Paging: plan.Table, Stats: plan.Stats,
		Format: format, Messages: messages, Notes: []noteJSON{}, Recorded: out.recorded,
	}
	switch {
	case out.implied:
		doc.FixedFrom = predict.FixedFirstCall
	case doc.FixedTokens > 0:
		doc.FixedFrom = predict.FixedGiven
	}
	doc.Params.Betas = document.List(doc.Params.Betas)
	for _, n := range append(out.session.Notes, notes...) {
		doc.Notes = append(doc.Notes, noteJSON{Rule: n.Rule, Text: n.Text, Line: n.Line})
	}
	if doc.Recorded == nil {
		doc.Recorded = predict.Run(nil, nil)
	}
	return doc, nil
}

// nativeMessages are the plan's messages as the model's provider takes them.
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
