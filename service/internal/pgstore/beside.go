package pgstore

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// besides are documents outside the locked folder that calls read, such as some of the root. Each
// lock of a folder looks them up, and their state is trusted while a lock is held. leases.mu
// guards them.
type besides struct {
	looked map[string]bool
	// known holds the documents as the lookup sent at time asked found them, on the server that
	// takeover counts. A document without a content was missing.
	known    map[string]*file
	asked    time.Time
	takeover int64
}

// mostBeside is how many documents are looked up with a folder's lock.
const mostBeside = 16

// besideFor is the most that the known state of these documents may have aged when a lock is
// resumed. If it is older, they are looked up first: other users in this process, who do not
// check at the end as the resumer does, see the result too.
const besideFor = 200 * time.Millisecond

func (b *besides) names() []string { return slices.AppendSeq([]string{}, maps.Keys(b.looked)) }

// learn keeps the result of a lookup that was sent at time asked, unless a newer one is known.
func (b *besides) learn(known map[string]*file, asked time.Time, takeover int64) {
	if takeover > b.takeover || takeover == b.takeover && asked.After(b.asked) {
		b.known, b.asked, b.takeover = known, asked, takeover
	}
}

// look returns the known state of one document. If there is none, the next lock looks the
// document up.
func (b *besides) look(at string, takeover int64) (f file, ok bool) {
	if at == "" || strings.Count(at, "/") > 1 {
		return f, false
	}
	if g := b.known[at]; g != nil && b.takeover == takeover {
		return *g, true
	}
	if len(b.looked) < mostBeside {
		b.looked[at] = true
	}
	return f, false
}

// recent returns the known state of all documents. ok reports whether all are known and recent.
func (b *besides) recent(takeover int64) (known map[string]*file, ok bool) {
	if len(b.looked) == 0 {
		return nil, true
	}
	for at := range b.looked {
		if b.known[at] == nil {
			return nil, false
		}
	}
	return maps.Clone(b.known), b.takeover == takeover && time.Since(b.asked) < besideFor
}

// tell records a document that this process wrote, also for calls that resumed a lock. Callers
// must hold mu.
func (l *leases) tell(at string, f file) {
	if l.besides.known[at] == nil {
		return
	}
	l.besides.known[at] = &f
	for _, h := range l.held {
		if h.beside[at] != nil {
			h.beside[at] = &f
		}
	}
}

// beside returns the last looked-up state of a document outside the folder. The lookup came with
// the newest lock, or at most besideFor before one that was resumed. Without a held lock it
// returns nothing. Callers must hold mu.
func (l *leases) beside(at string) (f file, ok bool) {
	for _, h := range l.held {
		if h.view != nil && !l.moved(h) {
			return l.besides.look(at, l.c.takeovers.Load())
		}
	}
	return f, false
}

// lookBeside asks for the documents that calls look at.
func lookBeside(c *core) error {
	l := &c.leases
	l.mu.Lock()
	names := l.besides.names()
	l.mu.Unlock()
	asked, takeover, known := time.Now(), c.takeovers.Load(), map[string]*file{}
	err := c.query("look at", "", `SELECT path, content, size, version, time FROM files WHERE root=$1::bigint AND path=ANY($2::text[])`, []any{c.root, names}, func(rows pgx.Rows) error {
		for _, at := range names {
			known[at] = &file{}
		}
		for rows.Next() {
			var at string
			var f file
			if err := rows.Scan(&at, &f.content, &f.size, &f.version, &f.time); err != nil {
				return err
			}
			known[at] = &f
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.besides.learn(known, asked, takeover)
	return nil
}
