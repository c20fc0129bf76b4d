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

// defaultKeepSessions is how many sessions a kernel has in memory.
const defaultKeepSessions = 64

// open returns the session of key with its lock held in this process, read from disk if this
// process has not seen it.
func (k *Kernel) open(ctx context.Context, key string, write bool) (*session.Session, func(), error) {
	s, unlock, err := k.sessions.UseKey(ctx, key, write)
	return fresh(ctx, k, key, write, s, unlock, err)
}

// openDeferred is open for a call that writes, as [session.Table.UseDeferred].
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

// Release drops this process's memory of a session, once no call uses it. Nothing is lost: the
// next call reads it from disk, and counts the conversation again.
func (k *Kernel) Release(sessionKey string) {
	if name, err := folder.Of(k.state, keyOr(sessionKey)); err == nil { // else nothing of it was opened
		k.sessions.Release(name)
	}
}

// ReleaseIdle releases the sessions that no call has used for so long, and returns their number.
// If the process then holds much unneeded memory, it returns that to the system. A process that
// serves many sessions for long should call it once a minute.
func (k *Kernel) ReleaseIdle(idle time.Duration) int {
	n := k.sessions.ReleaseIdle(idle)
	giveBack()
	return n
}

// mostUnneeded is by how much a process may hold more memory than it needed when it last gave some
// back, in bytes.
const mostUnneeded = 64 << 20

// needed is how many bytes of the heap were in use after memory was last given back.
var needed atomic.Uint64

// giveBack returns unneeded memory to the system. The runtime alone would hold the memory of a
// large request until the next ones came.
func giveBack() {
	of := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	if metrics.Read(of); of[0].Value.Uint64()+of[1].Value.Uint64() > needed.Load()+mostUnneeded {
		debug.FreeOSMemory()
		metrics.Read(of)
		needed.Store(of[0].Value.Uint64())
	}
}
