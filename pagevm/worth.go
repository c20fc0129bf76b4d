package pagevm

import (
	"math"

	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// Traits are the known facts about a segment's worth other than its size.
type Traits struct {
	// Act is the act that left the segment.
	Act toolcall.Act
	// Age is the number of newer atoms.
	Age int
	// InHand: the segment is a result about the file that was edited last, or about a file that
	// the user's newest words or the plan name.
	InHand bool
	// Edited is one more than the number of atoms after the newest edit of the segment's file. It
	// is 0 if the file was not edited, or if the segment neither shows nor edits a file.
	Edited int
	// Reread: a newer read of the same file showed the same part of it.
	Reread bool
	// Resolved: the segment is an error, and the failed call has worked since.
	Resolved bool
	// Names lists the names that each level shows, as indexes into SelectInput.Names. No name is
	// listed twice.
	Names [Full + 1][]int32
}

// NameUse holds the known uses of a name.
type NameUse struct {
	// Said is the number of segments of dialogue that contain the name. Dialogue is the words of
	// the user and the assistant, and the inputs of calls.
	Said int
	// Age is the number of atoms after the newest atom that shows the name.
	Age int
}

// The priors of worth: how often one turn is expected to refer to something that is further back,
// in references per turn. They are rounded from thirteen recorded sessions (2026-11): names in
// messages come again at least four times as often as names that only a result shows, and ten
// times as often once the result is old. The first ratio holds with any one session left out.
const (
	// saidWorth is the worth of a name that was said once. The other value is for a name that
	// only results show.
	saidWorth   = 3e-3
	unsaidWorth = 7e-4
	// The ages, in atoms, at which worth has fallen to half.
	halfAge       = 50
	unsaidHalfAge = 20

	// unnamedShare is the part of a page's references that its names do not account for. A
	// quarter of all references are numbers and quoted strings, but most of their lines show
	// names too. The value was chosen on replays. A quarter of it and four times it cost less
	// than 1.5 points of reference recall there.
	unnamedShare = 0.06
	// wordsTokens is the number of tokens of a user's message that count in full and not by
	// unnamedShare. A request in plain words can't be read again elsewhere, while longer text was
	// mostly pasted. The value is our choice.
	wordsTokens = 200
	// inHandFactor raises the files of the work at hand. staleFactor lowers content that a newer
	// read or an edit replaced, and resolved errors. Stale text is needed as often as other text,
	// but it may mislead. Both are our choice; replays hardly distinguish values between 3 and
	// 10, or 0.2 and 1.
	inHandFactor = 10
	staleFactor  = 0.25

	// editedLines is the number of lines that a turn replaces per token of a page that shows a
	// file that was just edited. It halves with every editedHalf atoms without an edit of the
	// file. readLines is the same number for a file that was read and not yet edited. The command
	// measures 300e-6 and 25e-6. A quarter less is a little better on replays, because much
	// content is shown twice.
	editedLines = 220e-6
	editedHalf  = 2
	readLines   = 18e-6
)

// actWorth is how often a turn refers to a new page, per token of the page.
var actWorth = [...]float64{
	toolcall.ActSay: 75e-6, toolcall.ActEdit: 36e-6, toolcall.ActUser: 35e-6, toolcall.ActRead: 35e-6, toolcall.ActEdited: 30e-6,
	toolcall.ActOther: 25e-6, toolcall.ActSearch: 20e-6, toolcall.ActShell: 10e-6,
}

// levelLines is, for each level, the share of the lines of a result that later turns use and that
// the level still shows. It was measured by the same command.
var levelLines = [Full + 1]float64{Structured: 0.18, Compressed: 0.56, Full: 1}

// maxShown is the number of atoms that a name counts for. shownShare is how much the name counts
// for each of these atoms. A second place is worth something, since a call that names a function
// does not show its code. Both are our choice.
const maxShown = 2

var shownShare = [maxShown]float64{1, 0.25}

// worth returns how often the next turn is expected to need the name. Repetition counts,
// but less and less: a name said nine times is needed about twice as often as one
// that was said once.
func (n NameUse) worth() float64 {
	if n.Said == 0 {
		return unsaidWorth * aged(n.Age, unsaidHalfAge)
	}
	return saidWorth * math.Cbrt(float64(n.Said)) * aged(n.Age, halfAge)
}

// worth returns how often the next turn is expected to need the segment for anything other than
// its names.
func (t *Traits) worth(tokens int, superseded bool) float64 {
	w := unnamedShare * float64(tokens)
	if t.Act == toolcall.ActUser {
		w = float64(min(tokens, wordsTokens))
	}
	w *= actWorth[t.Act] * aged(t.Age, halfAge)
	if t.InHand {
		w *= inHandFactor
	}
	if superseded || t.Resolved {
		w *= staleFactor
	}
	return w + t.lines()*float64(tokens)
}

// lines returns how many lines per token the next turn is expected to replace in a file. An edit
// must repeat the replaced lines to the letter. Work is on a few files at a time, so a file that
// was edited a moment ago is edited again, wherever it was read, before or since.
func (t *Traits) lines() float64 {
	if t.Act != toolcall.ActRead && t.Act != toolcall.ActEdit {
		return 0
	}
	w := 0.0
	switch {
	case t.Edited > 0:
		w = editedLines * aged(t.Edited, editedHalf) * aged(t.Age, halfAge)
	case t.Act == toolcall.ActRead:
		w = readLines * aged(t.Age, unsaidHalfAge)
	}
	if t.Reread {
		w *= staleFactor
	}
	return w
}

// aged returns a factor that falls hyperbolically with age: a half at age half, and a third at
// twice that age. Recorded sessions forget in this way rather than by half-lives.
func aged(age, half int) float64 { return float64(half) / float64(half+max(age, 0)) }
