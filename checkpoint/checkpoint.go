package checkpoint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/summary"
)

// schema and schemaVersion name the format of checkpoints. It is schema v1 of OpenClaw's context
// manager (version 1.1 of 2026-02-25, section 5.3) with these fields added: working.split_turn,
// working.goal, working.step, working.request, working.report, working.place, constraints,
// meta.captured, meta.session_state, and source, model, message, observed_at and gauge_tokens in
// meta.token_usage.
const (
	schema        = "openclaw/checkpoint"
	schemaVersion = 1
)

// Trigger is the reason why a checkpoint was written.
type Trigger string

const (
	// TriggerAuto is the crossing of LevelCheckpoint, whatever share of the window that level
	// has.
	TriggerAuto Trigger = "auto-80pct"
	// TriggerCompaction is a compaction by the host or a cut by the kernel.
	TriggerCompaction Trigger = "compaction"
	// TriggerSessionEnd is a session's end or reset, where the host reports it.
	TriggerSessionEnd Trigger = "session-end"
	// TriggerManual is a user's own request.
	TriggerManual Trigger = "manual"
)

// status is the state of the session's work.
type status string

const (
	// statusInProgress means that the agent has something to do or to answer.
	statusInProgress status = "in_progress"
	// statusIdle means that the agent's turn is over and that the agent asked nothing.
	statusIdle status = "idle"
	// statusWaiting means that the agent's turn ended with a question.
	statusWaiting status = "waiting_for_user"
)

// Checkpoint is the working state of a session at one moment. Lists are oldest
// first, open items with the most pressing first.
type Checkpoint struct {
	Schema        nameText `yaml:"schema"`
	SchemaVersion int      `yaml:"schema_version"`
	Meta          metadata `yaml:"meta"`
	Working       work     `yaml:"working"`
	// Constraints are rules that the user set in the conversation.
	Constraints []freeText `yaml:"constraints,omitempty"`
	Decisions   []decision `yaml:"decisions"`
	Resources   resources  `yaml:"resources"`
	Thread      thread     `yaml:"thread"`
	OpenItems   []freeText `yaml:"open_items"`
	Learnings   []freeText `yaml:"learnings"`
}

// metadata describes where a checkpoint comes from.
type metadata struct {
	// CheckpointID is "cp_" and a number of three digits or more.
	CheckpointID nameText `yaml:"checkpoint_id"`
	SessionKey   nameText `yaml:"session_key"`
	// SessionFile is the host's transcript, "" if the host has none.
	SessionFile nameText `yaml:"session_file"`
	CreatedAt   utcTime  `yaml:"created_at"`
	Trigger     Trigger  `yaml:"trigger"`
	// CompactionCount is the number of compactions of the session so far.
	CompactionCount int        `yaml:"compaction_count"`
	TokenUsage      tokenUsage `yaml:"token_usage"`
	// PreviousCheckpoint is the id of the previous checkpoint, "" for the first checkpoint.
	PreviousCheckpoint nameText `yaml:"previous_checkpoint"`
	Channel            nameText `yaml:"channel"`
	AgentID            nameText `yaml:"agent_id"`
	// Captured is the number of the last message that the checkpoint covers.
	Captured int `yaml:"captured"`
	// SessionState names the page that holds the workspace's SESSION-STATE.md from before this
	// session took it over. Only earlier versions set it.
	SessionState nameText `yaml:"session_state,omitempty"`
}

// tokenUsage is the size of the prompt.
type tokenUsage struct {
	// InputTokens is the size that the provider billed for the newest observed call. If no call
	// was observed, it is the kernel's own reading. Source tells which of the two it is.
	InputTokens int `yaml:"input_tokens"`
	// ContextWindow is the size of the window, 0 if unknown.
	ContextWindow int `yaml:"context_window"`
	// Utilization is InputTokens as a share of the window, rounded to a hundredth.
	Utilization float64 `yaml:"utilization"`
	// Source is fromProvider or fromEstimate, "" in checkpoints of older programs.
	Source nameText `yaml:"source,omitempty"`
	// Model, Message and ObservedAt identify the billed call: its model, the key of the answer,
	// and the time. Each is empty if the host has none.
	Model      nameText `yaml:"model,omitempty"`
	Message    nameText `yaml:"message,omitempty"`
	ObservedAt utcTime  `yaml:"observed_at,omitempty"`
	// GaugeTokens is the reading at which the checkpoint was written, including the messages
	// since the billed call. It is 0 if it would equal InputTokens.
	GaugeTokens int `yaml:"gauge_tokens,omitempty"`
}

