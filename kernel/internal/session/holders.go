package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// BlobsOf returns the blobs that a page holds.
func BlobsOf(p *pagevm.Page) []string {
	out := []string{p.Blob}
	for _, m := range p.Media {
		out = append(out, m.Blob)
	}
	return slices.DeleteFunc(out, func(h string) bool { return h == "" })
}

// RemoveUnheld removes the blobs among hashes that no page holds. If hashes is nil, it removes all
// such blobs.
func RemoveUnheld(ctx context.Context, state store.Store, blobs *store.Blobs, hashes []string) error {
	unlock, err := folder.Lock(ctx, state, store.BlobsLock) // keeps all writers of blobs away
	if err != nil {
		return err
	}
	defer unlock()
	held, err := Holders(ctx, state)
	if err != nil {
		return err
	}
	if hashes == nil {
		for info, err := range blobs.Walk() {
			if err != nil {
				return err
			}
			hashes = append(hashes, info.Hash)
		}
	}
	for _, h := range hashes {
		if len(held[h]) > 0 {
			continue
		}
		if err := blobs.Delete(h); err != nil {
			return err
		}
	}
	return nil
}

// A Holder is a page that holds a blob.
type Holder struct{ Folder, Page string }

// Holders returns the pages of all journals that hold a blob, by blob. It reads the files and
// takes no session's lock.
func Holders(ctx context.Context, state store.Store) (map[string][]Holder, error) {
	folders, err := folder.All(state)
	if err != nil {
		return nil, err
	}
	out := map[string][]Holder{}
	for _, f := range longwork.Over(ctx, "journal", folders) {
		pages, err := holders(folder.In(state, f))
		if err != nil {
			return nil, fmt.Errorf("which blobs are needed can't be told: %w", err)
		}
		for id, blobs := range pages {
			for _, h := range blobs {
				out[h] = append(out[h], Holder{f, id})
			}
		}
	}
	return out, nil
}

// holders returns the blobs that the pages of a journal hold, by page.
func holders(dir store.Store) (map[string][]string, error) {
	j, err := journal.OpenJournalIn(dir, folder.JournalFile, &journal.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	pages := map[string][]string{}
	for r, err := range j.Records() {
		if err != nil {
			return nil, err
		}
		switch r.Op {
		case ingest.Op:
			var b ingest.Body
			if err := unmarshal(r, &b); err != nil {
				return nil, err
			}
			for _, p := range b.Pages {
				pages[p.ID] = append(pages[p.ID], BlobsOf(p)...)
			}
		case opForget:
			var b Promise
			if err := unmarshal(r, &b); err != nil {
				return nil, err
			}
			for _, t := range b.Pages {
				delete(pages, t.ID)
			}
		}
	}
	return pages, nil
}
