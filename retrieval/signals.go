package retrieval

// Signals are the weights of the parts of a passage's score other than its own words. If all
// fields are zero, DefaultSignals is used. Otherwise 0 (1 for factors) switches a signal off.
//
// The shares of neighbours and of the session follow the recipe "all context signals" in the
// project's notes on LoCoMo, with two additions. For each word only the best neighbour counts,
// not all neighbours together. A turn that asks a question gives more to the turn that answers,
// and counts less itself.
type Signals struct {
	// Before, Behind and Away are shares of a word's score in a neighbouring passage of the same
	// session: the passage before, the passage after, and a passage two places away. If several of
	// them hold the word, the largest share counts.
	Before, Behind, Away float64
	// Repeat is how much of a word's own score is subtracted from the neighbours' share.
	Repeat float64
	// Answer raises Before if the passage before is a question: Before is multiplied by 1 + Answer.
	Answer float64
	// Question is the share of its score that a passage loses if it is only a question.
	Question float64
	// Session is the share of the BM25 score of the whole session. A session is the text under
	// the first two headings of a file.
	Session float64
	// Apart is the smallest factor for Before, Behind, Away, Session and Feedback outside of
	// conversations. Passages are independent there, so the factor is the share of the question's
	// words that no passage holds.
	Apart float64
	// Chunk is the share of the chunk's own score, which includes titles, tags and paths.
	Chunk float64
	// Speaker is the factor for turns of a person whom the question names. Name is the share of its
	// weight that the person's name loses in the text of turns, where speakers mostly use it to
	// address the person.
	Speaker, Name float64
	// Time is the factor for passages of the time that the question names. Told is the factor for
	// passages with words of time if the question asks for a time.
	Time, Told float64
	// Tagged is the factor for entries with a tag of significance. It is little more than a
	// tie-break, since a tag marks importance and not the answer.
	Tagged float64
	// Superseded is the factor for an entry that is marked as no longer valid. An entry that
	// another entry replaces gets this factor or .95, whichever is larger.
	Superseded float64
	// Heading is the number of times that a word in a heading above counts.
	Heading float64
	// Spread is the share of their scores that the passages of a session lose each time that a
	// passage of the session was chosen. It applies if the question asks for several things.
	Spread float64
	// Feedback is the weight of a word that the best passages hold and the question lacks.
	Feedback float64
	// K1 and B are the constants of BM25 in conversations. K1 sets where a repeated word stops
	// counting, and B how much the length of a passage counts.
	K1, B float64
}

// DefaultSignals returns the weights that are used if Options has none. They were chosen on three
// LoCoMo conversations, on a coarse grid. doc/retrieval.md gives the effect of each; `mkbench
// eval --ablate` measures that on any sets.
func DefaultSignals() Signals {
	return Signals{
		Before: .6, Behind: .4, Away: .3, Repeat: .5, Answer: 1.2, Question: .45, Session: .5, Apart: .3, Chunk: .1,
		Speaker: 1.3, Name: .7, Time: 1.3, Told: 1.15, Tagged: 1.08, Superseded: .5, Heading: 2, Spread: .06, Feedback: .1, K1: .9, B: .4,
	}
}
