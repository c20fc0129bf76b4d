package pagevm

import (
	"math"

	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// State classifies the present content of a segment. A cut considers the state before it considers
// how often other sessions needed such content.
type State int8

// The states, in the order in which content leaves.
const (
	// TextGone: the text is out of date, or the prompt shows it again. Its file was deleted,
	// written over or read anew, its error was solved, or its call was repeated. Only the lowest
	// level of the page stays, even if the page is among the newest.
	TextGone State = iota - 2
	// TaskDone: the content is about a file that was neither touched nor named since a task was
	// finished. It is not kept because it is new.
	TaskDone
	// Ordinary content stays by its worth.
	Ordinary
	// InWork: a file that was read or edited and may be edited next, an open error, the last check.
	// Its worth is raised.
	InWork
	// Newest content is the end of the conversation, and stays as it is.
	Newest
)

// String returns the state in a few words, for people.
func (s State) String() string {
	return [...]string{"text that is gone or shown again", "finished task", "by worth", "file in work", "newest"}[s-TextGone]
}

// Traits are the known facts about a segment's worth other than its size.
type Traits struct {
	// Act is the act that produced the segment.
	Act toolcall.Act
	// State classifies the present content.
	State State
	// Age is the number of newer atoms.
	Age int
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

// The priors of worth say how often a turn is expected to refer to earlier content, in references
// per turn. They are rounded from thirteen recorded sessions (2026-11). In these, names in messages
// recur at least four times as often as names that only a result shows, and ten times as often once
// the result is old. The first ratio holds with any one session left out.
const (
	// saidWorth is the worth of a name that was said once. unsaidWorth is the worth of a name that
	// only results show.
	saidWorth   = 3e-3
	unsaidWorth = 7e-4
	// The ages, in atoms, at which worth has fallen to half.
	halfAge       = 50
	unsaidHalfAge = 20

	// unnamedShare is the part of a page's references that its names do not account for. A quarter
	// of all references are numbers and quoted strings, but most of their lines show names too. The
	// value was chosen on replays. A quarter of the value, or four times the value, cost less than
	// 1.5 points of reference recall there.
	unnamedShare = 0.06
	// wordsTokens is the number of tokens of a user's message that count in full and not by
	// unnamedShare. A request in plain words can't be read again elsewhere, while longer text was
	// mostly pasted. The value is our choice.
	wordsTokens = 200

	// readLines is the number of lines that a turn replaces per token of a page that shows a file,
	// and editLines the same number for the input of an edit. A line counts for the newest page
	// that shows it. The values were chosen on replays of 28 sessions of nine repositories
	// (2026-11-29), in which reads between 25,000 and 60,000 tokens back had seven times as many of
	// the quoted lines per token as edits.
	readLines = 40e-6
	editLines = 16e-6
)

// stateFactors raise and lower the worth of each state. The values are our choice: in replays of 28
// sessions in a window of 200k (mkbench economics, 2026-12-01), none between 0.05 and 1 for finished
// tasks and between 1.5 and 4 for files in work moved the bill by more than 1.5 %, or the share of
// ready actions by more than 0.4 points.
var stateFactors = [...]float64{TextGone - TextGone: 0.02, TaskDone - TextGone: 0.3, Ordinary - TextGone: 1, InWork - TextGone: 2, Newest - TextGone: 1}

func (s State) factor() float64 { return stateFactors[s-TextGone] }

// actWorth is how often a turn refers to a new page, per token of the page.
var actWorth = [...]float64{
	toolcall.ActSay: 75e-6, toolcall.ActEdit: 36e-6, toolcall.ActUser: 35e-6, toolcall.ActRead: 35e-6, toolcall.ActEdited: 30e-6,
	toolcall.ActOther: 25e-6, toolcall.ActSearch: 20e-6, toolcall.ActShell: 10e-6,
}

// levelLines is the share that each level shows of those lines of a result that later turns use.
var levelLines = [Full + 1]float64{Structured: 0.18, Compressed: 0.56, Full: 1}

// quotedLines is the share that each level shows of those lines of a file that an edit has to
// quote. An edit repeats neighbouring lines to the letter, and extracts rarely have all of them: of
// 54 edits that lacked lines, 20 had an extract of them (2026-11-29). The values are our choice.
var quotedLines = [Full + 1]float64{Structured: 0.05, Compressed: 0.2, Full: 1}

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
func (t *Traits) worth(tokens int) float64 {
	w := unnamedShare * float64(tokens)
	if t.Act == toolcall.ActUser {
		w = float64(min(tokens, wordsTokens))
	}
	w *= actWorth[t.Act] * aged(t.Age, halfAge)
	return t.State.factor() * w
}

// lines returns how many lines of the segment the next turn is expected to replace in a file.
func (t *Traits) lines(tokens int) float64 {
	w := 0.0
	switch t.Act {
	case toolcall.ActRead:
		w = readLines
	case toolcall.ActEdit:
		w = editLines
	}
	return t.State.factor() * w * aged(t.Age, unsaidHalfAge) * float64(tokens)
}

// aged returns a factor that falls hyperbolically with age: a half at age half, and a third at
// twice that age. Recorded sessions forget in this way rather than by half-lives.
func aged(age, half int) float64 { return float64(half) / float64(half+max(age, 0)) }
