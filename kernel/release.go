package kernel

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

// open returns the session of key for reading, and holds it in this process. It reads all writes
// since this process last read the session, and looks for later writes to memory.
func (k *Kernel) open(ctx context.Context, key string) (*session.Session, func(), error) {
	s, unlock, err := k.sessions.Read(ctx, key)
	if err == nil {
		if err = k.freshMemory(ctx, key); err != nil {
			unlock()
		}
	}
	return s, unlock, err
}

// reading calls f with the session of key, opened for reading.
func (k *Kernel) reading(ctx context.Context, key string, f func(*session.Session) error) error {
	s, unlock, err := k.sessions.Read(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	return f(s)
}

// freshMemory looks for writes of other processes to memory's files.
func (k *Kernel) freshMemory(ctx context.Context, key string) error {
	if k.memory == nil {
		return nil
	}
	if err := k.memory.Fresh(ctx); err != nil {
		return fmt.Errorf("look at the files of session %s: %w", key, err)
	}
	return nil
}

// Release drops a session from this process's memory as soon as no call uses the session. Nothing
// is lost: the next call reads the session from disk, and counts the conversation again.
func (k *Kernel) Release(sessionKey string) {
	k.sessions.Release(folder.Of(session.KeyOr(sessionKey)))
}

// ReleaseIdle releases the sessions that no call has used for the time idle, and returns the
// number of released sessions. If the process then holds much unneeded memory, ReleaseIdle
// returns this memory to the system. A process that serves many sessions for long should call it
// once a minute.
func (k *Kernel) ReleaseIdle(idle time.Duration) int {
	n := k.sessions.ReleaseIdle(idle)
	giveBack()
	return n
}

// mostUnneeded is the number of bytes that a process may hold in addition to the memory that it
// needed when it last returned memory to the system.
const mostUnneeded = 64 << 20

// needed is the number of heap bytes that were in use after memory was last returned to the
// system.
var needed atomic.Uint64

// giveBack returns unneeded memory to the system. The runtime alone would hold the memory of a
// large request until the next requests came.
func giveBack() {
	of := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	if metrics.Read(of); of[0].Value.Uint64()+of[1].Value.Uint64() > needed.Load()+mostUnneeded {
		debug.FreeOSMemory()
		metrics.Read(of)
		needed.Store(of[0].Value.Uint64())
	}
}

// nearSessions is how many sessions an error names.
const nearSessions = 5

// noSession returns the error for the key of a session that does not exist.
func noSession(state store.Store, key string) error {
	near, err := folder.Near(state, key)
	if err != nil {
		return err
	}
	return &api.NoSessionError{Key: key, Near: slices.Clip(near[:min(len(near), nearSessions)]), Count: len(near)}
}

// known returns an error for a session without stored state. If the disk can't be written to, the
// state may be in memory.
func known(state store.Store, sessions *session.Table, key string) error {
	key = session.KeyOr(key)
	name := folder.Of(key)
	if there, err := store.Find(folder.In(state, name), ""); there || err != nil {
		return err
	}
	if sessions.Keeps(name) {
		return nil
	}
	return noSession(state, key)
}
