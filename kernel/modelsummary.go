package kernel

import (
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/summary"
)

// SummaryOptions say whether a model makes notes of sessions, and when.
type SummaryOptions struct {
	// Model is asked. Nil, the default, asks nobody.
	Model summary.Model
	// Tokens is the size of a delta from which it is asked about; After is the age
	// of its oldest message from which a smaller one is. Defaults: 4,000 and
	// 15 minutes.
	Tokens int
	After  time.Duration
	// DeltaTokens bounds how much of a delta is sent in one request, about; what
	// is left goes with the next. Default: 24,000.
	DeltaTokens int
	// Timeout bounds one request. Default: a minute.
	Timeout time.Duration
	// CloseWait is how long Close waits for a request before it is cancelled.
	// Default: 2 seconds; negative does not wait.
	CloseWait time.Duration
	// NoFacts keeps what a model proposes to remember out of the daily log.
	NoFacts bool
}

// The defaults of [SummaryOptions]. Four thousand tokens are a few tool calls: a
// request per handful of turns, of which the prompt's own text is a sixth.
const (
	DefaultSummaryTokens    = 4_000
	DefaultSummaryAfter     = 15 * time.Minute
	DefaultSummaryDelta     = 24_000
	DefaultSummaryTimeout   = time.Minute
	DefaultSummaryCloseWait = 2 * time.Second
)

func (o SummaryOptions) filled() SummaryOptions {
	if o.Tokens == 0 {
		o.Tokens = DefaultSummaryTokens
	}
	if o.After == 0 {
		o.After = DefaultSummaryAfter
	}
	if o.DeltaTokens == 0 {
		o.DeltaTokens = DefaultSummaryDelta
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultSummaryTimeout
	}
	if o.CloseWait == 0 {
		o.CloseWait = DefaultSummaryCloseWait
	}
	return o
}

// ModelSummary is how it stands with a model's notes on a branch of a session.
type ModelSummary struct {
	Branch string `json:"branch"`
	// Model was asked last, at Time, about so many Messages, and proposed so many
	// Operations; Reason is OK, or why the mechanical summary stands alone for them.
	Model      string         `json:"model"`
	Time       time.Time      `json:"time"`
	Messages   int            `json:"messages"`
	Operations int            `json:"operations"`
	Reason     summary.Reason `json:"reason"`
	// Deltas counts how often a model answered.
	Deltas int `json:"deltas"`
	// Notes counts those that stand, open or closed, Closed what was closed.
	Notes  int `json:"notes"`
	Closed int `json:"closed"`
}

// modelSummaries says how it stands with the notes on each branch of this epoch.
func modelSummaries(s *session.Session) []ModelSummary {
	out := []ModelSummary{}
	if s.Journal == nil {
		return out
	}
	prefix := turn.NotesPage(s, "")
	for _, p := range s.Journal.Store().Pages(s.Name) {
		branch, ok := strings.CutPrefix(p.Key, prefix)
		if !ok || p.Type != summary.NotesType {
			continue
		}
		if n, err := summary.ReadNotes(p); err == nil {
			last := n.Last()
			m := ModelSummary{Branch: branch, Deltas: n.Version, Model: last.Model, Time: last.Time, Messages: last.Messages, Operations: last.Operations, Reason: last.Reason}
			m.Notes, m.Closed = n.Count()
			out = append(out, m)
		}
	}
	return out
}

// Cooldown is how it stands with a model that is asked for notes. It is shared by
// all sessions of a state directory, since they have one account at one server.
type Cooldown struct {
	Model string `json:"model"`
	// Failures counts those since the last answer that could be used; Until is
	// when the model is asked again.
	Failures int       `json:"failures"`
	Until    time.Time `json:"until,omitzero"`
	// Reason and Detail say what the last failure was, Failed when.
	Reason summary.Reason `json:"reason"`
	Detail string         `json:"detail,omitempty"`
	Failed time.Time      `json:"failed,omitzero"`
	// Answered is when it last gave what could be used.
	Answered time.Time `json:"answered,omitzero"`
}

// cooldowns are those of all models that were asked, by name.
func cooldowns(state store.Store) []Cooldown {
	out := []Cooldown{}
	for _, c := range notes.OpenCooldowns(state).All() {
		out = append(out, Cooldown(c))
	}
	return out
}
