package kernel

import (
	"github.com/memkernel/memkernel/internal/safename"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ids"
)

// KeepIn lets a test say where state is kept.
func (o *Options) KeepIn(s store.Store) { o.state = s }

// SafeKey is the folder's name of a session.
func SafeKey(key string) string { return safename.Of(key) }

// SessionKeyOf is the key of a session by its folder.
func SessionKeyOf(name string) (string, error) { return folder.KeyOf(name) }

// ConversationPage is the page of a run of a message's parts.
func ConversationPage(branch, key string, part int) string {
	return ids.Conversation(branch, key, part)
}

// Held counts the sessions that a kernel holds in memory.
func (k *Kernel) Held() int { return k.sessions.Len() }
