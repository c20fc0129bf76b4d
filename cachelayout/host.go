package cachelayout

// The figures of a host that compacts its conversation by itself, as hosts commonly have
// them.
const (
	// HostKeep bounds the newest messages that such a compaction keeps, in tokens.
	HostKeep = 20_000
	// HostSummary is the size of its summary, and of the output that writes it.
	HostSummary = 2_000

	hostReserve      = 32_000
	hostReserveShare = 0.16
)

// HostRoom returns how many tokens of messages a host sends before it compacts them: the
// window without the host's reserve and the fixed part.
func HostRoom(window, fixed int) int {
	return window - min(hostReserve, int(hostReserveShare*float64(window))) - fixed
}

// HostKeeps returns how many tokens of the newest messages a compaction keeps in a room.
func HostKeeps(room int) int { return min(HostKeep, room/4) }

// Alone is the request that a host would have sent without memkernel, in the tokens of the plan
// for the same call. It is the ledger of the host's own cache: the next request reads from there
// all but Fresh, as long as the cache is warm. The zero Alone is that of a session before its
// first call.
type Alone struct {
	// Tokens is the whole request.
	Tokens int `json:"tokens"`
	// Fresh is the part of it that no request before held.
	Fresh int `json:"fresh"`
	// Left are the messages that the host would have compacted away by now, less the
	// summary in their place.
	Left int `json:"left,omitempty"`
	// Summarised is how much a call before this one would have read to write that summary;
	// 0 where the host had no reason to compact.
	Summarised int `json:"summarised,omitempty"`
	// Sent reports whether this very request is sent. Same reports whether the cached part of it
	// was sent unchanged, too. The bill is then the host's own.
	Sent bool `json:"sent,omitempty"`
	Same bool `json:"same,omitempty"`
	// FixedHash names tools and system.
	FixedHash string `json:"fixed_hash,omitempty"`
}

// HostRequest is a request as the host wrote it, in tokens.
type HostRequest struct {
	Fixed, Messages int
	FixedHash       string
	// Common is how much of the messages the host had sent with its last request.
	Common int
	Window int
	// Sent reports whether nothing was cut from it, kept out or added.
	Sent bool
}

// Next returns the request after a. A host whose messages are over its room compacts them
// first, unless they were sent all the same.
func (a *Alone) Next(r HostRequest) Alone {
	n := Alone{FixedHash: r.FixedHash, Left: a.Left, Sent: r.Sent, Same: r.Sent && (a.Sent || r.Common == 0)}
	if r.Sent || r.Common < a.Left {
		n.Left = 0 // the host itself took back the messages that would have left
	}
	shown, known := r.Messages-n.Left, max(r.Common-n.Left, 0)
	n.Fresh = max(shown-known, 0)
	if room := HostRoom(r.Window, r.Fixed); !r.Sent && shown > room && room > 0 {
		stays := HostSummary + HostKeeps(room)
		n.Summarised, n.Left = r.Fixed+known, r.Messages-stays
		shown, n.Fresh = stays, stays
	}
	if r.FixedHash != a.FixedHash {
		n.Fresh = r.Fixed + shown
	}
	n.Tokens = r.Fixed + shown
	return n
}
