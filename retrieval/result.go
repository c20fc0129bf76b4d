package retrieval

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel/index"
)

// Reason is the outcome of a search of memory.
type Reason string

// The reasons.
const (
	// OK: memory was searched and holds something.
	OK Reason = "OK"
	// NoMatch: memory was searched and holds nothing on this.
	NoMatch Reason = "NO_MATCH"
	// NoMatch: memory was searched and has no answer.
	Denied Reason = "DENIED"
	// BackendError: the index can't be searched. Result.Err is the reason.
	BackendError Reason = "BACKEND_ERROR"
	// Disabled: memory is switched off, or the index is missing and searches must not make it.
	Disabled Reason = "DISABLED"
	// Indexing: the index is still being made or brought up to date. Its present part was
	// searched.
	Indexing Reason = "INDEXING"
	// StaleIndex: the searched index is older than the files.
	StaleIndex Reason = "STALE_INDEX"
)

// Mode is the means by which a question was answered.
type Mode string

// The modes.
const (
	Hybrid   Mode = "hybrid"
	Keyword  Mode = "keyword"
	byVector Mode = "vector"
	// NoSearch: nothing was searched.
	NoSearch Mode = "disabled"
)

// Result is the answer to a Query.
type Result struct {
	// Hits are in the order in which they should be read. It is never nil.
	Hits   []Hit  `json:"results"`
	Reason Reason `json:"reason"`
	Mode   Mode   `json:"mode"`
	// Detail is the reason why there are no hits, or the part of the search that failed, or "".
	Detail string `json:"detail,omitempty"`
	// Weak reports whether the best of the hits scores below [DefaultMinBest]. The hits then
	// likely do not answer the question.
	Weak bool `json:"weak,omitempty"`
	// Grounds are the measures from which the best hit's score is computed, for passages.
	Grounds Grounds `json:"-"`
	// Behind counts the changes of the files that the index lacks. It is nil if there are no
	// changes or if the changes are unknown. The caller must set it.
	Behind *index.Lag `json:"behind,omitempty"`
	// Progress is the progress of the index. The caller must set it with the reason Indexing.
	Progress *Progress `json:"progress,omitempty"`
	// Withheld are parts of memory that the user may not see, whether or not they hold an answer.
	// The caller must set it.
	Withheld []Withheld `json:"withheld,omitempty"`
	// Also lists the spellings that were searched in addition to the question's words. It lists
	// only spellings that the hits hold.
	Also []Also `json:"also_asked,omitempty"`
	// Note is the part of Detail that comes from the index. It describes how the hits were found,
	// for example that another backend answered.
	Note string `json:"-"`
	// Err is the error of the search, or nil. If there are also hits, only a part of the search
	// failed. Callers should test it with errors.Is against the errors of package index.
	Err error `json:"-"`
}

// Also is a spelling in memory that was searched in addition to one or two words of the question.
type Also struct {
	// Typed is the spelling in the question.
	Typed string `json:"typed"`
	// Asked are the spellings in memory.
	Asked []string `json:"asked"`
}

// AlsoLine returns one line with the spellings that were searched in addition to the question's
// words, or "".
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
	// Path is the withheld file, or "" for a class of files.
	Path string `json:"path,omitempty"`
	// Class is a class of files: "sessions" for the conversations of other sessions, "media",
	// "host memories" for the notes that hosts keep themselves, or "notes" for Markdown that
	// index.include does not name.
	Class  string `json:"class,omitempty"`
	Reason string `json:"reason"`
}

// WithheldLine returns one line with the withheld files and classes, or "".
func WithheldLine(parts []Withheld) string {
	if len(parts) == 0 {
		return ""
	}
	names := map[string]string{"sessions": "past sessions", "media": "images and sounds", "host memories": "memories that hosts keep themselves"}
	line := "withheld, as this session is shared: "
	for i, w := range parts {
		if i > 0 {
			line += ", "
		}
		line += cmp.Or(w.Path, names[w.Class], w.Class)
	}
	return line
}

// Progress is the progress of an index, which has Files of Total files.
type Progress struct {
	Files int `json:"files"`
	Total int `json:"total"`
}

// kind is the kind of source of a hit.
type kind string

