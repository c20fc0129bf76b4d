package api

import (
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/consolidation"
)

// EditRule is the rule for which entries of memory's files agents may change.
type EditRule string

// The rules.
const (
	// EditOwn lets agents change entries that agents, tools and upkeep wrote. It is the default.
	EditOwn EditRule = "own"
	// EditAny lets agents change people's entries as well.
	EditAny EditRule = "any"
	// EditNone lets agents change nothing. Agents may still append.
	EditNone EditRule = "none"
)

// Voice names the party that asks for a change of memory by hand, outside of any session.
type Voice string

// The voices. A session's request has none.
const (
	// VoicePerson may change any line. The written lines are a person's.
	VoicePerson Voice = "person"
	// VoiceAgent is a command that an agent or a script runs. It follows the rules for agents.
	VoiceAgent Voice = "agent"
)

// EntryRequest is a request to replace or remove an entry of a file of memory.
type EntryRequest struct {
	// Path is the file, relative to the workspace. Line is one of the entry's lines, counted from
	// 1. EndLine, if set, ends a run of lines that must hold no second entry.
	Path          string
	Line, EndLine int
	// Text replaces the entry, which stays an item of a list if it was one.
	Text string
	// Was is the entry's text as a list showed it. If it is set and the entry reads otherwise by
	// now, the answer is a [StaleError].
	Was string
	// Delete removes the entry.
	Delete  bool
	Voice   Voice
	Private bool
	// Now is the time of the edit; zero takes the kernel's clock.
	Now time.Time
}

// EntryEdited is an entry that was added, replaced or removed.
type EntryEdited struct {
	// Edit names the edit, for an undo; "" if there was nothing to change.
	Edit string `json:"edit"`
	// Path is the file. Line and EndLine are the first and the last line of the entry in the
	// changed file. EndLine is 0 if the entry was removed.
	Path    string `json:"path"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	// Before and After are the entry's old and new text, with secrets masked.
	Before string `json:"before"`
	After  string `json:"after"`
	// Duplicate: the file already had the entry.
	Duplicate bool `json:"duplicate"`
	// Masked counts the secrets that were masked.
	Masked int `json:"masked"`
	// Promoted are the entries of MEMORY.md, after their places, that were made of a removed entry.
	// They stay.
	Promoted []string `json:"promoted"`
}

// ListRequest is a request for the entries of memory.
type ListRequest struct {
	// Path is a file or a folder of memory, "" for all files.
	Path string
	// Max limits the list to the newest entries; 0 lists all.
	Max     int
	Private bool
}

// MemoryList has entries of memory, the newest first.
type MemoryList struct {
	Entries []MemoryEntry `json:"entries"`
	// Total counts the entries, including those that Max left out.
	Total int `json:"total"`
	// Skipped are the files that can't be read.
	Skipped []SkippedFile `json:"skipped"`
}

// MemoryEntry is an entry of memory.
type MemoryEntry struct {
	// Path is the file. Line is the first line of the entry and EndLine its last line, from 1 on.
	Path    string `json:"path"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	// Date is the entry's day, or the day of the edit that wrote it, "" if neither is known.
	Date string `json:"date"`
	// By is the author: [ByPerson], [ByAgent] or [ByUpkeep]. "" is an unknown author, whose entries
	// are treated as a person's.
	By string `json:"by"`
	// ID is the id of the block that the entry was written in, "" if the block has none.
	ID string `json:"id"`
	// Text is the entry without its marks, with secrets masked.
	Text string `json:"text"`
	// Written is when an edit wrote the entry, zero if none did.
	Written time.Time `json:"-"`
}

// PassageRequest is a request to replace or remove a passage of a file of memory.
type PassageRequest struct {
	SessionKey string
	// Path is the file's, from the workspace.
	Path string
	// Old is the passage as it was read. Its text must occur in the file once, or begin on line
	// From. Version is the version of the file that was read: the SHA-256 of its bytes in hex.
	// Callers must set Old or Version.
	Old, Version string
	// From and Lines give the passage if Old is empty. It begins on line From and has Lines
	// lines, or a single line if Lines is 0. If Old is empty and From is 0, the passage is the
	// whole file.
	From, Lines int
	// Text replaces the passage.
	Text string
	// Delete removes the passage. A file that becomes empty is removed as well.
	Delete bool
	// Private: see [PlanRequest].
	Private bool
	// Now is the time of the edit; zero takes the kernel's clock.
	Now time.Time
}

