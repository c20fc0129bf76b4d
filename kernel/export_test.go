package kernel

import (
	"github.com/memkernel/memkernel/internal/safename"
)

// SafeKey is the folder's name of a session.
func SafeKey(key string) string { return safename.Of(key) }

// SessionKeyOf is the key of a session by its folder.
func SessionKeyOf(folder string) (string, error) { return sessionKeyOf(folder) }

// ConversationPage is the page of a run of a message's parts.
func ConversationPage(branch, key string, part int) string {
	return conversationPage(branch, key, part)
}

// Held counts the sessions that a kernel holds in memory.
func (k *Kernel) Held() int { return len(k.inMemory()) }
