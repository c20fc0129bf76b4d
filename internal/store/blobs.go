package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"unsafe"
)

// hashLen is the length of a hash in hex digits.
const hashLen = 2 * sha256.Size

// errNoBlob is returned when no blob has the hash. It wraps fs.ErrNotExist.
var errNoBlob = fmt.Errorf("no such blob: %w", fs.ErrNotExist)

// errBadHash is returned for a string that is not a sha256 in lower-case hex.
var errBadHash = errors.New("not a blob hash")

// DamageError reports a blob whose content does not match its hash.
type DamageError struct {
	// Hash is the expected hash of the content. Got is its actual hash.
	Hash, Got string
	// File is the place of the damaged blob.
	File string
	// Hint says how to repair the damage.
	Hint string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("blob %s is damaged: content hashes to %s (%s)", e.File, e.Got, e.Hint)
}

// BlobInfo describes a stored blob.
type BlobInfo struct {
	Hash string
	// Bytes is the size of the content.
	Bytes int64
}

// Blobs is a store of contents named by their hashes, as ab/abcd…. It holds the masked bytes of
// large tool results and media, so that a pointer in a prompt always leads to its content. Sizes
// are bytes. Hashes are sha256 in lower-case hex.
//
// A blob never changes. For content that does not match its hash, methods return an error that
// names the place. Callers must mask content before they add it. Blobs is safe for concurrent
// use, also by several processes: a blob appears only as a whole, and two writers of a blob write
// the same bytes.
type Blobs struct{ in Store }

// BlobsIn returns the blobs in a store. It does not access the store yet.
func BlobsIn(s Store) *Blobs { return &Blobs{s} }

// blobName returns the name of a blob within the store.
func blobName(hash string) string { return hash[:2] + "/" + hash }

// IsHash reports whether h is a well-formed hash.
func IsHash(h string) bool {
	return len(h) == hashLen && strings.Trim(h, "0123456789abcdef") == ""
}

// Sum returns the hash of content.
func Sum(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:])
}

// Has reports whether a blob exists. It does not read the blob.
func (b *Blobs) Has(hash string) bool {
	_, err := b.Stat(hash)
	return err == nil
}

// Stat describes a blob without reading it.
func (b *Blobs) Stat(hash string) (Info, error) { return blob(b, "stat", hash, b.in.Stat) }

// Get returns the content of a blob, checked against its hash.
func (b *Blobs) Get(hash string) ([]byte, error) {
	data, err := blob(b, "get", hash, b.in.Get)
	if err != nil {
		return nil, err
	}
	if got := Sum(data); got != hash {
		return nil, &DamageError{Hash: hash, Got: got, File: b.in.Where(blobName(hash)),
			Hint: "restore the file from a backup, or delete it: the blob is written again when its content is next ingested"}
	}
	return data, nil
}

// Delete removes the blob, durably. A missing blob is no error.
func (b *Blobs) Delete(hash string) error {
	_, err := blob(b, "delete", hash, func(name string) (Stats, error) { return b.in.Remove(Synced, name) })
	return err
}

// blob calls do with the name of a blob.
func blob[T any](b *Blobs, verb, hash string, do func(name string) (T, error)) (out T, err error) {
	if !IsHash(hash) {
		return out, fmt.Errorf("%s blob %q: %w", verb, hash, errBadHash)
	}
	if out, err = do(blobName(hash)); errors.Is(err, fs.ErrNotExist) {
		return out, fmt.Errorf("%s blob %s in %s: %w", verb, hash, b.in.Where(""), errNoBlob)
	} else if err != nil {
		return out, fmt.Errorf("%s blob: %w", verb, err)
	}
	return out, nil
}

// PutAside renames a damaged blob and returns its new name, "" if the blob is missing.
func (b *Blobs) PutAside(hash string) (string, error) {
	aside, err := PutAside(b.in, blobName(hash))
	if aside == "" || err != nil {
		return "", err
	}
	return b.in.Where(aside), nil
}

// Walk yields every blob in order of its hash and skips other files. An error ends the walk.
func (b *Blobs) Walk() iter.Seq2[BlobInfo, error] {
	return func(yield func(BlobInfo, error) bool) {
		stop := errors.New("stop")
		err := Walk(b.in, func(name string, e Entry) error {
			if !IsHash(e.Name) || name != blobName(e.Name) {
				return nil
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // it was removed meanwhile
			}
			if err == nil && !yield(BlobInfo{Hash: e.Name, Bytes: info.Size}, nil) {
				return stop
			}
			return err
		})
		if err != nil && err != stop && !errors.Is(err, fs.ErrNotExist) {
			yield(BlobInfo{}, fmt.Errorf("walk blobs: %w", err))
		}
	}
}

// Batch collects blobs that become durable together. It is for one goroutine.
type Batch struct {
	b    *Blobs
	docs []Doc
	seen map[string]struct{}
}

// NewBatch starts an empty batch.
func (b *Blobs) NewBatch() *Batch {
	return &Batch{b: b, seen: make(map[string]struct{})}
}

// Add puts content in the batch and returns its hash. Add does not copy content: callers must not
// change it before Commit.
func (b *Batch) Add(content []byte) string {
	h := Sum(content)
	if _, dup := b.seen[h]; !dup {
		b.seen[h] = struct{}{}
		b.docs = append(b.docs, Doc{blobName(h), content})
	}
	return h
}

// AddString is Add for a string. It does not copy the string.
func (b *Batch) AddString(content string) string {
	return b.Add(unsafe.Slice(unsafe.StringData(content), len(content)))
}

// Len returns the number of distinct blobs in the batch.
func (b *Batch) Len() int { return len(b.seen) }

// CommitTo is [Batch.Commit] into the blobs of another view of the store, such as a unit's.
func (b *Batch) CommitTo(ctx context.Context, blobs Store) (Stats, error) {
	b.b = BlobsIn(blobs)
	return b.Commit(ctx)
}

// Commit writes the blobs that are not stored yet and makes the whole batch durable. Callers must
// not hand out a pointer to a blob of the batch before Commit returns nil. After an error some
// blobs may be stored, but no blob is half written. Commit empties the batch. Commit of an empty
// batch does nothing. Stats.Files counts the new blobs.
func (b *Batch) Commit(ctx context.Context) (Stats, error) {
	docs := b.docs
	b.docs = nil
	b.seen = make(map[string]struct{})
	if len(docs) == 0 {
		return Stats{}, nil
	}
	err := ctx.Err()
	var st Stats
	if err == nil {
		st, err = b.b.in.Put(Once, docs...)
	}
	if err != nil {
		err = fmt.Errorf("commit blobs: %w", err)
	}
	return st, err
}
