package markdownstore

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// ErrDenied is wrapped by every refusal of a path; the *DeniedError holds the
// reason.
var ErrDenied = errors.New("denied")

// DenyReason is the reason for the refusal of a path.
type DenyReason string

const (
	// denyOutside is an absolute path, or one with ".." in it.
	denyOutside DenyReason = "outside"
	// denyLink is a symbolic link that leads out of the workspace, nowhere, to a folder, or to a
	// file that is not memory by its own path. A link among the standing instructions may lead
	// to any Markdown file of the workspace.
	denyLink DenyReason = "link"
	// denyName is a path with characters in it that can't be shown: control
	// characters, marks of direction, bytes that are not UTF-8.
	denyName DenyReason = "name"
	// DenyNotMemory is a path that is not a memory file.
	DenyNotMemory DenyReason = "not_memory"
	// DenyPrivate is MEMORY.md or USER.md in a shared session.
	DenyPrivate DenyReason = "private"
	// DenyAgent is a file that only another agent may see.
	DenyAgent DenyReason = "agent"
	// denyNotFile is a folder, a pipe, a device.
	denyNotFile DenyReason = "not_file"
	// DenyClosed refuses to replace the log of a past day.
	DenyClosed DenyReason = "closed"
	// DenyNotWritten refuses to write a file that is memory only by index.include.
	DenyNotWritten DenyReason = "not_written"
	// denyStanding refuses to read a file of standing instructions in a workspace with memory files.
	denyStanding DenyReason = "standing"
	// DenyInstructions refuses to append to a file of standing instructions.
	DenyInstructions DenyReason = "instructions"
)

var denyTexts = map[DenyReason]string{
	denyOutside:      "only paths relative to the workspace are read, without ..",
	denyLink:         "the symbolic link does not lead to a memory file of the workspace",
	denyName:         "its name holds characters that can't be shown; rename it",
	DenyNotMemory:    "it is no memory file; memory is MEMORY.md, USER.md, memory/**/*.md and the other Markdown that search reads",
	DenyNotWritten:   "only MEMORY.md, USER.md and files in memory/ are written to; other Markdown is read alone",
	DenyPrivate:      "it is private, and this session is shared",
	DenyAgent:        "it is another agent's",
	denyNotFile:      "it is not a regular file",
	DenyClosed:       "the log of a past day is closed",
	denyStanding:     "agents read it by themselves, so it is not searched next to MEMORY.md, USER.md or memory/; index.include takes it in",
	DenyInstructions: "standing instructions are not appended to",
}

// DeniedError is returned when a path must not be touched. errors.Is finds ErrDenied in it. The
// error doesn't reveal whether the file exists.
type DeniedError struct {
	Path   string
	Reason DenyReason
	// Left is the setting or the rule by which a Markdown file is no memory file, "" if its name
	// alone decides.
	Left leftReason
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("access %q: denied: %s", e.Path, e.Text())
}

// Text returns the reason without the path.
func (e *DeniedError) Text() string {
	if e.Left != "" {
		return "it is left out of memory: " + e.Left.Text()
	}
	return denyTexts[e.Reason]
}

// Is makes every DeniedError an ErrDenied.
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

func deny(path string, r DenyReason) error { return &DeniedError{Path: path, Reason: r} }

// ErrReadOnly is returned when the workspace, or the file, cannot be written.
var ErrReadOnly = errors.New("not writable")

// ErrFull is returned when the disk, or this user's share of it, is full. The file keeps its
// former content.
var ErrFull = errors.New("the disk is full")

// unwritable wraps the errors of read-only and full places with ErrReadOnly or ErrFull.
func unwritable(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w (%w); make the workspace writable for this user", ErrReadOnly, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w (%w); free some space and try again", ErrFull, err)
	}
	return err
}

// checkWritable returns an error for a file that is larger than limit, and for a read-only file even if
// its folder allows to replace it.
func (pl place) checkWritable(limit int64) error {
	if pl.info == nil {
		return nil
	}
	if mode := pl.info.Mode().Perm(); mode&0o222 == 0 {
		return fmt.Errorf("%w: the file's mode is %s; chmod u+w allows it", ErrReadOnly, mode)
	}
	if size := pl.info.Size(); size > limit {
		return tooLarge(size, limit)
	}
	return nil
}

// named sets the path in an error of Files to the path of the place in the workspace.
func (pl place) named(err error) error {
	var c *ConflictError
	var d *DeniedError
	switch {
	case errors.As(err, &c):
		c.Path = pl.path
	case errors.As(err, &d):
		d.Path = pl.path
	}
	return err
}
