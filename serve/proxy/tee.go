package proxy

import (
	"errors"
	"io"
)

// maxAnswer is how much of an answer is copied, in bytes. A longer one passes all the
// same, and is not observed.
const maxAnswer = 8 << 20 // 8 MiB

var (
	errTooLarge = errors.New("the answer is too large to be read")
	errBroken   = errors.New("the answer was broken off")
)

// tee keeps a copy of what is read, and hands it on when the body has ended: whole,
// or broken off. It holds back nothing and reads nothing by itself.
type tee struct {
	io.ReadCloser
	limit int
	copy  []byte
	over  bool
	done  func(copy []byte, err error)
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if t.over = t.over || len(t.copy)+n > t.limit; t.over {
		t.copy = nil
	} else {
		t.copy = append(t.copy, p[:n]...)
	}
	switch {
	case err == io.EOF:
		t.end(nil)
	case err != nil:
		t.end(errBroken)
	}
	return n, err
}

// Close before the end means that the client has gone.
func (t *tee) Close() error {
	t.end(errBroken)
	return t.ReadCloser.Close()
}

func (t *tee) end(err error) {
	if t.done == nil {
		return
	}
	done := t.done
	t.done = nil
	if err == nil && t.over {
		err = errTooLarge
	}
	done(t.copy, err)
}
