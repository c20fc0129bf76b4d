package foreign

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
)

// Format names the system that an answer comes from.
type Format string

// The formats that are read.
const (
	QMD    Format = "qmd"
	mem0   Format = "mem0"
	cognee Format = "cognee"
)

// Bounds on the input.
const (
	// maxAnswer is the largest answer, in bytes.
	maxAnswer = 16 << 20
	// maxRecords is the most records of an answer. Searches give ten or twenty.
	maxRecords = 1000
	// maxText is the longest text of a record, in bytes.
	maxText = 1 << 20
)

// maxName is the longest id, title, source or name that is kept, in bytes.
const maxName = 200

// Record is one memory of another system.
type Record struct {
	Format Format `json:"format"`
	// ID is the system's own id. A record without an id gets a hash of its text.
	ID   string `json:"id"`
	Text string `json:"text"`
	// Score is the system's own score, 0 if there is none. It can't be compared with other scores.
	Score float64 `json:"score"`
	// Source is the origin of the record by that system: a file's address or a data set. Title is
	// the heading of the source. The lines are lines of the source, from 1, or 0 if unknown.
	Source    string `json:"source,omitempty"`
	Title     string `json:"title,omitempty"`
	StartLine int    `json:"start_line,omitempty"`
	EndLine   int    `json:"end_line,omitempty"`
	// Created and Updated are zero if unknown.
	Created time.Time `json:"created,omitzero"`
	Updated time.Time `json:"updated,omitzero"`
	// Scope is session for a record of one person or one run, and for one that names nobody. It
	// is project for a record that all sessions may see.
	Scope memkernel.Scope `json:"scope"`

	// owner lists the person, agent and run to which the record is assigned.
	owner string
}

// Origin returns in a few words where a record comes from: the system, and the
// source or the id by which that system knows it.
func (r *Record) Origin() string {
	return string(r.Format) + " " + cmp.Or(r.Source, r.ID)
}

// Ref returns the record as the provenance of a page: its source and lines if it has a source,
// otherwise its system and ID.
func (r *Record) Ref() memkernel.Ref {
	ref := memkernel.Ref{Path: string(r.Format) + ":" + r.ID, Hash: hashOf(r.Text)}
	if r.Format == QMD && r.Source != "" {
		ref.Path, ref.StartLine, ref.EndLine = r.Source, r.StartLine, r.EndLine
	}
	return ref
}

// Date returns the day of the record's newest time as YYYY-MM-DD in UTC, "" if
// it has none.
func (r *Record) Date() string {
	at := cmp.Or(r.Updated, r.Created)
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.DateOnly)
}

// Check returns an error if a record can't be shown.
func (r *Record) Check() error {
	switch {
	case !named(r.Format):
		return fmt.Errorf("format %q names no system: use 1 to 32 of a-z, 0-9, '.', '_' and '-'", clip(string(r.Format)))
	case !textutil.IsVisible(r.ID + r.Source + r.owner):
		return errors.New("its id, source or owner holds characters that can't be shown")
	case strings.TrimSpace(r.Text) == "":
		return errors.New("it has no text")
	case len(r.Text) > maxText:
		return fmt.Errorf("its text has %d bytes, over %d: hand over the part that matters", len(r.Text), maxText)
	case !utf8.ValidString(r.Text):
		return errors.New("its text is not UTF-8")
	case r.Scope != memkernel.ScopeSession && r.Scope != memkernel.ScopeProject:
		return fmt.Errorf("unknown scope %q, use session or project", clip(string(r.Scope)))
	}
	return nil
}

func named(f Format) bool {
	return f != "" && len(f) <= 32 && strings.Trim(string(f), "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

// finish fills in the optional members of a record and returns an error if the record is invalid.
func (r *Record) finish() error {
	r.Text = strings.TrimSpace(r.Text)
	r.Scope = cmp.Or(r.Scope, memkernel.ScopeSession)
	for _, s := range []*string{&r.ID, &r.Source, &r.Title} {
		*s = clip(strings.TrimSpace(*s))
	}
	r.ID = cmp.Or(r.ID, hashOf(r.Text)[:16])
	return r.Check()
}

// clip cuts a name to maxName bytes, at a character.
func clip(s string) string {
	if len(s) <= maxName {
		return s
	}
	return textutil.Head(s, maxName) + "…"
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// answer holds the records that a system found.
type answer struct {
	// Format is "" if the answer has no records and may be from any system.
	Format  Format
	Records []Record
	// Bad are the records that could not be read.
	Bad []*RecordError
}

// RecordError is the reason why a record of an answer could not be read.
type RecordError struct {
	Format Format
	// Index is the position of the record in the answer, from 1. ID is "" if the record has none.
	Index int
	ID    string
	Err   error
}

func (e *RecordError) Error() string {
	id := ""
	if e.ID != "" {
		id = fmt.Sprintf(" (id %q)", clip(e.ID))
	}
	return fmt.Sprintf("%s record %d%s: %v", e.Format, e.Index, id, e.Err)
}

func (e *RecordError) Unwrap() error { return e.Err }
