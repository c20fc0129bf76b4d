package retrieval

// Signals are the weights of the parts of a passage's score other than its own words. The zero
// value of all means DefaultSignals; otherwise 0 (1 for factors) switches a signal off.
//
// That neighbours and the session count, and about how much, is the recipe that the project's
// notes on LoCoMo give as "all context signals". Two things are added here. For each word only
// the best neighbour counts, not all of them together. A turn that asks gives more to the turn
// that answers, and counts less itself.
type Signals struct {
	// Before, Behind and Away are the shares of a word's score in the passage before, in the
	// passage after, and in those two away, in one session. Of all passages that hold the word,
	// the largest share counts.
	Before, Behind, Away float64
	// Repeat is how much of a word's own score is subtracted from the neighbours' share.
	Repeat float64
	// Answer raises Before if the passage before is a question: Before is multiplied by 1 + Answer.
	Answer float64
	// Question is the share of its score that a passage loses if it is only a question.
	Question float64
	// Session is the share of BM25 of the whole session: the text under the first two headings of
	// a file.
	Session float64
	// Apart is the smallest factor on Before, Behind, Away, Session and Feedback outside of
	// conversations, where passages are independent. The factor is the share of the question that
	// no passage holds.
	Apart float64
	// Chunk is the share of the chunk's own score, which knows of titles, tags and
	// paths.
	Chunk float64
	// Speaker is the factor for turns of a person whom the question names. Name is the share of
	// its weight that such a name loses in texts, where a speaker mostly uses it to address the
	// other one.
	Speaker, Name float64
	// Time is the factor for dates in a stretch of time that the question names. Told is the
	// factor for passages with words of time if the question asks for a time.
	Time, Told float64
	// Tagged is the factor for entries that a tag of significance is in: little more than a
	// tie-break, since a tag marks importance and not the answer.
	Tagged float64
	// Superseded is the factor that an entry loses at most against the one that
	// names it as replaced.
	Superseded float64
	// Heading is how often a word counts that is in a heading above.
	Heading float64
	// Fact is how often a word counts that is in a fact of the passage, and not in its lines.
	Fact float64
	// Spread is the share that the passages of a session lose each time that one of them was
	// chosen, if the question asks for several things.
	Spread float64
	// Feedback is the weight of a word of the best passages that the question lacks.
	Feedback float64
	// K1 and B are the constants of BM25 in conversations. K1 sets where a repeated word stops
	// counting, and B how much the length of a passage counts.
	K1, B float64
}

// DefaultSignals returns the weights that are used if Options has none. They were chosen on three
// LoCoMo conversations, on a coarse grid. doc/retrieval.md gives the effect of each; `mkbench
// eval --ablate` and `--leave-one-out` measure that on any sets.
func DefaultSignals() Signals {
	return Signals{
		Before: .6, Behind: .4, Away: .3, Repeat: .5, Answer: 1.2, Question: .45, Session: .5, Apart: .3, Chunk: .1,
		Speaker: 1.3, Name: .7, Time: 1.3, Told: 1.15, Tagged: 1.08, Superseded: .5, Heading: 2, Fact: .5, Spread: .06, Feedback: .1, K1: .9, B: .4,
	}
}
