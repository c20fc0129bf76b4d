package replay

import (
	"slices"
	"strconv"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/replay/recall"
	"github.com/memkernel/memkernel/transcript"
)

// Recording is a prepared session, the common input of all policies.
type Recording struct {
	Opt      Options
	Counter  budget.Model
	Messages []memkernel.Message
	Calls    []transcript.Call
	// numbers count the calls, including those in left, which can't be planned.
	numbers []int
	left    []Unplanned
	// others are calls that another policy could not plan. They are replayed but not counted.
	others []Unplanned
	Items  []Item // the messages in full
	Atoms  []transcript.Atom
	// after counts, for each call, the calls since the host's own last compaction, from 1 on. It
	// is 0 if there was no compaction yet.
	after []int
	// output is the billed size of each message as an answer, in tokens.
	output []int
	// rewrites are the host's changes of the earlier conversation.
	rewrites []rewrite
	sizes    map[recall.Place]int
}

// Item is a message as a prompt shows it.
type Item struct {
	// hash identifies the item's bytes.
	hash   string
	region string
	Msg    memkernel.Message
	Text   string
	Tokens int
	image  bool
}

// Record splits the view into messages and calls, and drops the provider's usage: a replay knows
// messages and times, nothing else.
func Record(s *transcript.Session, opt Options) (*Recording, error) {
	if opt.View != transcript.Full {
		return RecordMessages(s.View(opt.View), nil, opt)
	}
	view := s.View(transcript.Full)
	r, err := RecordMessages(view, s.Compactions(), opt)
	if err == nil {
		r.follow(view, s)
	}
	return r, err
}

// RecordMessages is [Record] for messages that the host compacted at the positions in
// compactions.
func RecordMessages(view []memkernel.Message, compactions []int, opt Options) (*Recording, error) {
	if opt.Prices == nil {
		opt.Prices = cachelayout.DefaultBook()
	}
	msgs, _ := transcript.Repair(view, false)
	opt.infer(msgs)
	r := &Recording{Opt: opt, Calls: transcript.Calls(msgs), sizes: map[recall.Place]int{}}
	var err error
	if r.Counter, err = opt.counter(opt.Model); err != nil {
		return nil, err
	}
	for i := range msgs {
		m := msgs[i]
		r.output = append(r.output, r.answered(&m))
		m.Usage = nil
		r.Messages = append(r.Messages, m)
		r.Items = append(r.Items, r.Item("m"+strconv.Itoa(i), m))
	}
	r.Atoms = transcript.Atoms(r.Messages)
	r.after = sinceCompaction(view, compactions, len(r.Calls))
	if n := opt.Limit; n > 0 && n < len(r.Calls) {
		r.Calls = r.Calls[:n]
	}
	for n := range r.Calls {
		r.numbers = append(r.numbers, n)
	}
	r.leave()
	return r, nil
}

// answered returns the output tokens that a message was billed for. That is the recorded number
// or the message's size, whichever is more, since hosts that stream often record a stub.
func (r *Recording) answered(m *memkernel.Message) int {
	n := r.Counter.Message(m)
	if m.Usage != nil {
		n = max(n, m.Usage.OutputTokens)
	}
	return n
}

// Item makes the item of a message. hash identifies the message's content.
func (r *Recording) Item(hash string, m memkernel.Message) Item {
	return Item{hash: hash, region: cachelayout.RegionWorkingSet, Msg: m, Text: recall.TextOf(m), Tokens: r.Counter.Message(&m), image: hasImage(m.Parts)}
}

// Note returns an item that the policy itself puts in front of the messages.
func (r *Recording) Note(hash, text string) Item {
	it := r.Item(hash, memkernel.Message{Key: hash, Role: memkernel.RoleUser, Parts: memkernel.Text(text)})
	it.region = cachelayout.RegionCarry
	return it
}

// End returns how many messages are before call n.
func (r *Recording) End(n int) int { return r.Calls[n].Index }

// Seen returns how many messages were before the previous call. Later ones are new to call n.
func (r *Recording) Seen(n int) int {
	if n == 0 {
		return 0
	}
	return r.Calls[n-1].Index
}

// Sum returns the size of the messages from index `from` to before index `end`, shown in full.
func (r *Recording) Sum(from, end int) int {
	n := 0
	for i := from; i < end; i++ {
		n += r.Items[i].Tokens
	}
	return n
}

// Model returns the model's entry in the price book at a time.
func (r *Recording) Model(at time.Time) cachelayout.Model {
	m, known := r.Opt.Prices.Lookup(r.Opt.Model, at)
	if !known {
		return cachelayout.Assume(r.Opt.Model)
	}
	return m
}

// size returns how many tokens a place of the history takes, without thinking, which is never
// fetched.
func (r *Recording) size(at recall.Place) int {
	if n, ok := r.sizes[at]; ok {
		return n
	}
	m := memkernel.Message{Role: r.Messages[at.Message].Role}
	for _, p := range r.Messages[at.Message].Parts {
		if callOf(&p) == at.CallID && p.Kind != memkernel.PartThinking && p.Kind != memkernel.PartRedactedThinking {
			m.Parts = append(m.Parts, p)
		}
	}
	r.sizes[at] = r.Counter.Message(&m)
	return r.sizes[at]
}

// callOf returns the call that a part belongs to, "" for dialogue.
func callOf(p *memkernel.Part) string {
	switch {
	case p.Call != nil:
		return p.Call.ID
	case p.Result != nil:
		return p.Result.CallID
	}
	return ""
}

func hasImage(parts []memkernel.Part) bool {
	return slices.ContainsFunc(parts, func(p memkernel.Part) bool {
		return p.Kind == memkernel.PartImage || p.Result != nil && hasImage(p.Result.Content)
	})
}

// sinceCompaction counts calls after each of the host's compactions, which are given as positions
// in the view.
func sinceCompaction(view []memkernel.Message, at []int, calls int) []int {
	out := make([]int, calls)
	last, next := -1, 0
	for n, c := range transcript.Calls(view) {
		for ; next < len(at) && at[next] <= c.Index; next++ {
			last = n
		}
		if n < calls && last >= 0 {
			out[n] = n - last + 1
		}
	}
	return out
}
