package proxy

import (
	"cmp"
	"errors"
	"io"
	"sync"
)

// maxAnswer bounds the copy of an answer, in bytes. A longer answer also passes, but is not
// observed.
const maxAnswer = 8 << 20 // 8 MiB

var (
	errTooLarge = errors.New("the answer is too large to be read")
	errBroken   = errors.New("the answer was broken off")
)

// tee copies the bytes that are read, and passes the copy on when the body has ended or broken
// off. It holds back nothing and reads nothing by itself. As with any answer's body, Close may be
// called during a Read.
type tee struct {
	io.ReadCloser
	limit int
	done  func(copy []byte, err error)

	mu   sync.Mutex
	copy []byte
	over bool
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.mu.Lock()
	if t.over = t.over || len(t.copy)+n > t.limit; t.over {
		t.copy = nil
	} else {
		t.copy = append(t.copy, p[:n]...)
	}
	t.mu.Unlock()
	switch {
	case err == io.EOF:
		t.end(nil)
	case err != nil:
		t.end(errBroken)
	}
	return n, err
}

// Close before the end means that the client has gone or needs no more of the answer.
func (t *tee) Close() error {
	err := t.ReadCloser.Close()
	t.end(errBroken)
	return err
}

func (t *tee) end(err error) {
	t.mu.Lock()
	done, copy := t.done, t.copy
	t.done, t.copy = nil, nil
	if t.over {
		err = cmp.Or(err, errTooLarge)
	}
	t.mu.Unlock()
	if done != nil {
		done(copy, err)
	}
}