// The sources of a size.
const (
	fromProvider nameText = "provider"
	fromEstimate nameText = "estimate"
)

// work describes the work in progress.
type work struct {
	Topic freeText `yaml:"topic"`
	// Goal is the first substantial request.
	Goal freeText `yaml:"goal,omitempty"`
	// Step is the item of the agent's plan that is in progress.
	Step   freeText `yaml:"step,omitempty"`
	Status status   `yaml:"status"`
	// Interrupted reports whether a call has no result.
	Interrupted bool `yaml:"interrupted"`
	// SplitTurn reports whether a compaction cut through the turn. Only earlier versions set it.
	SplitTurn bool `yaml:"split_turn"`
	// LastToolCall is the call that was under way. It is nil unless Interrupted is set.
	LastToolCall *toolCall `yaml:"last_tool_call"`
	NextAction   freeText  `yaml:"next_action"`
	// Request is the user's newest message, if Topic holds less of it.
	Request freeText `yaml:"request,omitempty"`
	// Report is the beginning of the agent's last words, and their end if it is no question.
	Report freeText `yaml:"report,omitempty"`
	// Place is the branch and the directory of the work, with the last check and its outcome.
	Place freeText `yaml:"place,omitempty"`
}

// asked returns the user's newest message.
func (w *work) asked() freeText { return cmp.Or(w.Request, w.Topic) }

// toolCall names a call in a few words.
type toolCall struct {
	Name          nameText `yaml:"name"`
	ParamsSummary freeText `yaml:"params_summary"`
}

// decision is something that was settled.
type decision struct {
	// ID is "d" and a number. It stays while later checkpoints keep the decision.
	ID   nameText `yaml:"id"`
	What freeText `yaml:"what"`
	// By is the owner of the decision, "user" or "agent", or "" if unknown.
	By nameText `yaml:"by,omitempty"`
	// When is the time of the message that settled the decision, zero if unknown.
	When utcTime `yaml:"when"`
}

// resources are files and tools, the last used at the end.
type resources struct {
	FilesRead     []nameText `yaml:"files_read"`
	FilesModified []nameText `yaml:"files_modified"`
	ToolsUsed     []nameText `yaml:"tools_used"`
	// Commits are the commits of the session. FilesUncommitted are the files that were modified
	// after the newest of them.
	Commits          []freeText `yaml:"commits,omitempty"`
	FilesUncommitted []nameText `yaml:"files_uncommitted,omitempty"`
}

// thread is the conversation in a few lines.
type thread struct {
	// Summary is the user's first message and their last.
	Summary      freeText   `yaml:"summary"`
	KeyExchanges []exchange `yaml:"key_exchanges"`
}

// exchange is one side of an exchange. Role is "user", "agent", or "task" if a program wrote to the
// agent before any user did.
type exchange struct {
	Role nameText `yaml:"role"`
	Gist freeText `yaml:"gist"`
}

// Input holds the parts of a checkpoint that a state does not know.
type Input struct {
	SessionKey string
	// AgentID counts only if the state lacks the agent.
	AgentID string
	// Now becomes created_at.
	Now     time.Time
	Trigger Trigger
	// Reading is the gauge.
	Reading Reading
	// Compactions is the session's number of compactions.
	Compactions int
	// Instead takes the place of the previous checkpoint if no checkpoint can be read. It holds
	// another record's data on the session.
	Instead *Checkpoint
}

// dedupeShare is the change of input tokens since the last checkpoint, as a share of that
// checkpoint's input tokens. Below it, an automatic checkpoint would hold nothing new.
const dedupeShare = 0.05

// Redundant reports whether an automatic checkpoint would repeat the latest one. It would if
// there was no compaction since then and the input changed by less than 5 %. A requested
// checkpoint is never redundant.
func Redundant(latest *Checkpoint, in Input) bool {
	if latest == nil || in.Trigger != TriggerAuto || latest.Meta.CompactionCount != in.Compactions {
		return false
	}
	was := cmp.Or(latest.Meta.TokenUsage.GaugeTokens, latest.Meta.TokenUsage.InputTokens)
	delta := in.Reading.Tokens - was
	return float64(max(delta, -delta)) < dedupeShare*float64(was)
}

