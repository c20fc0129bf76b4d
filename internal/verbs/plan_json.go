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
	Schema     string    `json:"schema"`
	PlanID     string    `json:"plan_id"`
	SessionKey string    `json:"session_key"`
	Branch     string    `json:"branch"`
	Model      string    `json:"model"`
	Dialect    string    `json:"dialect"`
	View       string    `json:"view"`
	Call       int       `json:"call"`
	Calls      int       `json:"calls"`
	Now        time.Time `json:"now,omitzero"`
	Committed  bool      `json:"committed"`
	Generation int       `json:"generation"`
	// FixedTokens is the size of a system prompt and tools that nobody handed in,
	// FixedFrom where it comes from: "given", "first_call", or "" without one.
	FixedTokens int              `json:"fixed_tokens"`
	FixedFrom   string           `json:"fixed_from"`
	Budgets     api.Budgets      `json:"budgets"`
	Regions     []api.Region     `json:"regions"`
	Layout      *document.Layout `json:"layout"`
	Params      api.Params       `json:"params"`

	Retrieval api.Retrieval     `json:"retrieval"`
	Debug     api.Debug         `json:"debug"`
	Reduced   []api.Reduced     `json:"reduced"`
	Faults    []fault.Fault     `json:"faults"`
	Alerts    []fault.Fault     `json:"alerts"`
	Deferred  []api.Deferred    `json:"deferred"`
	Paging    *paging.PageTable `json:"paging"`
	Stats     api.Stats         `json:"stats"`
	Format    transcript.Format `json:"format"`
	Messages  json.RawMessage   `json:"messages"`
	Notes     []noteJSON        `json:"notes"`
	Recorded  *predict.Report   `json:"recorded"`
}

type noteJSON struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
	Line int    `json:"line"`
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
