package retrieval

import "time"

// Query is a question and the bounds of its answer.
type Query struct {
	// Text is the question in the user's words. Nothing in it is syntax.
	Text string
	// Limit is how many hits come back at most; 0 means DefaultLimit.
	Limit int
	// MinScore is the least score of a hit. MinBest is the least score of the best hit: below it
	// there are no hits.
	MinScore, MinBest float64
	// MinShare is the share of the best hit's score that a hit needs, 0 to 1.
	MinShare float64
	// Passages requests turns, items and paragraphs of at most five lines, scored by their own
	// words and by their surroundings, instead of chunks.
	Passages bool
	// Lines requests a hit for each chunk or passage. Otherwise a hit is a place: the best lines
	// of one section, or of one session if they are close to each other.
	Lines bool
	// NoSnippets saves the time for snippets, which Pack does not need.
	NoSnippets bool
	// Want, if not nil, reports whether a file's hits may be returned.
	Want func(path string) bool
	// Denied, if not "", is the reason why this session may not search memory, as half a
	// sentence. The index is then not searched.
	Denied string
	// Stale reports whether files have changed since they were indexed.
	Stale bool
	// StaleBy is how many, in words; "" if that is not known.
	StaleBy string
	// Now is the moment that ages are counted to; zero is the present.
	Now time.Time
	// Age returns the time from which a file ages, by its path, its date (YYYY-MM-DD or "") and
	// its modification time; ages is false for a file that never ages. If nil, no file ages.
	Age func(path, date string, mod time.Time) (from time.Time, ages bool)
	// Spans are searched in addition to the files; nil if there are none.
	Spans *Spans
	// MostSpans is how many spans are candidates at most; 0 means as many as chunks.
	MostSpans int
	// WantSpan, if not nil, reports whether a span may be among the hits.
	WantSpan func(*Span) bool
}
