package retrieval

import (
	"strings"
	"time"

	"github.com/memkernel/memkernel/ledger"
)

// voice tells who speaks in a passage.
type voice uint8

const (
	unsaid  voice = iota // a note, or a conversation between people
	agents               // a turn of an agent
	persons              // a turn that a person typed to an agent, or a line of memory that quotes one
)

// voiceOf returns the voice of a turn, given the turn's label in a session's transcript.
func voiceOf(label string) voice {
	switch strings.ToLower(label) {
	case "user":
		return persons
	case "assistant":
		return agents
	}
	return unsaid
}

// personTags mark lines of memory that quote a person word for word.
var personTags = [...]string{"[human]", "[said]"}

// quoteWithin is the number of bytes at the beginning of a line in which such a tag is looked for.
const quoteWithin = 40

func quotesPerson(line string) bool {
	head := line[:min(len(line), quoteWithin)]
	for _, tag := range personTags {
		if strings.Contains(head, tag) {
			return true
		}
	}
	return false
}

// spoken returns a passage's own text without the label of its speaker.
func (p *passage) spoken(text string) string {
	if p.label != nil {
		_, text, _ = strings.Cut(text, ":")
	}
	return text
}

// said returns a person's words, without the label of a turn and the tags of a line of memory.
func (p *place) said() string {
	text := p.spoken(p.ownText())
	return text[len(claimLead.FindString(text)):]
}

// askedLength returns the share of a text that is questions, or 1 if that is at least mostlyAsks:
// "Thanks. Shall I open a pull request?" counts as a question.
func askedLength(text string) float64 {
	if share := ledger.Asked(text); share < mostlyAsks {
		return share
	}
	return 1
}

// mostlyAsks is the share of questions from which on a whole text counts as one. Our choice.
const mostlyAsks = .75

// onlyAsks reports whether a passage of a session with an agent only asks.
func (p *place) onlyAsks() bool { return p.voice != unsaid && p.asks == 1 }

// Results of place.told.
const (
	unread int32 = iota
	tellsNothing
	tells  // the person states something
	amends // the person says that something has changed
)

// told returns the cues of a passage that a person said. They are read on first use.
func (p *place) told() int32 {
	if p.voice != persons || p.gone || p.asks == 1 {
		return tellsNothing
	}
	told := p.states.Load()
	if told == unread {
		text := p.said()
		switch told = tellsNothing; {
		case ledger.Amends(text):
			told = amends
		case len(ledger.Read(text)) > 0:
			told = tells
		}
		p.states.Store(told)
	}
	return told
}

// leastOfOlder is how much of an older passage's weight, by the words of the question, a person's
// newer statement must have to take the passage's place. leastOfChange replaces it for statements
// that something has changed, which seldom repeat the words of a note: "we moved that: it's
// Tuesdays now". Our choice.
const leastOfOlder, leastOfChange = .5, .3

// newestWord puts the best statement of a person before older text on the same words of the
// question. It marks such text as superseded if the person changed a value in it. It reports
// whether scores changed.
func (r *refiner) newestWord(best []*place) (moved bool) {
	for _, said := range best {
		least := leastOfOlder
		switch said.told() {
		case tellsNothing:
			continue
		case amends:
			least = leastOfChange
		}
		found, outdates := false, ledger.Outdates(said.said())
		for _, q := range best {
			if q == said || q.session.talk || q.told() != tellsNothing || !said.since(q) || r.askedIn(q.held)&r.askedIn(said.held) == 0 {
				continue
			}
			changed := outdates(q.ownText())
			if !changed && r.weight(said.held) < least*r.weight(q.held) {
				continue
			}
			if found = true; changed && q.by == "" {
				q.by = said.cite()
			}
			if q.score <= said.score && q.exact <= said.exact {
				continue
			}
			said.score, said.exact = max(said.score, q.score), max(said.exact, q.exact)
			said.complete = said.complete || q.complete
			q.score, moved = min(q.score, said.score)*outlived, true
		}
		if found {
			return moved
		}
	}
	return false
}

// since reports whether a passage is not older than another one. A file without a day is as old as
// its last change.
func (p *place) since(q *place) bool {
	if p.after(q) {
		return true
	}
	day, other := p.day(), q.day()
	return day != "" && other == "" && !q.chunk.found.ModTime.IsZero() && q.chunk.found.ModTime.Format(time.DateOnly) == day
}

// askedIn returns the words of the question, as bits, to which the given terms belong. A word may
// have several terms: other forms, or words of the same meaning.
func (r *refiner) askedIn(held uint64) (words uint64) {
	for j, w := range r.wordOf {
		if held&(1<<j) != 0 {
			words |= 1 << w
		}
	}
	return words
}

// weight returns the total weight of the words of the question to which the given terms belong.
func (r *refiner) weight(held uint64) (sum float64) {
	counted := map[int]float64{}
	for j, w := range r.wordOf {
		if held&(1<<j) != 0 && r.idf[j] > counted[w] {
			sum += r.idf[j] - counted[w]
			counted[w] = r.idf[j]
		}
	}
	return sum
}
