package checkpoint

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/summary"
)

// stateVersion is the format of the state files' contents.
const stateVersion = 1

// The limits of a state and a checkpoint. Older entries leave first.
const (
	maxDecisions = 50
	maxExchanges = 8
	maxTools     = 100
	maxFiles     = 100
	maxOpenItems = 50
	maxLearnings = 20
	maxCommits   = 20
	// maxConstraints is the most constraints that package summary holds.
	maxConstraints = 200

	maxFailures = 20
	maxPending  = 64
	maxSeen     = 1024
	maxRecent   = 16
)

// State holds everything captured of a session since its last checkpoint, and the position up to
// which its messages were read. It is a value: [Update] returns a new one. Each field is one file
// under state/.
type State struct {
	Decisions decisionState
	Resources resourceState
	OpenItems openItemState
	Learnings learningState
	Thread    threadState
}

// decisionState is decisions.json.
type decisionState struct {
	Version int               `json:"version"`
	Items   []decisionCapture `json:"items"`
	// Constraints are the rules that the user set, which bind like decisions.
	Constraints []constraintCapture `json:"constraints,omitempty"`
}

// constraintCapture is a rule with the key and the number of its message.
type constraintCapture struct {
	Key  string `json:"key,omitempty"`
	What string `json:"what"`
	Seq  int    `json:"seq"`
}

// decisionCapture is a decision with its provenance.
type decisionCapture struct {
	// Ref and Key together identify the decision in its session. Ref is the reader's id. Key is
	// the key of the message that the decision was read from.
	Ref string `json:"ref"`
	Key string `json:"key,omitempty"`
	// Kind is the source of the decision: reply, choice, rejection, plan, commit or statement.
	Kind string `json:"kind,omitempty"`
	// By is "user" or "agent", "" if that is not known.
	By   string    `json:"by,omitempty"`
	What string    `json:"what"`
	When time.Time `json:"when,omitzero"`
	// Seq is the number of the message among the captured messages.
	Seq int `json:"seq"`
}

// resourceState is resources.json. It holds names, the last used at the end.
type resourceState struct {
	Version  int   `json:"version"`
	Read     []use `json:"files_read"`
	Modified []use `json:"files_modified"`
	Tools    []use `json:"tools_used"`
	Commits  []use `json:"commits,omitempty"`
}

// lists returns the lists of names.
func (r *resourceState) lists() [4]*[]use {
	return [...]*[]use{&r.Read, &r.Modified, &r.Tools, &r.Commits}
}

// use is a name and the number of the message that used it last.
type use struct {
	Name string `json:"name"`
	Seq  int    `json:"seq"`
}

// openItemState is open_items.json.
type openItemState struct {
	Version int `json:"version"`
	// Items are the items open now, the most pressing first.
	Items []string `json:"items"`
	// Earlier are the items that the newest checkpoint of an earlier conversation left open.
	Earlier []freeText `json:"earlier,omitempty"`
}

// learningState is learnings.json.
type learningState struct {
	Version int               `json:"version"`
	Items   []learningCapture `json:"items"`
}

// learningCapture is a failed call with the call that worked instead.
type learningCapture struct {
	// CallID is the call that failed.
	CallID string `json:"call_id,omitempty"`
	// Key is the message that showed the way that works.
	Key  string `json:"key,omitempty"`
	What string `json:"what"`
	Seq  int    `json:"seq"`
}