// EditRequest is a request to change whole files of memory. Either all of them are changed or
// none.
type EditRequest struct {
	SessionKey string
	Files      []EditFile
	Private    bool
	Now        time.Time
}

// EditFile is one file of an edit and its new text.
type EditFile struct {
	// Path is the file's path, relative to the workspace. Version is the version of the file that
	// was read, "" if there was no file.
	Path, Version string
	// Text is the file's new text. From, if set, is a file whose bytes are copied instead of
	// Text.
	Text, From string
	// Remove removes the file.
	Remove bool
}

// Edited is the result of an edit.
type Edited struct {
	// Edit names the edit, for an undo; "" if there was nothing to change.
	Edit  string       `json:"edit"`
	Files []EditedFile `json:"files"`
	// Duplicate: the same request was carried out before and has not been undone.
	Duplicate bool `json:"duplicate"`
	// Masked counts the secrets that were masked.
	Masked int `json:"masked"`
}

// EditedFile is a file after an edit.
type EditedFile struct {
	Path string `json:"path"`
	// Version is "" for a file that is gone.
	Version string `json:"version"`
	// StartLine and EndLine are the lines that were written, 0 if nothing was.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
}

// UndoRequest is a request to undo an edit: the lines that it wrote are removed, and those that it
// removed are put back.
type UndoRequest struct {
	SessionKey string
	// Edit is the name from [Edited]. "" selects the newest edit of the session that was not
	// undone. For an undo by hand, "" selects the newest edit by hand, curation or pruning, and
	// Edit may name any.
	Edit    string
	Voice   Voice
	Private bool
	Now     time.Time
}

// EditUndone is a change that was undone.
type EditUndone struct {
	Edit string `json:"edit"`
	// Kind is edit, remember, forget, curate, prune or undo.
	Kind string `json:"kind"`
	// Time is when the edit was made.
	Time time.Time `json:"time"`
	// Files are the restored files.
	Files []EditedFile `json:"files"`
	// Left names the files with lines of the edit that somebody changed since, "" if there are
	// none. These lines were not taken back.
	Left string `json:"left"`
}

// MemoryFile is a file of memory as an agent sees it.
type MemoryFile struct {
	Path string
	// Version is the file's version, "" if there is no file.
	Version string
	// Text has its secrets masked, Unix line ends and no byte-order mark.
	Text   string
	Exists bool
	// Secrets: a part of the file was masked, so that it can't be edited.
	Secrets bool
}

// ErrEditsOff is returned if agents may not change memory at all.
var ErrEditsOff = errors.New("agents may not change memory here: workspace.agent_edits is none")

// StaleError is returned if a file differs from the version that was read. Nothing was changed.
type StaleError struct {
	Path string `json:"path"`
	// Why describes the difference.
	Why string `json:"why"`
	// Version is the file's current version, "" if there is no file.
	Version string `json:"version"`
	// Text holds current lines of the file, with secrets masked: the requested lines, as far as
	// they can be found.
	Text      string `json:"text"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	// Lines counts all lines of the file.
	Lines int `json:"lines"`
}

func (e *StaleError) Error() string { return e.Path + ": " + e.Why }

// PersonError is returned for a change of an entry that a person wrote. Nothing was changed.
type PersonError struct{ *consolidation.Touch }

func (e *PersonError) Error() string {
	return e.Touch.Error() + ". Tools leave what people wrote as it is: add with memory_append what holds now, or ask the user to change the file; workspace.agent_edits: any, in a configuration that --config names, lets agents change it"
}

func (e *PersonError) Unwrap() error { return e.Touch }

// SecretError is returned for a file with a secret, which no backup may hold. Nothing was
// changed.
type SecretError struct{ Path string }

func (e *SecretError) Error() string {
	return e.Path + ": it holds what is taken for a secret, which no backup may hold, so it is not edited: let the user take the secret out of it, or name it in redact.allow if it is none"
}

// EditError is returned for an edit that can't be done as requested. Nothing was changed, except
// for the files that the text names.
type EditError struct {
	Path, Why string
	// Person names a change that only a person may take back, "" for any other error.
	Person string
}

func (e *EditError) Error() string {
	if e.Path == "" {
		return e.Why
	}
	return fmt.Sprintf("%s: %s", e.Path, e.Why)
}
