// Package document makes the JSON documents that both the command line (--json) and the daemon
// return. An answer of the kernel is a document by [Doc]. Any other
// document has one type and one maker in this package. doc/schema.json is the contract. A document
// that only one of the two returns is in its own package, except for documents of findings. Package
// document never opens a kernel, reads a file or prints.
package document

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
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

// Doc is a document that adds only its schema to an answer of the kernel. In JSON the members of the
// answer follow the schema.
type Doc[T any] struct {
	Schema string `json:"schema"`
	Answer T      `json:",inline"`
}

// schemas has the schema of each answer that is a document by [Doc].
var schemas = map[reflect.Type]string{
	reflect.TypeFor[*api.Curated]():        "memkernel/curate/v1",
	reflect.TypeFor[*api.EditUndone]():     "memkernel/undone/v1",
	reflect.TypeFor[*api.EntryEdited]():    "memkernel/edited/v1",
	reflect.TypeFor[*api.Everywhere]():     "memkernel/forget_everywhere/v1",
	reflect.TypeFor[*api.Grounds]():        "memkernel/why/v1",
	reflect.TypeFor[*api.History]():        "memkernel/history/v1",
	reflect.TypeFor[*api.MemoryList]():     "memkernel/list/v1",
	reflect.TypeFor[*api.Pruned]():         "memkernel/prune/v1",
	reflect.TypeFor[*api.Retained]():       "memkernel/retain/v1",
	reflect.TypeFor[*api.Salvaged]():       "memkernel/salvage/v1",
	reflect.TypeFor[*api.Status]():         "memkernel/status/v1",
	reflect.TypeFor[*consolidation.Loss](): "memkernel/guard/v1",
	reflect.TypeFor[*Saved]():              "memkernel/gain/v1",
}

// Of returns an answer as a document.
func Of[T any](answer T) Doc[T] { return Doc[T]{schemas[reflect.TypeFor[T]()], answer} }

// MarshalJSON writes the schema in front of the answer's members. Every answer has members.
func (d Doc[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{%q:%q,", "schema", d.Schema)
	start := b.Len()
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the caller's encoder escapes if it should
	err := enc.Encode(d.Answer)
	return slices.Delete(b.Bytes(), start, start+1), err // the answer's own brace
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
	// Truncated reports whether the text was cut at 32 MiB.
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
	return Restore{"memkernel/restore/v1", session, r}
}

// SystemParts reads the text blocks of a system prompt.
func SystemParts(blocks []json.RawMessage) ([]memkernel.Part, error) {
	var parts []memkernel.Part
	for i, raw := range blocks {
		var b struct{ Type, Text string }
		if err := json.Unmarshal(raw, &b); err != nil || b.Type != "text" {
			return nil, fmt.Errorf("block %d is no text block", i+1)
		}
		parts = append(parts, memkernel.Part{Kind: memkernel.PartText, Text: b.Text, Raw: string(raw)})
	}
	return parts, nil
}

// Tools reads tool definitions in any provider's form.
func Tools(definitions []json.RawMessage) ([]memkernel.Tool, error) {
	tools := make([]memkernel.Tool, 0, len(definitions))
	for i, raw := range definitions {
		var t struct {
			Name, Type string
			Function   struct{ Name string }
		}
		err := json.Unmarshal(raw, &t)
		name := cmp.Or(t.Name, t.Function.Name, t.Type)
		if err != nil || name == "" {
			return nil, fmt.Errorf("definition %d has no name", i+1)
		}
		tools = append(tools, memkernel.Tool{Name: name, Raw: string(raw)})
	}
	return tools, nil
}

// Check is the document of check.
type Check struct {
	Schema   string `json:"schema"`
	StateDir string `json:"state_dir"`
	// OK reports whether nothing was found. If something was found, the exit code is 3.
	OK       bool             `json:"ok"`
	Findings []health.Finding `json:"findings"`
}

// OfCheck returns the document of the findings in a state folder.
func OfCheck(stateDir string, found []health.Finding) Check {
	return Check{"memkernel/check/v1", stateDir, len(found) == 0, List(found)}
}

// Health is the document of doctor and audit.
type Health struct {
	Schema string `json:"schema"`
	// OK reports whether nothing has to be repaired. For doctor, warnings count as OK.
	OK bool `json:"ok"`
	// Files counts the files that were read. Entries counts the list items, paragraphs, quotes
	// and tables in them. A doctor reads none.
	Files   int `json:"files"`
	Entries int `json:"entries"`
	// Checks lists the checks in order.
	Checks   []health.CheckRun `json:"checks"`
	Findings []finding         `json:"findings"`
}

type finding struct {
	Check health.Code `json:"check"`
	// Severity is ok for findings that need no repair.
	Severity health.Severity `json:"severity"`
	health.Place
	What string `json:"what"`
	// Hint says how to repair the problem, "" if there is none.
	Hint string `json:"hint"`
	// Others are the other places of duplicates and contradictions, and of findings with the same
	// cause.
	Others []health.Place `json:"others"`
	// Dropped lists the sections that a host drops.
	Dropped []health.Section `json:"dropped"`
}

// OfDoctor returns the document of a doctor's report.
func OfDoctor(r *health.Report) Health {
	return ofReport("memkernel/doctor/v1", r.Count(health.Error) == 0, r)
}

// OfAudit returns the document of an audit.
func OfAudit(r *health.Report) Health { return ofReport("memkernel/audit/v1", r.Faults() == 0, r) }

func ofReport(schema string, ok bool, r *health.Report) Health {
	doc := Health{schema, ok, r.Files, r.Entries, List(r.Checks), []finding{}}
	for _, f := range r.Findings {
		doc.Findings = append(doc.Findings, finding{f.Code, f.Severity, f.Place, f.What, f.Hint, List(f.Others), List(f.Dropped)})
	}
	return doc
}
