package retrieval

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel/index"
)

// Reason is how the search of memory ended.
type Reason string

// The reasons.
const (
	// OK: memory was searched and holds something.
	OK Reason = "OK"
	// NoMatch: memory was searched and holds nothing on this.
	NoMatch Reason = "NO_MATCH"
	// Denied: this session may not search memory.
	Denied Reason = "DENIED"
	// BackendError: the index can't be searched; Result.Err is why.
	BackendError Reason = "BACKEND_ERROR"
	// Disabled: memory is switched off, or searches are not to make the index that is
	// missing.
	Disabled Reason = "DISABLED"
	// Indexing: the index is still being made, or brought up to date, and its present part was
	// searched.
	Indexing Reason = "INDEXING"
	// StaleIndex: memory was searched as it was some time ago.
	StaleIndex Reason = "STALE_INDEX"
)

// Mode is the means by which a question was answered.
type Mode string

// The modes.
const (
	Hybrid  Mode = "hybrid"
	Keyword Mode = "keyword"
	Vector  Mode = "vector"
	// NoSearch: nothing was searched.
	NoSearch Mode = "disabled"
)

// Result is the answer to a Query.
type Result struct {
	// Hits are in the order in which they should be read; never nil.
	Hits   []Hit  `json:"results"`
	Reason Reason `json:"reason"`
	Mode   Mode   `json:"mode"`
	// Detail is why there are no hits, or which part of the search is missing;
	// else "".
	Detail string `json:"detail,omitempty"`
	// Weak reports whether the best of the hits scores below [DefaultMinBest]. The hits then
	// likely do not answer the question.
	Weak bool `json:"weak,omitempty"`
	// Grounds are the measures from which the best hit's score is computed, for passages.
	Grounds Grounds `json:"-"`
	// Behind says which changes of the files the index lacks, nil if none or unknown. The caller
	// must set it.
	Behind *index.Lag `json:"behind,omitempty"`
	// Progress says how far the index is. The caller must set it with Indexing.
	Progress *Progress `json:"progress,omitempty"`
	// Withheld are parts of memory that the user may not see, whether or not they hold an answer;
	// nil for none. The caller must set it.
	Withheld []Withheld `json:"withheld,omitempty"`
	// Also lists the spellings that were searched in addition to the question's words, as far as
	// hits hold them.
	Also []Also `json:"also_asked,omitempty"`
	// Note is the part of Detail from the index, on how its hits were found, such as
	// that another backend answered.
	Note string `json:"-"`
	// Err is the failure, nil if there was none. If there are hits too, only a part failed.
	// Callers should test it with errors.Is against the errors of package index.
	Err error `json:"-"`
}

// Also is a spelling in memory that was searched in addition to one or two words of the question.
type Also struct {
	// Typed is as the question has it, Asked as memory has it.
	Typed string   `json:"typed"`
	Asked []string `json:"asked"`
}

// AlsoLine returns in one line the spellings that were searched in addition to the question's, ""
// if there were none.
func AlsoLine(also []Also) string {
	var parts []string
	for _, a := range also {
		parts = append(parts, strings.Join(a.Asked, ", ")+" for "+a.Typed)
	}
	if len(parts) == 0 {
		return ""
	}
	return "also asked: " + strings.Join(parts, "; ")
}

// Withheld is a part of memory that the user may not see: a file, or a class of files.
type Withheld struct {
	// Path is a file. Class is a class of files in its place: sessions, the conversations of
	// other sessions; media; notes, Markdown that index.include does not name.
	Path   string `json:"path,omitempty"`
	Class  string `json:"class,omitempty"`
	Reason string `json:"reason"`
}

// WithheldLine returns in one line the withheld files and classes, "" if there are none.
func WithheldLine(parts []Withheld) string {
	if len(parts) == 0 {
		return ""
	}
	names := map[string]string{"sessions": "past sessions", "media": "images and sounds"}
	line := "withheld, as this session is shared: "
	for i, w := range parts {
		if i > 0 {
			line += ", "
		}
		line += cmp.Or(w.Path, names[w.Class], w.Class)
	}
	return line
}

// Progress is how far an index is: it has Files of Total.
type Progress struct {
	Files int `json:"files"`
	Total int `json:"total"`
}

// Kind is where a hit comes from.
type Kind string

