package blob

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
)

// Get returns the content of a blob, checked against its hash.
func (s *Store) Get(hash string) ([]byte, error) {
	if !IsHash(hash) {
		return nil, fmt.Errorf("get blob %q: %w", hash, ErrBadHash)
	}
	b, err := s.in.ReadFile(name(hash))
	if err != nil {
		return nil, s.notFound("get", hash, err)
	}
	if got := Sum(b); got != hash {
		return nil, s.damaged(hash, got)
	}
	return b, nil
}

// Reader streams a blob. The hash is checked at the end: the last Read returns
// a *DamageError in place of io.EOF if it does not match, so bytes that were
// read before are only good once io.EOF was seen. The caller closes it.
func (s *Store) Reader(hash string) (io.ReadCloser, error) {
	if !IsHash(hash) {
		return nil, fmt.Errorf("get blob %q: %w", hash, ErrBadHash)
	}
	f, err := s.in.Open(name(hash))
	if err != nil {
		return nil, s.notFound("get", hash, err)
	}
	return &reader{s: s, f: f, want: hash, sum: sha256.New()}, nil
}

// Verify reads a blob in bounded memory and checks it.
func (s *Store) Verify(hash string) error {
	r, err := s.Reader(hash)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err
}

func (s *Store) damaged(hash, got string) error {
	return &DamageError{
		Hash: hash,
		Got:  got,
		File: s.file(hash),
		Hint: "restore the file from a backup, or delete it: the blob is written again when its content is next ingested",
	}
}

type reader struct {
	s    *Store
	f    *os.File
	want string
	sum  hash.Hash
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.f.Read(p)
	r.sum.Write(p[:n])
	if err != io.EOF {
		return n, err
	}
	var buf [sha256.Size]byte
	got := r.sum.Sum(buf[:0])
	if want, _ := hex.DecodeString(r.want); !bytes.Equal(got, want) {
		return n, r.s.damaged(r.want, hex.EncodeToString(got))
	}
	return n, io.EOF
}

func (r *reader) Close() error { return r.f.Close() }
