package pagevm

import (
	"iter"
	"slices"
	"time"

	"github.com/memkernel/memkernel"
)

// ProjectionVersion is the format of a persisted projection.
//
//	1: first format
const ProjectionVersion = 1

// ItemKind names the part of the prompt that an item belongs to.
type ItemKind string

const (
	// ItemHost is a run of parts of a host message, shown as the host sent it.
	ItemHost ItemKind = "host"
	// ItemResult is one tool result of a host message.
	ItemResult ItemKind = "result"
	// ItemCarry is in the carry block in front of the messages.
	ItemCarry ItemKind = "carry"
	// ItemCompaction is a provider's compaction of messages that left. It is in front of
	// the carry block, and its text is the message as the provider wrote it.
	ItemCompaction ItemKind = "compaction"
	// ItemNote and ItemRetrieval are kernel blocks after a host message.
	ItemNote      ItemKind = "note"
	ItemRetrieval ItemKind = "retrieval"
)

// Word returns the type of page for an item of a host's message, and the kind for any other item.
func (k ItemKind) Word() string {
	switch k {
	case ItemResult:
		return string(Evidence)
	case ItemHost:
		return string(Conversation)
	}
	return string(k)
}

// Item is one entry of the prompt.
type Item struct {
	Kind ItemKind `json:"kind"`
	// Key is the key of the host message. For a kernel block it is the key of the message that
	// the block follows.
	Key string `json:"key,omitempty"`
	// Part and Parts are the run of the message's parts that the item shows.
	Part  int `json:"part,omitempty"`
	Parts int `json:"parts,omitempty"`
	// Page is the page shown. It occurs at most once in a projection.
	Page  string `json:"page"`
	Level Level  `json:"level"`
	// Hash is the content hash of the bytes shown, without cache markers.
	Hash   string `json:"hash"`
	Tokens int    `json:"tokens"`
	// Positions is the number of look-back positions that the rendered blocks count for in the
	// cache layout.
	Positions int `json:"positions,omitempty"`
	// Markable reports whether the last rendered block may carry a cache marker.
	Markable bool `json:"markable,omitempty"`
	// Image reports whether an image is among the rendered blocks.
	Image bool           `json:"image,omitempty"`
	Role  memkernel.Role `json:"role,omitempty"`
	// Bare: the run is sent without its thinking, which a cut made invalid.
	Bare bool `json:"bare,omitempty"`
	// Lead: see [HostMessage.Lead].
	Lead bool `json:"lead,omitempty"`
}

// Seen is one host message that the projection has been aligned with.
type Seen struct {
	Key string `json:"key"`
	// Hash is the hash of the host's content, not of the shown part.
	Hash string `json:"hash"`
	// Gone marks a message whose atom left at a cut.
	Gone bool `json:"gone,omitempty"`
}

// CutPoint records one cut.
type CutPoint struct {
	Generation int    `json:"generation"`
	Reason     string `json:"reason"`
	// Covers is the number of host messages seen when the cut was made.
	Covers int `json:"covers"`
	// Chain is the hash chain over the keys and contents of these messages.
	Chain string `json:"chain"`
	// Event names the cold event that the cut used up, "" for a warm cut.
	Event string    `json:"event,omitempty"`
	Time  time.Time `json:"time,omitzero"`
	// Before is the number of tokens of all items before the cut.
	Before int `json:"before"`
	// After is the number of tokens of all items after the cut.
	After int `json:"after"`
}

// Projection is the only record of a prompt's content. A value never changes: [Next] returns a
// new one that shares the unchanged parts.
type Projection struct {
	Version    int    `json:"version"`
	Session    string `json:"session"`
	Branch     string `json:"branch,omitempty"`
	Model      string `json:"model"`
	Generation int    `json:"generation"`
	// Seen lists all host messages of the branch in the host's order.
	Seen []Seen `json:"seen"`
	// Items are the messages. Carry precedes them, but follows a provider's compaction at the
	// beginning of the host's conversation; see [Projection.At].
	Carry []Item     `json:"carry"`
	Items []Item     `json:"items"`
	Cuts  []CutPoint `json:"cuts"`
	// Recall is the outcome of the newest retrieval.
	Recall Recall `json:"recall,omitzero"`
}

