package picoclaw

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel"
)

// DefaultFixedTokens is assumed for a host's system prompt and tools where it doesn't
// say how large they are. Too much costs an early cut, too little a compaction that
// the host asks for.
const DefaultFixedTokens = 8_000

// DefaultMaxSessions bounds the sessions that a gateway with many chats keeps in memory.
const DefaultMaxSessions = 256

// Options configure a Manager.
type Options[M any] struct {
	// History returns the messages of a session that the host has recorded, oldest first. It is
	// called when a session is first used. It must be nil if the host records nothing.
	History func(sessionKey string) []M
	// Model is the model's id, by which tokens are counted and the cache's rules known.
	Model string
	// FixedTokens is DefaultFixedTokens by default.
	FixedTokens int
	// Resolver is the tool by which the model follows a pointer to a page, memory_get
	// if package tools is registered; "" keeps every result at structured or above.
	Resolver string
	// Private reports whether a session is one person's own; nil is none. A group's is
	// not.
	Private func(sessionKey string) bool
	// Source returns where a session comes from, for its checkpoints; nil leaves it open.
	Source func(sessionKey string) checkpoint.Source
	// MaxSessions is how many conversations are held in memory; DefaultMaxSessions by default.
	// The session that was used least recently is dropped, and read again when it continues.
	MaxSessions int
	// Encode and Decode are a message as JSON of chat completions and back; nil is
	// encoding/json, which is right for PicoClaw's.
	Encode func(M) ([]byte, error)
	Decode func([]byte) (M, error)
	// Logger logs errors that are not returned to the host, because it would lose its history by
	// them; nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

func (o Options[M]) withDefaults() Options[M] {
	if o.FixedTokens == 0 {
		o.FixedTokens = DefaultFixedTokens
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = DefaultMaxSessions
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
	if o.Encode == nil {
		o.Encode = func(m M) ([]byte, error) { return json.Marshal(m) }
	}
	if o.Decode == nil {
		o.Decode = func(b []byte) (m M, err error) { return m, json.Unmarshal(b, &m) }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// KernelOptions returns settings for the kernel of a Manager. With them the kernel does not show
// files of the workspace again that the host's own prompt shows. It adds nothing after a message
// that the model has already answered, and begins a session without text of an earlier one. The
// caller may change them.
func KernelOptions() *kernel.Options {
	return &kernel.Options{
		Memory: kernel.MemoryOptions{WorkspaceTokens: -1, NoDailyLogs: true, NoRemembered: true, RecallTokens: -1},
		Life:   kernel.LifeOptions{Show: neverShown, NoRestore: true},
	}
}

// neverShown is a share of the window that no prompt reaches, less its reserve.
const neverShown = 1
