package predict

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/transcript"
)

// stretch is a partly processed segment. It has the sizes of the messages before the next answer.
type stretch struct {
	messages []memkernel.Message
	sizes    []sized
	// user is the index of the last measured message that opened a user turn.
	user int
	// keeps: the model keeps the thinking of earlier turns.
	keeps  bool
	anchor anchor
}

// sized is a message with its size.
type sized struct {
	measure
	hash string
	// output is the number of tokens that the provider billed for writing the message, 0 if
	// unknown. It is known after the call was made.
	output int
}

// extent is the part of a stretch that a prompt held. messages is the number of messages. Before
// message user, thinking was dropped.
type extent struct{ messages, user int }

// anchor is the last prompt of the stretch that was billed.
type anchor struct {
	at       extent
	recorded int
}

func (st *stretch) take(s sized) {
	if transcript.PlainUser(st.messages[len(st.sizes)]) {
		st.user = len(st.sizes)
	}
	st.sizes = append(st.sizes, s)
}

func (st *stretch) now() extent { return extent{len(st.sizes), st.user} }

// drops reports whether a message is sent without its thinking.
func (st *stretch) drops(i int, e extent) bool {
	return !st.keeps && i < e.user && st.sizes[i].thinking+st.sizes[i].hidden() > 0
}

// hidden returns by how many tokens the answer's bill exceeds its text. The difference is
// thinking that the transcript does not hold.
func (s *sized) hidden() int {
	return max(s.output-s.tokens, 0)
}

// size returns a message's expected tokens in a prompt of extent e.
func (st *stretch) size(i int, l line, e extent) float64 {
	s := &st.sizes[i]
	n := s.tokens
	if s.output > 0 {
		n = s.output
		if st.drops(i, e) {
			n -= s.thinking + s.hidden()
		}
		return float64(max(n, 0))
	}
	if st.drops(i, e) {
		n -= s.thinking
	}
	return l.ratio * float64(n)
}

// prompt returns the expected size of the messages of a prompt.
func (st *stretch) prompt(l line, e extent) float64 {
	n := 0.0
	for i := range e.messages {
		n += st.size(i, l, e)
	}
	return n
}

// newTokens returns the tokens of the messages since the anchor. counted is the part that is counted
// here, and exact the part that the provider billed as output.
func (st *stretch) newTokens() (counted, exact float64) {
	for i := st.anchor.at.messages; i < len(st.sizes); i++ {
		n := st.size(i, line{ratio: 1}, st.now())
		if st.sizes[i].output > 0 {
			exact += n
		} else {
			counted += n
		}
	}
	return counted, exact
}

// dropped returns the size of the thinking that the anchor's prompt held and the next prompt
// leaves out.
func (st *stretch) dropped(l line) float64 {
	e := st.anchor.at
	return st.prompt(l, e) - st.prompt(l, extent{e.messages, st.user})
}

// added returns the measure of the messages since the anchor.
func (st *stretch) added() measure {
	var out measure
	for i := st.anchor.at.messages; i < len(st.sizes); i++ {
		out.add(st.sizes[i].tokens, st.sizes[i].bytes)
	}
	return out
}

// answered returns the number of messages of the last turn if the next call opens another turn,
// and 0 otherwise.
func (st *stretch) answered() int {
	n := st.anchor.at.messages // the answer is there
	if st.anchor.recorded == 0 || n >= len(st.sizes) || st.user <= n || transcript.HasCalls(st.messages[n]) {
		return 0
	}
	return n + 1
}

// Names of blocks.
const (
	fixedBlock   = "fixed"
	messageBlock = "message"
)

// blocks returns the prompt of the next call: the fixed part, then a block per message. With an
// anchor the difference between the last bill and our own figure for it is added to the fixed
// part, and the overhead of a call is added to the newest message.
func (st *stretch) blocks(fixed int, l line, anchored bool) []cachelayout.Block {
	now := st.now()
	out := make([]cachelayout.Block, 1, len(st.sizes)+1)
	out[0] = cachelayout.Block{ID: fixedBlock, Region: cachelayout.RegionSystem, Hash: fixedBlock,
		Positions: 1, Markable: true, Message: cachelayout.MessageSystem, Tokens: fixed}
	carry := 0.0
	if anchored && st.anchor.recorded > 0 {
		exact := max(0, float64(st.anchor.recorded)-st.prompt(l, st.anchor.at))
		out[0].Tokens = int(exact)
		carry = exact - float64(out[0].Tokens)
	}
	for i := range st.sizes {
		m, exact := &st.messages[i], carry+st.size(i, l, now)
		if i == len(st.sizes)-1 && anchored && st.anchor.recorded > 0 {
			exact += l.overhead
		}
		b := cachelayout.Block{ID: messageBlock, Region: cachelayout.RegionWorkingSet, Hash: st.sizes[i].hash, Tokens: max(0, int(exact)),
			Positions: positions(m), Markable: markable(m), Image: hasImage(m.Parts), Message: i}
		if st.drops(i, now) {
			b.Hash += "-"
		}
		carry = exact - float64(b.Tokens)
		out = append(out, b)
	}
	return out
}
