package consolidation

import (
	"slices"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/ledger"
)

// cue is a set of senses that the words of a text show.
type cue uint64

// The cues. Those from headPassing on are of headings and labels.
const (
	cuePerson    cue = 1 << iota // the person that an agent works for
	cuePrefer                    // somebody likes something
	cueWant                      // somebody wants something
	cueAsk                       // somebody asked for something
	cueState                     // somebody stated something
	cueRule                      // something always or never holds
	cueLasting                   // something holds for long
	cueDecide                    // something was chosen
	cueChange                    // something takes the place of something else
	cueReason                    // a reason follows
	cueLearned                   // something was learned
	cueBroken                    // something does not work
	cueNeed                      // something is needed, or helps
	cueFixed                     // something was mended
	cueKey                       // a name for a value that one looks up
	cueHolds                     // where something is, what it runs on, whom it belongs to
	cueWork                      // work was done
	cuePlan                      // work is to be done
	cueMoment                    // something holds for a short time
	cueRoutine                   // every day has it
	cueLeaning                   // a sentence needs the text before it
	cueGuess                     // something may be so
	cueAbroad                    // other people's studies, and news
	cueHost                      // the text is what a host writes to its agent
	cueExcept                    // an exception, a condition or a restriction
	cueOpening                   // a restriction, at the beginning of a sentence
	cueOnly                      // a heading restricts the text below it
	cueNot                       // a sentence says the opposite
	cueImportant                 // something matters to the speaker
	cueToday
	cueYesterday
	cueTomorrow
	cueSomeday  // a day that only the writer can place
	headPassing // the text below holds for the day only: plans, figures, forms
	headWish    // wishes and rules of people
	headDecision
	headLesson
	headPeople // people, their accounts and their devices
	headFact
	headCause
	headRemedy
	headWork // the day's work
	headDump // copies of talks, and of a host's own notes
	headAny  // words that name no subject
)

// cueNames are the names of the cues in the vocabulary, in order.
const cueNames = `person prefer want ask state rule lasting decide change reason learned broken need fixed key holds work plan moment routine leaning guess abroad host
	except opening only not important today yesterday tomorrow someday
	heads-passing heads-wish heads-decision heads-lesson heads-people heads-fact heads-cause heads-remedy heads-work heads-dump heads-any`

// phrase is a phrase of the vocabulary without its first word.
type phrase struct {
	rest []string
	cue  cue
}

// phrasesOf has the phrases of the cues by their first word. The key of a word for any ending ends
// in a star.
var phrasesOf = sync.OnceValue(func() map[string][]phrase {
	out := map[string][]phrase{}
	for i, name := range strings.Fields(cueNames) {
		for _, p := range ledger.Cue(name) {
			ws := words(p)
			if strings.HasSuffix(p, "*") {
				ws[0] += "*"
			}
			out[ws[0]] = append(out[ws[0]], phrase{ws[1:], 1 << i})
		}
	}
	return out
})

// mention is a phrase found in a text, by the places of its words.
type mention struct {
	cue
	from, to int
}

// mentions finds the phrases of the vocabulary in the words of a text.
func mentions(ws []string) []mention {
	var out []mention
	all := phrasesOf()
	for i, w := range ws {
		for _, p := range all[w] {
			if to := i + 1 + len(p.rest); to <= len(ws) && slices.Equal(ws[i+1:to], p.rest) {
				out = append(out, mention{p.cue, i, to})
			}
		}
		for n := 4; n <= len(w); n++ {
			for _, p := range all[w[:n]+"*"] {
				out = append(out, mention{p.cue, i, i + 1})
			}
		}
	}
	return out
}

// cuesOf returns the cues of a text.
func cuesOf(text string) cue { return cuesIn(words(text), len(text)) }

// startOf returns the cues with which a text begins.
func startOf(text string) cue { return cuesIn(words(text[:min(len(text), 80)]), 1) }

// cuesIn returns the cues of phrases that begin with one of the first words of a text.
func cuesIn(ws []string, within int) cue {
	var all cue
	for _, m := range mentions(ws) {
		if m.from < within {
			all |= m.cue
		}
	}
	return all
}