// Recall is the outcome of retrieval for one user turn.
type Recall struct {
	// Turn is the key of the user message that opened the turn. It is "" if retrieval never ran.
	Turn string `json:"turn"`
	// Page is the block that shows the recalled text, "" if there is none.
	Page string `json:"page,omitempty"`
	// Reason says how the search ended.
	Reason string `json:"reason"`
	// Mode names the means by which the search ran.
	Mode string `json:"mode,omitempty"`
	// Detail says why the search found nothing, or less than it could.
	Detail string `json:"detail,omitempty"`
}

// Recalled returns the outcome of the newest retrieval as of an alignment. If the host took back
// the messages that the retrieval followed, the retrieval counts as never run.
func (p *Projection) Recalled(a Alignment) Recall {
	if p.Recall.Page != "" && slices.ContainsFunc(p.Items[a.Items:], func(it Item) bool { return it.Page == p.Recall.Page }) {
		return Recall{}
	}
	return p.Recall
}

// Tokens sums the items, carry block included.
func (p *Projection) Tokens() int {
	n := 0
	for i := range p.Len() {
		n += p.At(i).Tokens
	}
	return n
}

// spot is the part of a host's conversation that an item shows.
type spot struct {
	// Item is the item's index in Items. Message is the index of the host's message.
	Item, Message int
	// Segment is nil for a block of the kernel.
	*Segment
}

// Full returns the size of the host's content, 0 for a block of the kernel.
func (s spot) Full() int {
	if s.Segment == nil {
		return 0
	}
	return s.At[Full].Tokens
}

// Spots yields Items with the parts of host that they show. Both are in the host's order.
func (p *Projection) Spots(host []HostMessage) iter.Seq2[*Item, spot] {
	return func(yield func(*Item, spot) bool) {
		at := 0
		for i := range p.Items {
			it, s := &p.Items[i], spot{Item: i}
			if it.Hosted() {
				for at < len(host)-1 && host[at].Key != it.Key {
					at++
				}
				s.Message, s.Segment = at, host[at].segment(it.Page)
			}
			if !yield(it, s) {
				return
			}
		}
	}
}

// Blocks yields the kernel's blocks in the carry block and after messages.
func (p *Projection) Blocks() iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		for i := range p.Len() {
			if it := p.At(i); !it.Hosted() && !yield(it) {
				return
			}
		}
	}
}

// Hosted reports whether an item shows a part of a host's message.
func (it *Item) Hosted() bool { return it.Kind == ItemHost || it.Kind == ItemResult }

// Shortened reports whether an item shows less than the host's message.
func (it *Item) Shortened() bool { return it.Level != Full && it.Hosted() }

// Blank reports whether an item has nothing left to send. Such an item held only thinking, which
// a cut made invalid.
func (it *Item) Blank() bool { return it.Bare && it.Positions == 0 }

// LevelOf returns the level at which a projection shows a page, Gone if it does not show the page.
func (p *Projection) LevelOf(page string) Level {
	for i := range p.Len() {
		if it := p.At(i); it.Page == page {
			return it.Level
		}
	}
	return Gone
}

// At returns the item at place i of the prompt, nil after the last. The order is: a provider's
// compaction at the beginning of the host's conversation, the carry block, the other messages. The
// compaction comes first because its provider reads nothing before it.
func (p *Projection) At(i int) *Item {
	lead := p.lead()
	switch carry := len(p.Carry); {
	case i >= carry+len(p.Items):
		return nil
	case i < lead:
		return &p.Items[i]
	case i < lead+carry:
		return &p.Carry[i-lead]
	default:
		return &p.Items[i-carry]
	}
}

// Place returns the place of Items[i] in the prompt, as [Projection.At] counts.
func (p *Projection) Place(i int) int {
	if i < p.lead() {
		return i
	}
	return len(p.Carry) + i
}

// Len counts the items of the prompt.
func (p *Projection) Len() int { return len(p.Carry) + len(p.Items) }

func (p *Projection) lead() int {
	n := 0
	for n < len(p.Items) && p.Items[n].Lead {
		n++
	}
	return n
}

// LastEvent returns the cold event that the newest cold cut used. It returns "" if there was no
// cold cut.
func (p *Projection) LastEvent() string {
	for _, c := range slices.Backward(p.Cuts) {
		if c.Event != "" {
			return c.Event
		}
	}
	return ""
}

