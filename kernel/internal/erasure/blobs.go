package erasure

import (
	"context"
	"fmt"

	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// BlobsOf returns the blobs that a page holds.
func BlobsOf(p *pagevm.Page) []string {
	var out []string
	if p.Blob != "" {
		out = append(out, p.Blob)
	}
	for _, m := range p.Media {
		if m.Blob != "" {
			out = append(out, m.Blob)
		}
	}
	return out
}

// removeBlobs deletes those of some blobs that no page needs.
func removeBlobs(ctx context.Context, state store.Store, blobs *store.Blobs, hashes []string) error {
	if len(hashes) == 0 {
		return nil
	}
	unlock, err := folder.LockBlobs(ctx, state)
	if err != nil {
		return err
	}
	defer unlock()
	needed, err := Needed(ctx, state, nil)
	if err != nil {
		return err
	}
	for _, h := range hashes {
		if needed[h] {
			continue
		}
		if err := blobs.Delete(h); err != nil {
			return err
		}
	}
	return nil
}

// Unneeded calls f for every blob that is not needed.
func Unneeded(blobs *store.Blobs, needed map[string]bool, f func(store.BlobInfo) error) error {
	for info, err := range blobs.Walk() {
		if err != nil {
			return err
		}
		if needed[info.Hash] {
			continue
		}
		if err := f(info); err != nil {
			return err
		}
	}
	return nil
}

// RemoveOrphans removes the blobs that no page holds.
func RemoveOrphans(ctx context.Context, state store.Store, blobs *store.Blobs) error {
	unlock, err := folder.LockBlobs(ctx, state)
	if err != nil {
		return err
	}
	defer unlock()
	needed, err := Needed(ctx, state, nil)
	if err != nil {
		return err
	}
	return Unneeded(blobs, needed, func(info store.BlobInfo) error { return blobs.Delete(info.Hash) })
}

// Needed returns the blobs that pages of any journal hold. It reads the files and takes no
// session's lock. gone names the pages and sessions that don't count. A page is named by
// folder/id, a session by its folder.
func Needed(ctx context.Context, root store.Store, gone map[string]bool) (map[string]bool, error) {
	folders, err := folder.All(root)
	if err != nil {
		return nil, err
	}
	needed := map[string]bool{}
	for _, f := range longwork.Over(ctx, "journal", folders) {
		if gone[f] {
			continue
		}
		pages, err := holders(folder.In(root, f))
		if err != nil {
			return nil, fmt.Errorf("which blobs are needed can't be told: %w", err)
		}
		for id, blobs := range pages {
			if gone[f+"/"+id] {
				continue
			}
			for _, h := range blobs {
				needed[h] = true
			}
		}
	}
	return needed, nil
}

// holders returns the blobs that the pages of a journal hold, by page.
func holders(dir store.Store) (map[string][]string, error) {
	j, err := journal.OpenJournalIn(dir, folder.JournalFile, &journal.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	pages := map[string][]string{}
	for r, err := range j.Records() {
		if err != nil {
			return nil, err
		}
		switch r.Op {
		case ingest.Op:
			var b ingest.Body
			if err := decode(r, &b); err != nil {
				return nil, err
			}
			for _, p := range b.Pages {
				pages[p.ID] = append(pages[p.ID], BlobsOf(p)...)
			}
		case OpForget:
			var b Promise
			if err := decode(r, &b); err != nil {
				return nil, err
			}
			for _, t := range b.Pages {
				delete(pages, t.ID)
			}
		}
	}
	return pages, nil
}
