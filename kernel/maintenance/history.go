package maintenance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/consolidation/history"
)

// HistoryRequest asks what a file of memory, or an entry of one, was before.
type HistoryRequest struct {
	// Path is the file's, from the workspace. Line is one of the entry's, from 1 on; 0 is for
	// the whole file.
	Path string
	Line int
	// Limit is how many versions are returned, the newest; 0 is for all.
	Limit int
	// Diff adds to each version how it differs from the one before.
	Diff bool
	// Versions are what files were elsewhere, such as in version control. Nil is nowhere.
	Versions Versions
}

// Versions are what files were, by another keeper of them. It is only read.
type Versions interface {
	// Of gives what a file was, newest first, under whatever name it had.
	Of(ctx context.Context, path string) ([]Revision, error)
	// Together gives the files that a revision changed.
	Together(ctx context.Context, id string) ([]string, error)
}

// Revision is what a file was from some time on.
type Revision struct {
	ID              string
	Time            time.Time
	Author, Subject string
	Text            string
	// Absent: the file was taken away.
	Absent bool
}

// History is what a file or an entry was, newest version first.
type History struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	// Text is the entry as it stands, "" for a whole file.
	Text     string            `json:"text"`
	Versions []history.Version `json:"versions"`
	// Total counts the versions, those too that the limit left out.
	Total int `json:"total"`
	// Unkept counts the states of the file that are on record without their text.
	Unkept int `json:"unkept"`
	// Elsewhere reports whether another keeper has versions, which neither retention nor a
	// request to forget reaches. Failed is why it could not be asked for all of them.
	Elsewhere bool   `json:"elsewhere"`
	Failed    string `json:"failed"`
}

// The errors of a history.
var (
	// ErrNoHistory: there is no such file, and nothing is on record of one.
	ErrNoHistory = errors.New("there is no such file, and none is on record")
	// ErrNoText: it is no text.
	ErrNoText = errors.New("it is no text")
)

// NoLineError means that no entry is on a line.
type NoLineError struct {
	Path  string
	Line  int
	Lines int
	// Near is the line of the entry that is nearest, 0 if the file has none.
	Near int
}

func (e *NoLineError) Error() string {
	if e.Line > e.Lines {
		return fmt.Sprintf("%s has %d lines, and no line %d", e.Path, e.Lines, e.Line)
	}
	return fmt.Sprintf("%s:%d is no line of an entry", e.Path, e.Line)
}
