package static

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
)

// mapping is a file mapped for reading.
type mapping struct {
	path string
	data []byte
}

// errShrunk means that a part of the mapped file is no longer there.
var errShrunk = errors.New("the file shrank or can't be read any more: put it back whole, and start again")

// openMapping maps a regular file.
func openMapping(path string) (*mapping, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() == 0 {
		return nil, fmt.Errorf("%s is empty", path)
	}
	if st.Size() != int64(int(st.Size())) {
		return nil, fmt.Errorf("%s is too large for this machine: %d bytes", path, st.Size())
	}
	data, err := mapFile(f, int(st.Size()))
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return &mapping{path, data}, nil
}

// openRegular opens a regular file: a pipe would block, a device never end.
func openRegular(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return os.Open(path)
}

// guard runs f, which reads the mapping. Pages that are gone (another process cut the file
// shorter) would end the process, so guard returns an error for them.
func (m *mapping) guard(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // the runtime's panic on a fault
			err = fmt.Errorf("%s: %w", m.path, errShrunk)
		default:
			panic(r)
		}
	}()
	return f()
}

// close releases the mapping. Callers must not read it any more.
func (m *mapping) close() error {
	data := m.data
	m.data = nil
	return unmapFile(data)
}
