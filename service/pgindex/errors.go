package pgindex

import (
	"context"
	"errors"
	"fmt"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/service/internal/pgdsn"
)

// errNoVectors reports that the server has no pgvector, so that only words can be searched.
var errNoVectors = errors.New("the server has no pgvector")

// fault is an error of the server with the password removed from its message. Unwrap returns the
// original error, for callers that test its type.
type fault struct {
	text string
	err  error
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.err }

// explain wraps an error with the operation and the place. If the server's code is known, it adds
// the kind and a hint how to fix the error.
func (st *site) explain(op string, err error) error {
	var done *index.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done), errors.Is(err, context.Canceled):
		return err
	}
	f := &fault{pgdsn.Masked(err.Error(), st.password), err}
	as := pgdsn.FaultOf(err, codes)
	if as.Kind == nil {
		return fmt.Errorf("%s %s: %w", op, st.place, f)
	}
	return &index.Error{Op: op, Path: st.place, Kind: as.Kind, Hint: as.Hint, Err: f}
}

// The kinds of a server's errors, in addition to the kinds in package index.
var (
	errUnreachable = errors.New("the database can't be reached")
	errRefused     = errors.New("the database refuses")
	errTimeout     = errors.New("the database took too long")
)

// codes is the table of kinds and hints for [pgdsn.FaultOf].
var codes = map[string]pgdsn.Fault{
	"28":    {errRefused, "see that user and password of index.postgres are right"},
	"3D000": {errRefused, "make the database, or name another in the DSN"},
	"42501": {errRefused, "give the user the right to use and create tables in the schema"},
	"42P01": {index.ErrMissing, "run a reindex to make it"},
	"3F000": {index.ErrMissing, "run a reindex to make it"},
	"57014": {errTimeout, "see what keeps the server busy"},
	"25006": {index.ErrReadOnly, "name a server that can be written to, not a replica"},
	"53100": {index.ErrFull, "free some space on the server and sync again; what was written before stands"},
	"53":    {errRefused, "the server is out of connections or memory: try again, or give it more"},
	"55P03": {index.ErrBusy, "try again when the other process is done"},
	"40":    {index.ErrBusy, "try again"},
	"57P":   {errUnreachable, "try again when the server is up"},
	"08":    {errUnreachable, "try again when the server is up"},
	"0A000": {errRefused, "the server lacks something: see its message"},
	"late":  {errTimeout, "see what keeps the server busy"},
	"lost":  {errUnreachable, "see that the server runs and index.postgres names it rightly"},
}