// threadState is thread.json: the running conversation, and the reading position.
type threadState struct {
	Version int `json:"version"`
	// Captured counts the captured messages of the session, including those of earlier states. At
	// is the newest time of any captured message.
	Captured int `json:"captured"`
	// Since is how many of the captured messages a checkpoint or another record holds. The state
	// has the captures of later messages.
	Since int       `json:"since,omitempty"`
	At    time.Time `json:"at,omitzero"`
	// LastKey is the key of the newest message.
	LastKey string `json:"last_key,omitempty"`
	// Seen has the keys up to LastKey.
	Seen seenKeys `json:"seen,omitempty"`
	// Recent has the captures of the newest messages, which may still grow.
	Recent []delivery `json:"recent,omitempty"`
	// Topic is the gist of the user's newest message.
	Topic string `json:"topic,omitempty"`
	// First is the user's first message.
	First exchangeCapture `json:"first,omitzero"`
	// Pivots are user messages that follow a long reply.
	Pivots []exchangeCapture `json:"pivots,omitempty"`
	// Tail has the last two exchanges.
	Tail []exchangeCapture `json:"tail,omitempty"`
	// Report is the beginning of the agent's last words, and their end if it is no question.
	Report string `json:"report,omitempty"`
	// Reply is the length, in columns, of the agent's last text since the user spoke.
	Reply int `json:"reply,omitempty"`
	// Planned is the user turn in which the agent's plan changed last.
	Planned int `json:"planned,omitempty"`
	// LastCall is the newest tool call. Pending are the calls without a result.
	LastCall *callSummary `json:"last_call,omitempty"`
	Pending  []attempt    `json:"pending,omitempty"`
	// Failures are calls that failed and that nothing has made good.
	Failures []failure `json:"failures,omitempty"`
	// Costs has the number of calls that each of the newest learnings took, by a hash of the
	// learning.
	Costs []cost `json:"costs,omitempty"`
	// From is the origin of the conversation.
	From Source `json:"from,omitzero"`
	// Usage is the provider's bill for the conversation's newest call, nil if unknown.
	Usage *Usage `json:"usage,omitempty"`
	// Reader is the position of the reader that finds decisions and open items.
	Reader summary.State `json:"reader"`
	// Beside names the state files that were not empty when thread.json was written, and the
	// pointer to the newest checkpoint. A reader notices by it that one was deleted. It is empty
	// in a [State].
	Beside []string `json:"beside,omitempty"`
}

// cost is the number of calls between a failure and the call that worked.
type cost struct {
	Sum   string `json:"sum"`
	Calls int    `json:"calls"`
}

// CallsOf returns how many calls a learning took, 0 if unknown.
func (t *threadState) CallsOf(learning string) int {
	sum := sumOf(learning)
	for _, c := range t.Costs {
		if c.Sum == sum {
			return c.Calls
		}
	}
	return 0
}

func sumOf(learning string) string { return strconv.FormatUint(keyHash(learning), 36) }

// Source describes the origin of a conversation. A field is zero if it is unknown.
type Source struct {
	// File is the host's transcript.
	File string `json:"file,omitempty"`
	// Channel is the medium in which the person writes, such as telegram.
	Channel string `json:"channel,omitempty"`
	// Agent is the agent that answers.
	Agent string `json:"agent,omitempty"`
	// Compactions is the number of compactions that the host made in File.
	Compactions int `json:"compactions,omitempty"`
	// Past counts the compactions before the session's last reset.
	Past int `json:"past,omitempty"`
}

// Over returns s with its empty fields filled from o.
func (s Source) Over(o Source) Source {
	past := o.Past
	if s.File != "" && s.File != o.File {
		past = s.Past // another file
	}
	return Source{cmp.Or(s.File, o.File), cmp.Or(s.Channel, o.Channel), cmp.Or(s.Agent, o.Agent), cmp.Or(s.Compactions, o.Compactions), past}
}

// Since returns how many compactions the host made since the session's last reset.
func (s Source) Since() int { return max(0, s.Compactions-s.Past) }

// Usage is the usage that a provider billed for a call.
type Usage struct {
	// Tokens is the whole prompt.
	Tokens int `json:"tokens"`
	// Model is the billed model and Message the key of the answer, "" if unknown.
	Model   string `json:"model,omitempty"`
	Message string `json:"message,omitempty"`
	// At is the time, zero if unknown.
	At time.Time `json:"at,omitzero"`
}

// delivery is how many parts of a message were captured.
type delivery struct {
	Key   string `json:"key"`
	Parts int    `json:"parts"`
}

// exchangeCapture is one side of an exchange.
type exchangeCapture struct {
	Role string `json:"role"`
	Gist string `json:"gist"`
	Seq  int    `json:"seq"`
}

// clone copies the parts that Update may change.
func (s State) clone() State {
	s.Decisions.Items = slices.Clone(s.Decisions.Items)
	s.Decisions.Constraints = slices.Clone(s.Decisions.Constraints)
	for _, uses := range s.Resources.lists() {
		*uses = slices.Clone(*uses)
	}
	s.Learnings.Items = slices.Clone(s.Learnings.Items)
	t := &s.Thread
	t.Seen, t.Recent = slices.Clone(t.Seen), slices.Clone(t.Recent)
	t.Pivots, t.Tail = slices.Clone(t.Pivots), slices.Clone(t.Tail)
	t.Pending, t.Failures, t.Costs = slices.Clone(t.Pending), slices.Clone(t.Failures), slices.Clone(t.Costs)
	s.setVersions()
	return s
}

