package proxy

import (
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// planned is the part of a conversation's newest plan that is needed to send it again with new
// messages after it. It has no text that is also in the client's request.
//
//	host   ─ m0 ─ m1 ─ m2 ─ m3 ─ m4        the client's messages, by fingerprint
//	shown  ─ carry ─ m2' ─ m3 ─ m4 ─ note  the messages sent for them
type planned struct {
	model string
	host  []uint64
	shown []shown
	// sure is an index in shown. For each message from sure on, it is certain which of the client's
	// messages it is.
	sure        int
	markers     []transcript.Marker
	thinkingOff bool
}

// shown is a message that was sent. host is its index in the client's request. If host is -1, the
// client's request does not have the message, and kept is a copy of it.
type shown struct {
	host int
	kept *memkernel.Message
}

// newPlanned returns the record of plan p, which was made for request b.
func newPlanned(b *transcript.Body, p *api.ContextPlan) *planned {
	s := &planned{model: b.Model, host: fingerprints(b.Messages), markers: p.Markers, thinkingOff: p.Params.ThinkingOff}
	next := 0
	for i := range p.Messages {
		m := &p.Messages[i]
		at := -1
		if m.Raw != "" {
			at = slices.IndexFunc(b.Messages[next:], func(own memkernel.Message) bool { return own.Raw == m.Raw })
		}
		if at < 0 {
			s.shown = append(s.shown, shown{-1, keep(m)})
			continue
		}
		next += at + 1
		s.shown = append(s.shown, shown{host: next - 1})
	}
	s.settle(b)
	return s
}

// settle finds the client's messages at the end of the plan. Before these messages, a message
// that occurs twice is ambiguous.
func (s *planned) settle(b *transcript.Body) {
	at := len(b.Messages) - 1
	for s.sure = len(s.shown); s.sure > 0 && at >= 0; s.sure-- {
		switch m := &s.shown[s.sure-1]; {
		case m.host >= 0 && b.Messages[m.host].Raw == b.Messages[at].Raw:
			m.host = at
			at--
		case m.host >= 0 || !strings.HasPrefix(m.kept.Key, "memkernel:"): // which the kernel did not add
			return
		}
	}
}

// extended returns the sent messages followed by the new ones of b, and the markers for them. It
// returns nil if b does not continue the plan, because the client removed or changed a message
// that the plan does not show as written.
func (s *planned) extended(b *transcript.Body, marked int) ([]memkernel.Message, []transcript.Marker) {
	if s.model != b.Model {
		return nil, nil
	}
	same := common(s.host, b.Messages)
	keep := s.upTo(same)
	if keep == 0 {
		return nil, nil
	}
	out := make([]memkernel.Message, 0, keep+len(b.Messages)-same)
	for _, m := range s.shown[:keep] {
		if m.host >= 0 {
			out = append(out, b.Messages[m.host])
		} else {
			out = append(out, *m.kept)
		}
	}
	out = append(out, b.Messages[same:]...)
	return out, s.marks(keep, len(out), marked-same+keep)
}

// upTo returns how many of the sent messages cover the first n messages of the client, 0 if that
// is unknown.
func (s *planned) upTo(n int) int {
	switch n {
	case 0:
		return 0
	case len(s.host):
		return len(s.shown)
	}
	for i := s.sure; i < len(s.shown); i++ {
		if s.shown[i].host != n-1 {
			continue
		}
		for i++; i < len(s.shown) && s.shown[i].host < 0; {
			i++
		}
		return i
	}
	return 0
}

// marks returns the plan's cache markers that are still valid. It adds one marker each at the end
// of the plan, at the end of the last request after the plan, and at the end of this request.
func (s *planned) marks(keep, n, marked int) (out []transcript.Marker) {
	end := -1
	for _, mk := range s.markers {
		if mk.Message < keep {
			out = append(out, mk)
		}
		if mk.Message >= 0 && (end < 0 || mk.Message >= s.markers[end].Message) {
			end = slices.Index(s.markers, mk)
		}
	}
	if end < 0 {
		return out // the provider needs none
	}
	for _, at := range []int{keep, marked, n} {
		if at >= keep && at <= n && !slices.ContainsFunc(out, func(mk transcript.Marker) bool { return mk.Message == at-1 }) {
			out = append(out, transcript.Marker{Message: at - 1, Part: transcript.LastPart, TTL: s.markers[end].TTL})
		}
	}
	return out
}

// common returns the number of leading messages that are equal to the leading messages of host.
func common(host []uint64, msgs []memkernel.Message) int {
	n := 0
	for n < len(host) && n < len(msgs) && host[n] == fingerprint(&msgs[n]) {
		n++
	}
	return n
}

// seed is the random seed of all fingerprints in this process.
var seed = maphash.MakeSeed()

// fingerprint returns the hash of a message's content. It does not depend on the JSON that the
// client wrote.
func fingerprint(m *memkernel.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	field(&h, string(m.Role))
	for i := range m.Parts {
		p := &m.Parts[i]
		hashPart(&h, p)
		field(&h, p.Signature)
		if p.Result != nil && p.Result.IsError {
			field(&h, "error")
		}
	}
	return h.Sum64()
}

func fingerprints(msgs []memkernel.Message) []uint64 {
	out := make([]uint64, len(msgs))
	for i := range msgs {
		out[i] = fingerprint(&msgs[i])
	}
	return out
}

// extend chooses the body to send for a request without a plan, and gives the reason. The body
// has the newest plan's messages followed by the new messages, so that only the new messages cost
// the full price. Without such a plan the client's own bytes pass.
func (x *Proxy) extend(e *exchange, reason string, err error) *outcome {
	o := passed(e.data, reason, err)
	s := e.line.planned.Load()
	if s == nil {
		return o
	}
	marked := 0
	if before := e.line.unplanned.Load(); before != nil {
		marked = len(before.Messages)
	}
	msgs, markers := s.extended(e.body, marked)
	if msgs == nil {
		return o
	}
	w, err := x.written(e, &transcript.BodyEdit{Messages: msgs, Markers: markers}, s.thinkingOff && !slices.ContainsFunc(e.body.Messages[common(s.host, e.body.Messages):], transcript.PlainUser))
	if err != nil {
		return o
	}
	w.extends, w.reason, w.detail = true, reason, o.detail
	return w
}

// keep copies a message with all its texts. Without the copy the texts would keep the whole
// request in memory.
func keep(m *memkernel.Message) *memkernel.Message {
	out := new(memkernel.Message)
	data, err := json.Marshal(memkernel.Message{Key: m.Key, Role: m.Role, Model: m.Model, Raw: m.Raw, Parts: m.Parts})
	if err != nil || json.Unmarshal(data, out) != nil {
		return m // never: strings and numbers can be written and read
	}
	return out
}
