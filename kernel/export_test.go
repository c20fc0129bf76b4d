package kernel

import (
	"context"
	"strconv"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

// KeepIn lets a test say where state is kept.
func (o *Options) KeepIn(s store.Store) { o.Store = opened{s} }

type opened struct{ store.Store }

func (k opened) State() store.Store { return k.Store }

// SafeKey is the folder's name of a session.
func SafeKey(key string) string { return textutil.SafeName(key) }

// SessionKeyOf is the key of a session by its folder.
func SessionKeyOf(name string) (string, error) { return folder.KeyOf(name) }

// ConversationPage is the page of a run of a message's parts.
func ConversationPage(branch, key string, part int) string {
	if branch != "" {
		key = branch + "\x00" + key
	}
	return ingest.PageID("cv", key, strconv.Itoa(part))
}

// Held counts the sessions that a kernel holds in memory.
func (k *Kernel) Held() int { return k.sessions.Len() }

// ReadBuffer reads the working buffer, and counts the kernel's entries in it.
func ReadBuffer(k *Kernel) (text string, entries int, err error) {
	text, err = workstate.ReadBuffer(k.memory.Private)
	return text, len(workstate.Buffered(text)), err
}

// ClearBuffer takes the kernel's entries out of the first n bytes of the working buffer,
// which have a hash.
func ClearBuffer(ctx context.Context, k *Kernel, n int, hash string) error {
	return workstate.ClearBuffer(ctx, k.memory.Private, n, hash)
}

// HashOf is the hash of a text.
func HashOf(text string) string { return ingest.Hash(text) }
