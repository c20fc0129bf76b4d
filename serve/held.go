package serve

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// conversation has the messages that a host hands in. They are all messages, or only the messages
// after the ones that the server holds.
type conversation struct {
	// Dialect is anthropic, openai, codex (items of the Responses API) or pi.
	Dialect string `json:"dialect" rpc:"anthropic|openai|codex|pi"`
	// Base is the mark of the held conversation, from the last answer.
	Base string `json:"base"`
	// Keep is how many messages of the held conversation are kept. Without it all are kept.
	Keep *int `json:"keep"`
	// Messages are the messages after the kept ones. Unknown members of a message are kept. In
	// chat completions the list may begin with system messages.
	Messages []json.RawMessage `json:"messages" rpc:"objects"`
	// Keys are the ids of the messages, "" for a message without an id.
	Keys []string `json:"keys"`
}

// talkCall has the common parameters of the calls that take a conversation.
type talkCall struct {
	Conversation *conversation `json:"conversation"`
}

func (t *talkCall) handed() *conversation { return t.Conversation }

// mark names the conversation that is held after a call.
type mark struct {
	// Base must be handed in with the next call.
	Base string `json:"base"`
	// Count is the number of messages that are held.
	Count int `json:"count"`
}

// shelf holds conversations by caller, session and branch. Above a total size it drops the least
// recently used conversations. A conversation is used only in the lane of its session.
type shelf struct {
	max    int64
	prefix string

	mu    sync.Mutex
	last  int64 // counts the calls of put
	bytes int64
	byKey map[heldKey]*held
}

// heldKey names a conversation. caller is the name of a caller without a connection, "" for all
// others. A conversation that one caller handed in must never serve another.
type heldKey struct{ caller, session, branch string }

// held is a conversation that the server keeps from one call to the next.
type held struct {
	key    heldKey
	base   string
	used   int64 // the value of last at the last call of put
	bytes  int64
	intake *transcript.Intake
}

func newShelf(max int64) *shelf {
	return &shelf{max: max, prefix: rand.Text()[:8] + ".", byKey: map[heldKey]*held{}}
}

// take removes a conversation from the shelf and returns it. It returns nil if the shelf does not
// have the conversation.
func (s *shelf) take(key heldKey) *held {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remove(key)
}

// remove is take for a caller that holds mu.
func (s *shelf) remove(key heldKey) *held {
	h := s.byKey[key]
	if h != nil {
		delete(s.byKey, key)
		s.bytes -= h.bytes
	}
	return h
}

// put returns a conversation to the shelf under a new mark, nil without a conversation. If there is
// no room, it drops other conversations.
func (s *shelf) put(h *held) *mark {
	if h == nil {
		return nil
	}
	h.bytes = 0
	for _, v := range h.intake.Values() {
		h.bytes += int64(len(v))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	h.used, h.base = s.last, s.prefix+strconv.FormatInt(s.last, 36)
	s.byKey[h.key] = h
	s.bytes += h.bytes
	for s.bytes > s.max && len(s.byKey) > 1 {
		oldest := h
		for _, other := range s.byKey {
			if other.used < oldest.used {
				oldest = other
			}
		}
		s.remove(oldest.key)
	}
	return &mark{h.base, h.intake.Len()}
}

// drop removes the held conversations of a session.
func (s *shelf) drop(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.byKey {
		if key.session == session {
			s.remove(key)
		}
	}
}

// receive adds the messages that a host handed in to the held conversation, and returns the
// conversation. It returns nil if the host handed in no conversation. The caller must put the
// conversation back after the call succeeded. After a failed call the host must hand in all
// messages.
func (s *shelf) receive(key heldKey, c *conversation) (*held, error) {
	if c == nil {
		return nil, nil
	}
	values := names(c.Messages)
	c.Messages = nil // so that messages that are held already are not in memory twice
	if len(c.Keys) > len(values) {
		return nil, badParams("keys name the messages that are handed in, in their order", "conversation: there are %d keys for %d messages", len(c.Keys), len(values))
	}
	h := s.take(key)
	if c.Base != "" {
		return extend(h, c, values)
	}
	if c.Keep != nil {
		return nil, badParams("hand in the base that the last answer gave", "conversation: keep says how much stands of a base, and there is none")
	}
	return replace(h, key, c, values)
}

// extend adds to the held conversation.
func extend(h *held, c *conversation, values []string) (*held, error) {
	if h == nil || h.base != c.Base || c.Dialect != "" && transcript.Dialect(c.Dialect) != h.intake.Dialect() {
		return nil, NewError("BASE_UNKNOWN", "the conversation that this continues is not held any more", "hand in all messages, without base")
	}
	keep := h.intake.Len()
	if c.Keep != nil {
		keep = *c.Keep
	}
	if keep < 0 || keep > h.intake.Len() {
		return nil, badParams("keep is a number of messages from the first", "conversation: keep %d of %d messages", keep, h.intake.Len())
	}
	h.intake.Truncate(keep)
	return h, appendValues(h.intake, values, c.Keys)
}

// replace replaces all messages. It does not read messages again that are already held.
func replace(h *held, key heldKey, c *conversation, values []string) (*held, error) {
	same := 0
	if h != nil && h.intake.Dialect() == transcript.Dialect(c.Dialect) && len(c.Keys) == 0 {
		for same < min(len(values), h.intake.Len()) && values[same] == h.intake.Values()[same] {
			same++
		}
		h.intake.Truncate(same)
		return h, appendValues(h.intake, values[same:], nil)
	}
	in, err := transcript.NewIntake(transcript.Dialect(c.Dialect))
	if err != nil {
		return nil, badParams("name the dialect of the messages: anthropic, openai, codex or pi", "conversation: %s", err)
	}
	return &held{key: key, intake: in}, appendValues(in, values, c.Keys)
}

func appendValues(in *transcript.Intake, values, keys []string) error {
	if err := in.Append(values, keys); err != nil {
		return badParams(fmt.Sprintf("a message is what the dialect %s has in its list", in.Dialect()), "conversation: %s", err)
	}
	return nil
}

// messages returns the messages of a held conversation, nil if there is none.
func (h *held) messages() []memkernel.Message {
	if h == nil {
		return nil
	}
	return h.intake.Messages()
}
