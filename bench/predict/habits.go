package predict

// habits are the traits of host and provider, other than sizes, that the bills of earlier calls
// show. Each is a plain count or the last value seen.
type habits struct {
	// shared is the part that the last cold call still read: tools and system prompt, which other
	// sessions of the host keep warm. front is the largest number of tokens that a call read
	// without reading the messages.
	shared, front int
	known         bool
	// tails are the uncached tokens of the newest calls, which follow the host's last marker.
	tails []int
	// After a turn's end a host may call the model once more, for example to suggest the user's
	// next message. No transcript shows this call, but the next call reads more than the last
	// recorded call sent. followed counts the turns with such a call, and alone the turns without
	// one.
	followed, alone int
	// attached is the text that the host put before the last compaction's summary, such as files
	// that were read shortly before.
	attached int
}

const (
	keptTails = 9
	// minFollowed is the number of turns that show a habit.
	minFollowed = 2
)

// broke learns from a call that read little or nothing of the messages.
func (h *habits) broke(read int, expired bool) {
	if expired || !h.known {
		h.shared = read
	}
	h.front = max(h.front, read)
	h.known = true
}

func (h *habits) sent(uncached int) {
	h.tails = append(h.tails, uncached)
	if len(h.tails) > keptTails {
		h.tails = h.tails[1:]
	}
}

// tail returns the median of the newest tails.
func (h *habits) tail() int {
	v := make([]float64, len(h.tails))
	for i, n := range h.tails {
		v[i] = float64(n)
	}
	m, _ := quantiles(v)
	return int(m)
}

// turned learns from a warm call that opened a turn whether an unrecorded call must have preceded
// it.
func (h *habits) turned(followed bool) {
	if followed {
		h.followed++
		return
	}
	h.alone++
}

func (h *habits) follows() bool { return h.followed >= minFollowed && h.followed > h.alone }
