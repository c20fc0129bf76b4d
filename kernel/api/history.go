package api

import (
	"errors"
	"fmt"

	"github.com/memkernel/memkernel/consolidation/history"
)

// HistoryRequest is a request for the earlier versions of a memory file, or of an entry in such a
// file.
type HistoryRequest struct {
	// Path is the file's path, relative to the workspace.
	Path string
	// Line is one of the entry's lines, counted from 1. With 0 the request is for the whole file.
	Line int
	// Limit is the number of newest versions to return; 0 returns all.
	Limit int
	// Diff adds to each version its difference from the previous version.
	Diff bool
}

// History lists the versions of a file or an entry, newest first.
type History struct {
	// Path is the file.
	Path string `json:"path"`
	// Line is the entry's first line, counted from 1, or 0 for a whole file.
	Line int `json:"line"`
	// EndLine is the entry's last line.
	EndLine int `json:"end_line"`
	// Text is the current text of the entry, "" for a whole file.
	Text     string            `json:"text"`
	Versions []history.Version `json:"versions"`
	// Total counts the versions, including those that the limit left out.
	Total int `json:"total"`
	// Unkept counts the states of the file that are on record without their text.
	Unkept int `json:"unkept"`
}

// The errors of a history.
var (
	// ErrNoHistory: there is no such file, and no record of an earlier file with the name.
	ErrNoHistory = errors.New("there is no such file, and none is on record")
	// ErrNoText: the file is not text.
	ErrNoText = errors.New("it is no text")
)

// NoLineError means that the line belongs to no entry.
type NoLineError struct {
	Path  string
	Line  int
	Lines int
	// Near is the line of the nearest entry, 0 if the file has no entries.
	Near int
}

func (e *NoLineError) Error() string {
	if e.Line > e.Lines {
		return fmt.Sprintf("%s has %d lines, and no line %d", e.Path, e.Lines, e.Line)
	}
	return fmt.Sprintf("%s:%d is no line of an entry", e.Path, e.Line)
}