// Build bundles a state into a checkpoint that follows latest, which may be nil. The checkpoint
// also holds the decisions, learnings, files and open items of latest. If a list is over its cap,
// its newest entries are kept. [Begin] must have fitted the state to latest or to an earlier
// checkpoint. Build is a pure function.
func Build(s State, latest *Checkpoint, in Input) *Checkpoint {
	prev := latest
	if prev == nil {
		prev = in.Instead
	}
	if prev == nil {
		prev = &Checkpoint{}
	}
	c := &Checkpoint{Schema: schema, SchemaVersion: schemaVersion}
	c.Meta = s.meta(prev, in)
	c.Working = s.working()
	c.Constraints = s.constraints(prev)
	c.Decisions = s.decisions(prev)
	c.Resources = s.resources(prev)
	c.Thread = s.Thread.thread()
	c.OpenItems = s.openItems()
	c.Learnings = s.learnings(prev)
	if c.Thread.Summary == "" {
		c.Thread, c.Working.Topic, c.Working.Step = prev.Thread, prev.Working.Topic, prev.Working.Step
	}
	if c.Working.Goal == "" {
		c.Working.Goal = prev.Working.Goal
	}
	return c
}

// meta describes the checkpoint after prev. Its size is that of the newest call that a provider
// billed. If there is none, it is the reading.
func (s *State) meta(prev *Checkpoint, in Input) metadata {
	from, r := s.Thread.From, in.Reading
	u := tokenUsage{InputTokens: r.Tokens, ContextWindow: r.Window}
	switch b := s.Thread.Usage; {
	case b != nil:
		u.InputTokens, u.Source, u.Model, u.Message, u.ObservedAt = b.Tokens, fromProvider, nameText(b.Model), nameText(b.Message), stamp(b.At)
		if r.Tokens != b.Tokens {
			u.GaugeTokens = r.Tokens
		}
	case r.Tokens > 0:
		u.Source = fromEstimate
	}
	share := Reading{Tokens: u.InputTokens, Window: r.Window}.Utilization()
	u.Utilization, _ = strconv.ParseFloat(strconv.FormatFloat(share, 'f', 2, 64), 64)
	return metadata{
		CheckpointID: checkpointID(number(string(prev.Meta.CheckpointID)) + 1),
		SessionKey:   nameText(in.SessionKey), SessionFile: nameText(from.File), Channel: nameText(from.Channel), AgentID: nameText(cmp.Or(from.Agent, in.AgentID)),
		CreatedAt: stamp(in.Now), Trigger: in.Trigger, CompactionCount: in.Compactions,
		TokenUsage:         u,
		PreviousCheckpoint: prev.Meta.CheckpointID,
		Captured:           max(s.last(), prev.Meta.Captured),
	}
}

// working derives the work in progress from the last speaker and the running calls.
func (s *State) working() work {
	t := &s.Thread
	w := work{Topic: freeText(t.Topic), Goal: freeText(t.Reader.Goal.Text), Status: t.status(), Report: freeText(t.Report), Place: freeText(summary.Excerpt(t.Reader.Where(), itemRunes))}
	if t.planned() {
		w.Step = freeText(t.Reader.Step())
	}
	if n := len(t.Tail); n > 0 && t.Tail[n-1].Role == roleUser && t.Report != "" {
		w.Report = "(before the request) " + w.Report
	}
	if r := t.Reader.Request.Text; strings.HasPrefix(r, strings.TrimSuffix(t.Topic, "…")) && r != t.Topic {
		w.Request = freeText(r)
	}
	if n := len(t.Pending); n > 0 {
		w.Interrupted, w.Status = true, statusInProgress
		w.LastToolCall = &toolCall{Name: nameText(t.Pending[n-1].Name), ParamsSummary: freeText(t.Pending[n-1].Params)}
	}
	w.NextAction = freeText(summary.Excerpt(t.nextAction(w), itemRunes))
	return w
}

func (t *threadState) status() status {
	ask := t.Reader.Ask
	switch {
	case t.Reader.Turn == 0 && t.LastCall == nil:
		return statusIdle
	case len(t.Pending) > 0 || ask.Text == "":
		return statusInProgress
	case ask.Question:
		return statusWaiting
	}
	return statusIdle
}

// planned reports whether the agent has changed its plan since the user spoke.
func (t *threadState) planned() bool { return t.Planned > 0 && t.Planned == t.Reader.Turn }

