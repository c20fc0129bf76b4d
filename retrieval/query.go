package retrieval

import "time"

// Query is a question and the bounds of its answer.
type Query struct {
	// Text is the question in the user's words. Nothing in it is syntax.
	Text string
	// Limit is the largest number of returned hits. 0 means DefaultLimit.
	Limit int
	// MinScore is the least score of a hit. MinBest is the least score of the best hit. If the
	// best hit has a lower score, Search returns no hits.
	MinScore, MinBest float64
	// MinShare is the share of the best hit's score that a hit needs, 0 to 1.
	MinShare float64
	// Passages requests turns, items, paragraphs and parts of long paragraphs, scored by their own
	// words and by their surroundings, instead of chunks.
	Passages bool
	// Prompt says that nobody asked for the hits: they go into a prompt. Then a file whose front
	// matter says that it no longer holds has no hit, unless the question is about the past.
	Prompt bool
	// Lines requests a hit for each chunk or passage. Otherwise a hit is a place: the best lines
	// of one section, or of one session if they are close to each other.
	Lines bool
	// NoSnippets saves the time for snippets, which Pack does not need.
	NoSnippets bool
	// Want, if not nil, reports whether a file's hits may be returned.
	Want func(path string) bool
	// Denied, if not "", is the reason why this session may not search memory, as a clause for a
	// message. The index is then not searched.
	Denied string
	// Stale reports whether files have changed since they were indexed.
	Stale bool
	// StaleBy is the number of changed files, in words, or "" if the number is unknown.
	StaleBy string
	// Now is the moment at which ages are measured. The zero value means the present.
	Now time.Time
	// Age returns the time from which a file ages. Its arguments are the file's path, its date
	// (YYYY-MM-DD or "") and its modification time. ages is false for a file that never ages. If
	// Age is nil, no file ages.
	Age func(path, date string, mod time.Time) (from time.Time, ages bool)
	// Spans are searched in addition to the files. It is nil if there are no spans.
	Spans *Spans
	// MostSpans is the largest number of spans that are candidates. 0 means the number of chunks
	// that are candidates.
	MostSpans int
	// WantSpan, if not nil, reports whether a span may be among the hits.
	WantSpan func(*Span) bool
}
