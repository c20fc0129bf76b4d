package sessions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
)

// The defaults of Options. The thresholds are OpenClaw's.
const (
	defaultDeltaBytes    = 100 << 10 // 100 KiB
	defaultDeltaMessages = 50
)

// settle is the time without growth after which a conversation is read even if it grew by less than
// the thresholds.
const settle = time.Hour

// DefaultAgent is the agent of conversations that name no agent.
const DefaultAgent = "main"

// Prefix is the first folder of every path.
const Prefix = "sessions/"

// Options are settings of a Store.
type Options struct {
	// Mask removes secrets from a text. If it is nil, texts are not masked.
	Mask func(string) string
	// Location is the time zone in which days begin. nil means the machine's time zone.
	Location *time.Location
	// DeltaBytes and DeltaMessages (lines) are the growth after which a conversation is read
	// again. The defaults are the constants above.
	DeltaBytes    int64
	DeltaMessages int
}

// Store keeps the documents of one state directory. It is safe for concurrent use;
// several processes may share a directory.
type Store struct {
	in   store.Store
	opts Options

	mu   sync.Mutex // guards the fields below
	logs map[string]*log
	tomb *tombs
}

// Open returns the documents in a store. The store need not exist; it is created when the first
// document is written.
func Open(in store.Store, o *Options) *Store {
	s := &Store{in: in, logs: map[string]*log{}}
	if o != nil {
		s.opts = *o
	}
	if s.opts.Mask == nil {
		s.opts.Mask = func(t string) string { return t }
	}
	if s.opts.Location == nil {
		s.opts.Location = time.Local
	}
	if s.opts.DeltaBytes <= 0 {
		s.opts.DeltaBytes = defaultDeltaBytes
	}
	if s.opts.DeltaMessages <= 0 {
		s.opts.DeltaMessages = defaultDeltaMessages
	}
	return s
}

// ErrBusy means that another process is writing documents.
var ErrBusy = errors.New("another process is reading the transcripts")

// lock takes the writers' lock. It waits until ctx ends.
func (s *Store) lock(ctx context.Context, wait bool) (release func(), err error) {
	const name = "lock"
	if wait {
		release, err = store.Wait(ctx, s.in, name, store.Alone)
	} else {
		release, err = s.in.Lock(name, store.Alone)
	}
	if held := (*store.LockedError)(nil); errors.As(err, &held) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", s.in.Where(""), err)
	}
	return release, nil
}

// maxName bounds the readable part of a folder's name, in bytes.
const maxName = 80

// safe returns the folder name for the name of a conversation. It replaces characters that a folder
// name can't have, and adds a hash to distinguish names that became equal. The names must be
// unique.
func safe(name string) string {
	b := []byte(name)
	changed := len(b) > maxName || strings.Trim(name, ".") == ""
	for i, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
			b[i], changed = '_', true
		}
	}
	if !changed {
		return name
	}
	return string(b[:min(len(b), maxName)]) + "-" + short(name)
}

func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// Under returns the common prefix of the paths of an agent's conversations; "" is [DefaultAgent].
func Under(agent string) string {
	return Prefix + textutil.SafeName(cmp.Or(agent, DefaultAgent)) + "/"
}

// Folder returns the common prefix of the paths of one of an agent's conversations.
func Folder(agent, name string) string { return Under(agent) + safe(name) + "/" }

// AgentOf returns the agent that a session key names, as in agent:NAME:REST. It returns "" if the
// key names no agent.
func AgentOf(key string) string {
	rest, ok := strings.CutPrefix(key, "agent:")
	if name, _, more := strings.Cut(rest, ":"); ok && more {
		return name
	}
	return ""
}