// Segment is a run of parts of a host message that belongs to one page.
type Segment struct {
	Kind  ItemKind `json:"kind"`
	Part  int      `json:"part,omitempty"`
	Parts int      `json:"parts,omitempty"`
	Page  string   `json:"page"`
	Type  Type     `json:"type"`
	// Committed reports whether the page's content is durable.
	Committed bool `json:"committed,omitempty"`
	// At holds the content of each level. The hash is empty for a level that the page does not
	// have. At[Full] is the host's own content.
	At [Full + 1]Shown `json:"at"`
	// Bare is the run without its thinking. Its hash is empty if the run has no thinking.
	Bare Shown `json:"bare,omitzero"`
	// First is the level at which the page is appended. It is lower than Full for a page that is
	// too large to be shown, and for content that a model first sees shortened ([Rep.Door]).
	First Level `json:"first"`
	// Superseded marks evidence that a newer read or an edit of the same path
	// made stale.
	Superseded bool `json:"superseded,omitempty"`
	// Instruction names the instruction that the segment holds, such as a skill, a file of rules or
	// a plan. It is "" if the segment holds none. A later segment with the same name replaces it.
	Instruction string `json:"instruction,omitempty"`
	// Ends: the segment only replaces other segments with the same Instruction. It need not stay in
	// the prompt.
	Ends bool `json:"ends,omitempty"`
	// Mixed: the segment also holds other words, which a later instruction does not replace.
	Mixed bool `json:"mixed,omitempty"`
}

// Shown is the content that one level of a segment puts into the prompt.
type Shown struct {
	Hash      string `json:"hash,omitempty"`
	Tokens    int    `json:"tokens,omitempty"`
	Positions int    `json:"positions,omitempty"`
	Markable  bool   `json:"markable,omitempty"`
	Image     bool   `json:"image,omitempty"`
}

// HostMessage is a message of the request as the projection sees it.
type HostMessage struct {
	Key      string         `json:"key"`
	Hash     string         `json:"hash"`
	Role     memkernel.Role `json:"role"`
	Segments []Segment      `json:"segments"`
	// Held reports whether the message holds content that only the provider understands.
	Held bool `json:"held,omitempty"`
	// Lead: the message is a provider's compaction, which must precede everything in a prompt.
	Lead bool `json:"lead,omitempty"`
}

// apart reports whether a held message stays when the rest of its atom leaves. A developer message
// stays, because it belongs to no turn.
func (m *HostMessage) apart() bool { return m.Held && m.Role == memkernel.RoleDeveloper }

// Place describes the position of a host message in the conversation. The position changes as the
// conversation grows, so callers must give one Place for each message.
type Place struct {
	// Atom numbers the atom that the message belongs to, from 0.
	Atom int `json:"atom"`
	// Closed: all results of the atom are in and a later assistant message exists.
	Closed bool `json:"closed,omitempty"`
	// InLoop: the message is part of the open tool loop.
	InLoop bool `json:"in_loop,omitempty"`
	// Opener: the message opened the tool loop.
	Opener bool `json:"opener,omitempty"`
}

// Settled reports whether the message belongs to a finished step outside the open tool loop.
func (p Place) Settled() bool { return p.Closed && !p.InLoop }

// Tokens returns the cost of the message when shown in full.
func (m *HostMessage) Tokens() int {
	n := 0
	for i := range m.Segments {
		n += m.Segments[i].At[Full].Tokens
	}
	return n
}

// at returns the content that segment s shows at level l, and whether it has that level.
func (s *Segment) at(l Level) (Shown, bool) {
	sh := s.At[l]
	return sh, sh.Hash != ""
}

// Lowest returns the lowest level at which the floor allows the segment to be shown.
func (s *Segment) Lowest(resolver bool) Level {
	if !s.Committed {
		return s.First
	}
	floor := Floor(s.Type, resolver)
	for l := floor; l < Full; l++ {
		if _, ok := s.at(l); ok {
			return l
		}
	}
	return Full
}

// item renders segment s of m at level l.
func (s *Segment) item(m *HostMessage, l Level) Item {
	sh := s.At[l]
	return Item{Kind: s.Kind, Key: m.Key, Part: s.Part, Parts: s.Parts, Page: s.Page, Level: l,
		Hash: sh.Hash, Tokens: sh.Tokens, Positions: sh.Positions, Markable: sh.Markable, Image: sh.Image, Role: m.Role, Lead: m.Lead}
}

// bare renders segment s of m without its thinking.
func (s *Segment) bare(m *HostMessage) Item {
	it := s.item(m, Full)
	it.Bare = true
	it.Hash, it.Tokens, it.Positions, it.Markable, it.Image = s.Bare.Hash, s.Bare.Tokens, s.Bare.Positions, s.Bare.Markable, s.Bare.Image
	return it
}