// answerTo begins the next action if it is the user's.
const answerTo = "the user's answer to: "

// nextAction returns the agent's own plan, if the agent has changed the plan since the user
// spoke.
func (t *threadState) nextAction(w work) string {
	planned := t.planned()
	switch step := t.Reader.Step(); {
	case w.Status == statusWaiting:
		return answerTo + t.Reader.Ask.Text
	case step != "" && planned:
		return step
	case len(t.Pending) > 0:
		last := t.Pending[len(t.Pending)-1]
		if slices.ContainsFunc(t.Reader.Pending, func(c summary.Call) bool { return c.ID == last.ID && c.Lost }) {
			return "to find out what became of " + last.label() + ", which was begun and has no known outcome"
		}
		return "the result of " + last.label()
	}
	for _, e := range t.Reader.OpenThreads() {
		if e.Kind == "todo" && planned {
			return e.Text
		}
	}
	if w.Status == statusInProgress && t.Topic != "" {
		return "to answer: " + t.Topic
	}
	return ""
}

// constraints returns the constraints of earlier checkpoints, then the constraints that were read
// since. Each constraint is at its last place.
func (s *State) constraints(prev *Checkpoint) []freeText {
	out := slices.Clone(prev.Constraints)
	for _, e := range s.Decisions.Constraints {
		out = added(out, freeText(e.What), maxConstraints)
	}
	return orNil(out)
}

func (s *State) decisions(prev *Checkpoint) []decision {
	out, top := slices.Clone(prev.Decisions), 0
	for _, d := range out {
		n, _ := strconv.Atoi(strings.TrimPrefix(string(d.ID), "d"))
		top = max(top, n)
	}
	for _, d := range s.Decisions.Items {
		e := decision{What: freeText(d.What), By: nameText(d.By), When: stamp(d.When)}
		if slices.ContainsFunc(out, e.same) {
			continue
		}
		top++
		e.ID = nameText("d" + strconv.Itoa(top))
		out = append(out, e)
	}
	return orNil(capped(out, maxDecisions))
}

func (s *State) resources(prev *Checkpoint) resources {
	p, r := prev.Resources, &s.Resources
	out := resources{
		FilesRead:     merged(p.FilesRead, r.Read, maxFiles),
		FilesModified: merged(p.FilesModified, r.Modified, maxFiles),
		ToolsUsed:     merged(p.ToolsUsed, r.Tools, maxTools),
		Commits:       merged(p.Commits, r.Commits, maxCommits),
	}
	if n := len(r.Commits); n > 0 {
		out.FilesUncommitted = merged[nameText](nil, newer(slices.Clone(r.Modified), func(u use) int { return u.Seq }, r.Commits[n-1].Seq), maxFiles)
	} else if len(p.Commits) > 0 {
		out.FilesUncommitted = merged(p.FilesUncommitted, r.Modified, maxFiles)
	}
	return out
}

// merged returns the older names, then the captured names. Each name is at its last place.
func merged[T ~string](old []T, uses []use, max int) []T {
	out := slices.Clone(old)
	for _, u := range uses {
		out = added(out, T(u.Name), max)
	}
	return orNil(capped(out, max))
}

func (s *State) openItems() []freeText {
	var out []freeText
	for _, text := range s.OpenItems.Items {
		out = append(out, freeText(text))
	}
	for _, text := range s.OpenItems.Earlier {
		if !slices.Contains(out, text) && len(out) < maxOpenItems {
			out = append(out, text)
		}
	}
	return out
}

// Open returns the open items without the remark that an earlier request left them open.
func (c *Checkpoint) Open() (out []string) {
	for _, text := range c.OpenItems {
		out = append(out, strings.Replace(string(text), fromEarlier, "", 1))
	}
	return out
}

func (s *State) learnings(prev *Checkpoint) []freeText {
	out := slices.Clone(prev.Learnings)
	for _, l := range s.Learnings.Items {
		out = added(out, freeText(l.What), maxLearnings)
	}
	return orNil(capped(out, maxLearnings))
}

func checkpointID(n int) nameText { return nameText(fmt.Sprintf("cp_%03d", n)) }

// number returns the number of a checkpoint's id, such as cp_012, and 0 for any other text.
func number(id string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(id, "cp_"))
	if err != nil || n < 0 || string(checkpointID(n)) != id {
		return 0
	}
	return n
}
