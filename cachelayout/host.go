package cachelayout

// The figures of a host that compacts its conversation by itself, as hosts commonly have
// them.
const (
	// HostKeep bounds the newest messages that such a compaction keeps, in tokens.
	HostKeep = 20_000
	// HostSummary is the size of such a compaction's summary, and of the output that writes the
	// summary.
	HostSummary = 2_000

	hostReserve      = 32_000
	hostReserveShare = 0.16
)

// HostRoom returns how many tokens of messages a host sends before it compacts its conversation.
// It is the window without the host's reserve and the fixed part.
func HostRoom(window, fixed int) int {
	return window - min(hostReserve, int(hostReserveShare*float64(window))) - fixed
}

// hostKeeps returns how many tokens of the newest messages a compaction keeps. room is the result
// of HostRoom.
func hostKeeps(room int) int { return min(HostKeep, room/4) }

// Alone is the request that a host would have sent without memkernel, in the tokens of the plan
// for the same call. It models the host's own cache: while the cache is warm, a request reads
// everything but its Fresh tokens from the cache. The zero Alone is the state of a session before
// its first call.
type Alone struct {
	// Tokens is the size of the whole request.
	Tokens int `json:"tokens"`
	// Fresh is the number of tokens of the request that no earlier request held.
	Fresh int `json:"fresh"`
	// Left is the size of the messages that the host would have compacted away by now, minus the
	// size of the summary in their place.
	Left int `json:"left,omitempty"`
	// Summarised is the number of tokens that an additional call would have read to write that
	// summary. It is 0 if the host had no reason to compact.
	Summarised int `json:"summarised,omitempty"`
	// Sent reports whether exactly this request is sent.
	Sent bool `json:"sent,omitempty"`
	// Same reports whether the cached part of the request was sent unchanged, too. The bill is
	// then the host's own.
	Same bool `json:"same,omitempty"`
	// FixedHash identifies the contents of tools and system.
	FixedHash string `json:"fixed_hash,omitempty"`
}

// HostRequest is a request as the host wrote it, in tokens.
type HostRequest struct {
	Fixed, Messages int
	FixedHash       string
	// Common is the size of those messages that the host also sent with its last request.
	Common int
	Window int
	// Sent reports whether nothing was cut from the request, kept out of it or added to it.
	Sent bool
}

// Next returns the state after the host's next request. If the messages exceed the host's room,
// the host compacts them first, unless they were sent unchanged.
func (a *Alone) Next(r HostRequest) Alone {
	n := Alone{FixedHash: r.FixedHash, Left: a.Left, Sent: r.Sent, Same: r.Sent && (a.Sent || r.Common == 0)}
	if r.Sent || r.Common < a.Left {
		n.Left = 0 // the host itself took back the messages that would have left
	}
	shown, known := r.Messages-n.Left, max(r.Common-n.Left, 0)
	n.Fresh = max(shown-known, 0)
	if room := HostRoom(r.Window, r.Fixed); !r.Sent && shown > room && room > 0 {
		stays := HostSummary + hostKeeps(room)
		n.Summarised, n.Left = r.Fixed+known, r.Messages-stays
		shown, n.Fresh = stays, stays
	}
	if r.FixedHash != a.FixedHash {
		n.Fresh = r.Fixed + shown
	}
	n.Tokens = r.Fixed + shown
	return n
}
