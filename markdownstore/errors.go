package markdownstore

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// ErrReadOnly is returned when the workspace, or the file, cannot be written.
var ErrReadOnly = errors.New("not writable")

// ErrFull is returned when the disk, or this user's share of it, is full. The file keeps its
// former content.
var ErrFull = errors.New("the disk is full")

// unwritable marks the errors of places that are read-only or full.
func unwritable(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w (%w); make the workspace writable for this user", ErrReadOnly, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w (%w); free some space and try again", ErrFull, err)
	}
	return err
}

// checkWritable refuses a file that its owner made read-only, also where the
// folder would let us replace it, and one that is above the limit.
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

// named puts the workspace's name of a place's file into an error of Files.
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
