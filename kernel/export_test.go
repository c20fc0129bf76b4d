package kernel

import (
	"time"

	"github.com/memkernel/memkernel/index/watch"
	"github.com/memkernel/memkernel/internal/safename"
	"github.com/memkernel/memkernel/kernel/internal/ids"
)

// Watcher is what tests stand in for.
type Watcher = watcher

// Drive lets a test say when the syncer's clock strikes, and when files change.
func (o *SyncOptions) Drive(after func(time.Duration) <-chan time.Time, open func(watch.Options) (Watcher, error)) {
	o.after, o.watch = after, open
}

// SafeKey is the folder's name of a session.
func SafeKey(key string) string { return safename.Of(key) }

// SessionKeyOf is the key of a session by its folder.
func SessionKeyOf(folder string) (string, error) { return sessionKeyOf(folder) }

// ConversationPage is the page of a run of a message's parts.
func ConversationPage(branch, key string, part int) string {
	return ids.Conversation(branch, key, part)
}

// Held counts the sessions that a kernel holds in memory.
func (k *Kernel) Held() int { return len(k.inMemory()) }
