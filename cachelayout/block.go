package cachelayout

import "slices"

// The regions of a prompt, in provider order.
const (
	RegionTools      = "tools"
	RegionSystem     = "system"
	RegionCarry      = "carry"
	RegionWorkingSet = "working_set"
	RegionRetrieval  = "retrieval"
	RegionNewest     = "newest"
)

// These are the message indexes of blocks that belong to no message.
const (
	MessageTools  = -1
	MessageSystem = -2
)

// Block is a run of prompt content that changes as one.
type Block struct {
	// ID names the block in explanations: a host message key or a page id.
	ID string
	// Region is one of the Region constants.
	Region string
	// Hash is the content hash of the block's bytes without cache markers.
	Hash string
	// Tokens is the block's size.
	Tokens int
	// Positions is the number of positions that the block takes in the provider's look-back. It
	// is 0 for a block that continues the previous block's run, such as the second of several
	// tool results.
	Positions int
	// Markable reports whether the block's last content block may carry a
	// marker.
	Markable bool
	// Image reports whether an image is among the content.
	Image bool
	// Message is the index of the request message that the block belongs to,
	// or one of the Message constants.
	Message int
}

// HasImage reports whether any block holds an image.
func HasImage(blocks []Block) bool {
	return slices.ContainsFunc(blocks, func(b Block) bool { return b.Image })
}

// sum is the size of a prompt up to and including a block.
type sum struct{ tokens, positions int }

// sums returns the running sums of blocks; element i is the sum of blocks[:i].
func sums(blocks []Block) []sum {
	s := make([]sum, len(blocks)+1)
	for i := range blocks {
		b := &blocks[i]
		s[i+1] = sum{s[i].tokens + max(b.Tokens, 0), s[i].positions + max(b.Positions, 0)}
	}
	return s
}

// cacheLevel names the first part of the cache that a change breaks. All later parts break with it.
type cacheLevel int

// The levels, in the order of the prefix. levelNone breaks nothing.
const (
	LevelTools cacheLevel = iota
	levelSystem
	levelMessages
	levelNone
)

var levelNames = [...]string{"tools", "system", "messages", "none"}

func (l cacheLevel) String() string { return levelNames[l] }

// MarshalText writes a level as its name.
func (l cacheLevel) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a level from its name. An unknown name is levelNone.
func (l *cacheLevel) UnmarshalText(text []byte) error {
	if *l = cacheLevel(slices.Index(levelNames[:], string(text))); *l < 0 {
		*l = levelNone
	}
	return nil
}

// levelOf returns the level that a region belongs to.
func levelOf(region string) cacheLevel {
	switch region {
	case RegionTools:
		return LevelTools
	case RegionSystem:
		return levelSystem
	}
	return levelMessages
}
