// Package document makes the documents that several doors return: the command line with --json,
// and the daemon as results of calls. Each document has one type and one maker in this package,
// and doc/schema.json is the contract. A document that only one door returns is in that door's
// package, except for documents of findings. Package document never opens a kernel, reads a file
// or prints.
package document

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

// List returns s, or the empty list for nil, because a document never has null for a list.
func List[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Get is the document of get and read, for pages and for files.
type Get struct {
	Schema string `json:"schema"`
	// SessionKey is "" for a file, and if several sessions have the id with different content.
	SessionKey string `json:"session_key"`
	// Sessions lists the sessions that have the page, if the call named no session.
	Sessions []string `json:"sessions,omitempty"`
	// ID is the requested identifier.
	ID string `json:"id"`
	// Reason is OK, or the reason why there is no text: NO_MATCH, FORGOTTEN, DENIED or AMBIGUOUS.
	// DENIED means that the path is not memory. AMBIGUOUS means that several sessions have the id
	// with different content and the call named no session. Detail is the reason in words.
	Reason string `json:"reason"`
	Detail string `json:"detail"`
	// Bytes is the size of the content.
	Bytes int `json:"bytes"`
	// Encoding is utf-8, or base64 for content that is not text.
	Encoding string `json:"encoding"`
	Text     string `json:"text"`
	// Pages are the members of a span, in order.
	Pages []string `json:"pages"`
	// Path is the path of a file, "" for a page.
	Path string `json:"path"`
	// StartLine is the first line of the text and EndLine is the last line. Both are 0 for a
	// page.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
	// Truncated reports whether the text was cut at workspace.max_file_size.
	Truncated bool `json:"truncated"`
	// Version is the version of the whole file, for callers that edit it. It is "" for a page,
	// and for a file of more than a mebibyte.
	Version string `json:"version"`
	// References are the parts of a page that are stored as blobs.
	References []api.Reference `json:"references"`
}

func got(id, reason, detail, text string) Get {
	doc := Get{Schema: "memkernel/get/v1", ID: id, Reason: reason, Detail: detail, Bytes: len(text), Encoding: "utf-8", Text: text, Pages: []string{}, References: []api.Reference{}}
	if !utf8.ValidString(text) {
		doc.Encoding, doc.Text = "base64", base64.StdEncoding.EncodeToString([]byte(text))
	}
	return doc
}

// OfPage returns the document of the page that a pointer of a session names.
func OfPage(session string, c *api.Content) Get {
	doc := got(c.ID, c.Reason, c.Detail, c.Text)
	doc.SessionKey, doc.Pages, doc.References = session, List(c.Pages), List(c.References)
	return doc
}

// OfLines returns the document of lines of a file that were requested by id.
func OfLines(id string, c *markdownstore.Content) Get {
	doc := got(id, string(c.Reason), c.Detail, c.Text)
	doc.Path, doc.StartLine, doc.EndLine, doc.Truncated = c.Path, c.StartLine, c.EndLine, c.Truncated
	doc.Version = c.Hash
	return doc
}

// OfDenied returns the answer to a path that is not memory.
func OfDenied(id, path string, err error) Get {
	doc := got(id, string(retrieval.Denied), err.Error(), "")
	doc.Path = path
	return doc
}

// Search is the document of search.
type Search struct {
	Schema string `json:"schema"`
	Query  string `json:"query"`
	// Results are places, the best first. Each place has its best lines, at most five of a turn,
	// an item or a paragraph. With --lines it has all matching lines.
	Results []retrieval.Hit  `json:"results"`
	Reason  retrieval.Reason `json:"reason"`
	Mode    retrieval.Mode   `json:"mode"`
	// Detail is the reason why there are no results, or names the missing part of the search. It
	// is "" if there is nothing to say.
	Detail string `json:"detail"`
	// Behind is the lag of the index. It is absent if the index is up to date.
	Behind *index.Lag `json:"behind,omitempty"`
	// Progress is the progress of the index if the reason is INDEXING.
	Progress *retrieval.Progress `json:"progress,omitempty"`
	// Withheld are parts of memory that a shared session may not see.
	Withheld []retrieval.Withheld `json:"withheld,omitempty"`
	// Weak reports whether the results are probably unrelated to the question. It is absent if
	// not.
	Weak bool `json:"weak,omitempty"`
	// Also are the other texts that were searched for in addition to the words of the question.
	Also []retrieval.Also `json:"also_asked,omitempty"`
}

// OfSearch returns the document of the results of a question.
func OfSearch(query string, r *retrieval.Result) Search {
	return Search{"memkernel/search/v1", query, List(r.Hits), r.Reason, r.Mode, r.Detail, r.Behind, r.Progress, r.Withheld, r.Weak, r.Also}
}

// Forget is the document of forget.
type Forget struct {
	Schema     string `json:"schema"`
	SessionKey string `json:"session_key"`
	*api.Forgotten
}

// OfForgotten returns the document of the parts of a session that were, or would be, forgotten.
func OfForgotten(session string, f *api.Forgotten) Forget {
	return Forget{"memkernel/forget/v1", session, f}
}

// Restore is the document of restore.
type Restore struct {
	Schema     string `json:"schema"`
	SessionKey string `json:"session_key"`
	*api.Restored
}

// OfRestored returns the document of the text from which a session continues.
func OfRestored(session string, r *api.Restored) Restore {
	r.Damaged = List(r.Damaged)
	return Restore{"memkernel/restore/v1", session, r}
}

// Status is the document of status.
type Status struct {
	Schema string `json:"schema"`
	*api.Status
}

// OfStatus returns the document of the stored data.
func OfStatus(st *api.Status) Status {
	st.Sessions = List(st.Sessions)
	for i := range st.Sessions {
		st.Sessions[i].Lines = List(st.Sessions[i].Lines)
	}
	return Status{"memkernel/status/v1", st}
}

// Retain is the document of retain.
type Retain struct {
	Schema string `json:"schema"`
	*api.Retained
}

// OfRetained returns the document of the data that was, or would be, removed because of its age.
func OfRetained(r *api.Retained) Retain {
	r.Sessions = List(r.Sessions)
	return Retain{"memkernel/retain/v1", r}
}
