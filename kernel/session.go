package kernel

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

// defaultKeepSessions is the default number of sessions that a kernel holds in memory.
const defaultKeepSessions = 64

// open returns the session of key and holds the session's lock in this process. It reads the
// session from disk if this process has not seen it.
func (k *Kernel) open(ctx context.Context, key string, write bool) (*session.Session, func(), error) {
	s, unlock, err := k.sessions.UseKey(ctx, key, write)
	return fresh(ctx, k, key, write, s, unlock, err)
}

// openDeferred opens a session for a call that writes; see [session.Table.UseDeferred].
func openDeferred(ctx context.Context, k *Kernel, key string, resume bool, lost func(error)) (*session.Session, func(), error) {
	s, unlock, err := k.sessions.UseDeferred(ctx, key, resume, lost)
	return fresh(ctx, k, key, true, s, unlock, err)
}

// fresh looks for later writes to memory, unless the session's lock reported them.
func fresh(ctx context.Context, k *Kernel, key string, write bool, s *session.Session, unlock func(), err error) (*session.Session, func(), error) {
	if err != nil || k.memory == nil || write && k.lockTells && !s.Resumed {
		return s, unlock, err
	}
	if err := memory.Fresh(ctx, k.memory); err != nil {
		unlock()
		return nil, nil, fmt.Errorf("look at the files of session %s: %w", key, err)
	}
	return s, unlock, nil
}

// Release drops a session from this process's memory as soon as no call uses the session. Nothing
// is lost: the next call reads the session from disk, and counts the conversation again.
func (k *Kernel) Release(sessionKey string) {
	if name, err := folder.Of(k.state, keyOr(sessionKey)); err == nil { // otherwise the session was never opened
		k.sessions.Release(name)
	}
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