// The kinds.
const (
	// Memory is a file of the workspace.
	Memory Kind = "memory"
	// Session is a span of the running session.
	Session Kind = "session"
	// Foreign is a record of another memory system.
	Foreign Kind = "foreign"
)

// Hit is a piece of memory, or of the session, that answers a question.
type Hit struct {
	Kind Kind `json:"kind"`
	// Source is the part of memory that the hit is from, by the caller's name for it.
	Source string `json:"source,omitempty"`
	// ID is the chunk's, the span's or the record's.
	ID string `json:"id"`
	// Path is "" for spans and records.
	Path string `json:"path"`
	// StartLine and EndLine are 1-based and inclusive, in the file or in the
	// span's text.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
	// Trail is the headings above it, outermost first; a span's label.
	Trail []string `json:"trail,omitempty"`
	// Origin is where a record of another system comes from, or the session whose agent made the
	// decision, or left the task open, that a day's log records. Otherwise it is "".
	Origin string `json:"origin,omitempty"`
	// Date is YYYY-MM-DD or "".
	Date string `json:"date,omitempty"`
	// Score is 0 to 1. Of passages the best hit's is the chance that the hits answer the
	// question, where half of all questions have an answer: at .5 it is as likely that they do as
	// that they don't. The others' scores are in proportion to the value of their Parts. For
	// chunks, and where the order is the index's own, the score is the value of Parts.
	Score float64 `json:"score"`
	Parts Parts   `json:"parts"`
	// Snippet is the part of the text that holds most of the question's words,
	// at most MaxSnippet characters; "" if the Query wants none.
	Snippet string `json:"snippet"`
	// SnippetStart and SnippetEnd are the lines that Snippet is from.
	SnippetStart int `json:"snippet_start_line"`
	SnippetEnd   int `json:"snippet_end_line"`
	// Citation names file and lines, or the span.
	Citation string `json:"citation"`
	// SupersededBy is the citation of the hit's replacement. It is the hit's own if it is itself
	// marked as no longer valid, and "" if no replacement is known.
	SupersededBy string `json:"superseded_by,omitempty"`
	// ByFact is the citation of the fact whose words found the lines, as far as they lack
	// those of the question; "" if none did. It is in no snippet.
	ByFact string `json:"by_fact,omitempty"`
	// More holds the other shown parts of the hit's place, in the order of their lines; the
	// members above are about the best lines alone. nil if the Query wants lines.
	More []More `json:"more,omitempty"`
	// Dates are the days that its text or that of More names by their distance from the text's
	// own day, or without their year.
	Dates []Dated `json:"dates,omitempty"`
	// Text is all of it.
	Text string `json:"-"`
	// Seq is the chunk's place in its file, from 0.
	Seq int `json:"-"`

	// terms are the question's. Pack cuts a hit that does not fit by them.
	terms []uint32
	// passage reports whether it is part of a chunk, whose text is whole, from line first on;
	// words are the hashes of its own words. piece is the kept analysis of Text, nil if there is
	// none.
	passage bool
	piece   *read
	// talk: it is a turn of a conversation, which answers without words of the question.
	talk  bool
	whole string
	first int
	words []uint32
}

// Parts are the parts of a hit's score.
type Parts struct {
	// Keyword and Vector are the scores of the two searches, 0 if that search
	// did not find it, with their ranks from 1, 0 likewise.
	Keyword float64 `json:"keyword"`
	// KeywordRank and VectorRank count from 1.
	KeywordRank int `json:"keyword_rank,omitempty"`
	// Vector is the chunk's score by meaning, 0 if it was not found so.
	Vector     float64 `json:"vector"`
	VectorRank int     `json:"vector_rank,omitempty"`
	// Merged is their weighted mean. Decay is the factor that age puts on it. Hits are ranked by
	// the product of both.
	Merged float64 `json:"merged"`
	Decay  float64 `json:"decay"`
	// AgeDays is 0 for a hit that doesn't age.
	AgeDays float64 `json:"age_days,omitempty"`
	// Rank is the place by score alone, from 1.
	Rank int `json:"rank"`
	// Similarity is the overlap with the most similar of the hits above, by
	// which diversity judged; 0 if that is off.
	Similarity float64 `json:"similarity,omitempty"`
}