func (s *State) setVersions() {
	s.Decisions.Version, s.Resources.Version, s.OpenItems.Version = stateVersion, stateVersion, stateVersion
	s.Learnings.Version, s.Thread.Version = stateVersion, stateVersion
}

// Begin fits a state to the newest checkpoint of its session. It removes from the state the
// entries that the checkpoint holds. A state that has read nothing yet takes over the open items.
// A second call changes nothing. latest may be nil.
func Begin(s State, latest *Checkpoint) State {
	s = s.clone()
	if latest == nil {
		return s
	}
	m := latest.Meta
	s.Thread.From = s.Thread.From.Over(Source{File: string(m.SessionFile), Channel: string(m.Channel), Agent: string(m.AgentID)})
	through := latest.Meta.Captured
	s.Decisions.Items = newer(s.Decisions.Items, func(d decisionCapture) int { return d.Seq }, through)
	s.Decisions.Constraints = newer(s.Decisions.Constraints, func(c constraintCapture) int { return c.Seq }, through)
	s.Learnings.Items = newer(s.Learnings.Items, func(l learningCapture) int { return l.Seq }, through)
	for _, uses := range s.Resources.lists() {
		*uses = newer(*uses, func(u use) int { return u.Seq }, through)
	}
	if s.Thread.Reader.Offset.Messages == 0 {
		s.OpenItems.Earlier = latest.OpenItems
	}
	s.Thread.Captured, s.Thread.Since = max(s.Thread.Captured, through), max(s.Thread.Since, through)
	return s
}

// newer keeps the entries that follow message n, nil if there are none.
func newer[T any](list []T, seq func(T) int, n int) []T {
	list = slices.DeleteFunc(list, func(e T) bool { return seq(e) <= n })
	return orNil(list)
}

// orNil makes empty lists nil, so that equal states are equal after a round trip.
func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// Changed reports whether a state has captured a message that the checkpoint does
// not hold.
func (s State) Changed(latest *Checkpoint) bool {
	return s.Thread.Captured > 0 && (latest == nil || s.last() > latest.Meta.Captured)
}

// Old reports whether msgs may have been captured before although the state no longer knows their
// keys. That is the case for a turn from before the oldest known key.
func (s State) Old(msgs []memkernel.Message) bool {
	t := &s.Thread
	return len(t.Seen) == maxSeen && !slices.ContainsFunc(msgs, func(m memkernel.Message) bool { return m.Key == t.LastKey })
}

// last returns the number of the newest message with a capture in the state. After a kill the
// reading position may be older than the other files.
func (s State) last() int {
	n := s.Thread.Captured
	for _, d := range s.Decisions.Items {
		n = max(n, d.Seq)
	}
	for _, l := range s.Learnings.Items {
		n = max(n, l.Seq)
	}
	for _, uses := range s.Resources.lists() {
		for _, u := range *uses {
			n = max(n, u.Seq)
		}
	}
	return n
}

// next returns the state of the cycle after a checkpoint that holds s. The thread stays in the
// state, since it is bounded and the next checkpoint needs its beginning.
func (s State) next() State {
	s = s.clone()
	s.Thread.Captured = s.last()
	s.Thread.Since = s.Thread.Captured
	s.Decisions.Items, s.Decisions.Constraints, s.Learnings.Items = nil, nil, nil
	s.Resources = resourceState{Version: stateVersion}
	return s
}

// seenKeys are hashes of message keys, the newest last, at most maxSeen.
type seenKeys []uint64

func keyHash(key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(key))
	return h.Sum64()
}

// MarshalText returns eight bytes per key in base64.
func (k seenKeys) MarshalText() ([]byte, error) {
	raw := make([]byte, 0, 8*len(k))
	for _, h := range k {
		raw = binary.LittleEndian.AppendUint64(raw, h)
	}
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

// UnmarshalText reads the result of MarshalText.
func (k *seenKeys) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil || len(raw)%8 != 0 || len(raw) > 8*maxSeen {
		return errors.New("seen is not a list of message keys")
	}
	*k = nil
	for ; len(raw) > 0; raw = raw[8:] {
		*k = append(*k, binary.LittleEndian.Uint64(raw))
	}
	return nil
}
