package pagevm

import (
	"slices"

	"github.com/memkernel/memkernel"
)

// Rewrite names how a host's request differs from its previous request.
type Rewrite string

const (
	// RewriteNone: the request extends the previous one.
	RewriteNone Rewrite = ""
	// RewriteUnder: only messages that had left the prompt changed. Every byte that was sent is
	// kept.
	RewriteUnder Rewrite = "host_rewrite_under_cut"
	// RewriteBehind: a message that is in the prompt was edited, replaced or compacted away. The
	// prompt is replaced from that message on.
	RewriteBehind Rewrite = "host_rewrite"
	// RewriteRewind: the host took back messages at the end (a retry or undo).
	RewriteRewind Rewrite = "host_rewind"
)

// Alignment describes how a request's host messages match a projection.
type Alignment struct {
	Rewrite Rewrite `json:"rewrite,omitempty"`
	// Seen is the new sequence of messages up to At, with the projection's Gone flags.
	Seen []Seen `json:"-"`
	// Items is how many of the projection's items are kept.
	Items int `json:"items"`
	// At is the index of the first host message that is new to the projection: the caller must
	// append host[At:].
	At int `json:"at"`
	// First is the index of the first host message that differs, for the report.
	First int `json:"first"`
	// Stale reports whether the segments that had left the prompt are no longer the past of the
	// current ones. The caller must then make the carry block again.
	Stale bool `json:"stale,omitempty"`
}

// Align compares host with the messages that p has seen, by key and content hash. It keeps the
// longest common prefix. The Rewrite of the result describes the host's change after the prefix: it
// changed only messages that had left the prompt, it took messages back, or it changed messages in
// the prompt. In the first case every byte of the prompt is kept.
func Align(p *Projection, host []HostMessage) Alignment {
	lcp := 0
	for lcp < len(p.Seen) && lcp < len(host) && same(p.Seen[lcp], &host[lcp]) {
		lcp++
	}
	switch {
	case lcp == len(p.Seen):
		return Alignment{Seen: p.Seen, Items: len(p.Items), At: lcp, First: lcp}
	case lcp == len(host):
		a := truncate(p, host, lcp)
		a.Rewrite = RewriteRewind
		return a
	}
	if seen, at, ok := resync(p, host, lcp); ok {
		return Alignment{Rewrite: RewriteUnder, Seen: seen, Items: len(p.Items), At: at, First: lcp}
	}
	a := truncate(p, host, lcp)
	a.Rewrite = RewriteBehind
	return a
}

func same(s Seen, m *HostMessage) bool { return s.Key == m.Key && s.Hash == m.Hash }

// truncate keeps the first n host messages and the items that belong to them. If the last turn
// among them had left the prompt, that turn comes back from its first user message on, since a
// question that waits for an answer must stay.
func truncate(p *Projection, host []HostMessage, n int) Alignment {
	at := n
	if n == len(host) || !host[n].plainUser() {
		for at > 0 && p.Seen[at-1].Gone {
			at--
			if host[at].plainUser() {
				break
			}
		}
	}
	standing := make(map[string]bool, at)
	for _, s := range p.Seen[:at] {
		if !s.Gone {
			standing[s.Key] = true
		}
	}
	items := 0
	for items < len(p.Items) && standing[p.Items[items].Key] {
		items++
	}
	return Alignment{Seen: p.Seen[:at:at], Items: items, At: at, First: n, Stale: slices.ContainsFunc(p.Seen[at:], func(s Seen) bool { return s.Gone })}
}

// plainUser reports whether m is a user's words and no tool result.
func (m *HostMessage) plainUser() bool {
	if m.Role != memkernel.RoleUser {
		return false
	}
	return !slices.ContainsFunc(m.Segments, func(s Segment) bool { return s.Kind == ItemResult })
}

// resync looks in host for the remaining messages of the projection, after a common prefix of lcp
// messages. The two may differ only where messages had left. It returns the new sequence, and the
// index in host at which the new messages begin. It returns false if host lacks a message that the
// prompt shows, or if the prompt shows none after the prefix.
func resync(p *Projection, host []HostMessage, lcp int) ([]Seen, int, bool) {
	// The prefix may end in the middle of a run of messages that left. Start at the beginning of
	// the run.
	h := lcp
	seen := append(make([]Seen, 0, len(host)), p.Seen[:lcp]...)
	for i := lcp; i < len(p.Seen); {
		gap := i > 0 && p.Seen[i-1].Gone
		for i < len(p.Seen) && p.Seen[i].Gone {
			i, gap = i+1, true
		}
		if i == len(p.Seen) {
			break
		}
		at := h
		for gap && at < len(host) && !same(p.Seen[i], &host[at]) {
			seen = append(seen, Seen{Key: host[at].Key, Hash: host[at].Hash, Gone: true})
			at++
		}
		if at == len(host) || !same(p.Seen[i], &host[at]) {
			return nil, 0, false
		}
		seen = append(seen, p.Seen[i])
		h, i = at+1, i+1
	}
	return seen, h, slices.ContainsFunc(p.Seen[lcp:], func(s Seen) bool { return !s.Gone })
}
