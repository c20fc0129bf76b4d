package picoclaw

import (
	"log/slog"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel"
)

// defaultFixedTokens is the assumed size of a host's system prompt and tools if the host doesn't
// give their size. A value that is too large causes an early cut. A value that is too small
// causes a compaction that the host requests.
const defaultFixedTokens = 8_000

// defaultMaxSessions bounds the sessions that a gateway with many chats keeps in memory.
const defaultMaxSessions = 256

// Options configure a Manager.
type Options[M any] struct {
	// History returns the messages of a session that the host has recorded, oldest first. The
	// manager calls History when a session is first used. History must be nil if the host records
	// nothing.
	History func(sessionKey string) []M
	// Model is the model's id. It decides how tokens are counted and which cache rules apply.
	Model string
	// FixedTokens is defaultFixedTokens by default.
	FixedTokens int
	// Resolver is the tool by which the model follows a pointer to a page. It is memory_get if
	// package tools is registered. If it is "", every result stays at level structured or above.
	Resolver string
	// Private reports whether a session belongs to one person, and not to a group. If Private is
	// nil, no session does.
	Private func(sessionKey string) bool
	// Source returns where a session comes from, for its checkpoints. If Source is nil, the
	// checkpoints name no source.
	Source func(sessionKey string) checkpoint.Source
	// MaxSessions is the number of conversations that are held in memory. Default:
	// defaultMaxSessions. The manager drops the session that was used least recently, and reads
	// it again when it continues.
	MaxSessions int
	// Logger logs errors that are not returned to the host, because the host would lose its
	// history. A nil Logger discards them.
	Logger *slog.Logger
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

func (o Options[M]) withDefaults() Options[M] {
	if o.FixedTokens == 0 {
		o.FixedTokens = defaultFixedTokens
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = defaultMaxSessions
	}
	if o.History == nil {
		o.History = func(string) []M { return nil }
	}
	if o.Source == nil {
		o.Source = func(string) checkpoint.Source { return checkpoint.Source{} }
	}
	if o.Private == nil {
		o.Private = func(string) bool { return false }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// KernelOptions returns settings for the kernel of a Manager. With these settings the kernel does
// not show workspace files that the host's own prompt shows. The kernel adds nothing after a
// message that the model has already answered, and begins a session without text of an earlier
// session. The caller may change the settings.
func KernelOptions() *kernel.Options {
	return &kernel.Options{
		Memory: kernel.MemoryOptions{WorkspaceTokens: -1, NoDailyLogs: true, NoRemembered: true, RecallTokens: -1},
		Life:   kernel.LifeOptions{Show: neverShown, NoRestore: true},
	}
}

// neverShown is a share of the window that no prompt reaches, less its reserve.
const neverShown = 1