// The kinds.
const (
	// Memory is a file of the workspace.
	Memory kind = "memory"
	// Session is a span of the running session.
	Session kind = "session"
	// Foreign is a record of another memory system.
	Foreign kind = "foreign"
)

// WrittenBy begins the Origin of a hit that an agent wrote without being asked.
const WrittenBy = "written by "

// Hit is a piece of memory, or of the session, that answers a question.
type Hit struct {
	Kind kind `json:"kind"`
	// Source is the caller's name for the part of memory from which the hit comes.
	Source string `json:"source,omitempty"`
	// ID is the ID of the chunk, the span or the record.
	ID string `json:"id"`
	// Path is "" for spans and records.
	Path string `json:"path"`
	// StartLine and EndLine are 1-based and inclusive, in the file or in the
	// span's text.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
	// Trail is the headings above the hit, outermost first. For a span it is the span's label.
	Trail []string `json:"trail,omitempty"`
	// Origin is the source of another system's record. For a decision or an open task in a day's
	// log, it is the session whose agent made the decision or left the task open. Otherwise it is
	// "". For a text that a host's agent wrote by itself, it is WrittenBy and the agent.
	Origin string `json:"origin,omitempty"`
	// Date is YYYY-MM-DD or "".
	Date string `json:"date,omitempty"`
	// Score is 0 to 1. For passages, the score of the best hit is the chance that the hits answer
	// the question, if half of all questions have an answer. The scores of the other hits are in
	// proportion to the value of their Parts. For chunks, and if the order is the index's own,
	// the score is the value of Parts.
	Score float64 `json:"score"`
	Parts parts   `json:"parts"`
	// Snippet is the part of the text that holds most of the question's words,
	// at most 700 characters; "" if the Query wants none.
	Snippet string `json:"snippet"`
	// SnippetStart and SnippetEnd are the first and last line of Snippet.
	SnippetStart int `json:"snippet_start_line"`
	SnippetEnd   int `json:"snippet_end_line"`
	// Citation names file and lines, or the span.
	Citation string `json:"citation"`
	// SupersededBy is the citation of the hit's replacement, or "" if no replacement is known. If
	// the hit itself is marked as no longer valid, SupersededBy is the hit's own citation.
	SupersededBy string `json:"superseded_by,omitempty"`
	// More holds the other shown parts of the hit's place, in the order of their lines. The
	// fields above describe only the best lines. More is nil if the Query wants lines.
	More []More `json:"more,omitempty"`
	// Dates are the days that the hit's text, or the text of More, names relative to the text's
	// own day or without a year.
	Dates []dated `json:"dates,omitempty"`
	// Text is the hit's whole text.
	Text string `json:"-"`
	// Seq is the chunk's position in its file, from 0.
	Seq int `json:"-"`

	// terms are the terms of the question. Pack uses them to cut a hit that does not fit.
	terms []uint32
	// place is the passage that is the hit, or nil if the hit is not a passage.
	place *place
	// piece is the cached analysis of Text, or nil.
	piece *read
}

// talk reports whether the hit is a turn of a conversation. Such a turn may answer without words of
// the question.
func (h *Hit) talk() bool { return h.place != nil && h.place.session.talk }

// parts are the parts of a hit's score.
type parts struct {
	// Keyword is the score of the search by words, or 0 if this search did not find the hit.
	Keyword float64 `json:"keyword"`
	// KeywordRank is the rank in the search by words, from 1, or 0 if this search did not find
	// the hit. VectorRank is the rank in the search by vectors.
	KeywordRank int `json:"keyword_rank,omitempty"`
	// Vector is the score of the search by vectors, or 0 if this search did not find the hit.
	Vector     float64 `json:"vector"`
	VectorRank int     `json:"vector_rank,omitempty"`
	// Merged is the weighted mean of Keyword and Vector. Decay is the factor by which age reduces
	// it. Hits are ranked by the product of both.
	Merged float64 `json:"merged"`
	Decay  float64 `json:"decay"`
	// AgeDays is 0 for a hit that doesn't age.
	AgeDays float64 `json:"age_days,omitempty"`
	// Rank is the rank of the hit before diversity, from 1.
	Rank int `json:"rank"`
	// Similarity is the overlap with the most similar of the hits above, as diversity measured
	// it. It is 0 if diversity is off.
	Similarity float64 `json:"similarity,omitempty"`
}
