package pgstore

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// besides are documents outside the locked folder that calls read, such as documents of the root.
// Taking a folder's lock also looks these documents up, and their state is trusted while the lock
// is held. leases.mu guards besides.
type besides struct {
	looked map[string]bool
	// known holds the documents as the last lookup found them. A document without a content was
	// missing. asked is when the lookup was sent. takeover is the count of servers at that time.
	known    map[string]*file
	asked    time.Time
	takeover int64
}

// mostBeside is how many documents are looked up with a folder's lock.
const mostBeside = 16

// besideFor is the greatest age of the known state of these documents with which a lock may be
// resumed. If the state is older, the documents are looked up first: other users in this process
// see the state too, and do not check it at the end as the resumer does.
const besideFor = 200 * time.Millisecond

func (b *besides) names() []string { return slices.AppendSeq([]string{}, maps.Keys(b.looked)) }

// learn keeps the result of a lookup that was sent at time asked, unless a newer result is known.
func (b *besides) learn(known map[string]*file, asked time.Time, takeover int64) {
	if takeover > b.takeover || takeover == b.takeover && asked.After(b.asked) {
		b.known, b.asked, b.takeover = known, asked, takeover
	}
}

// look returns the known state of one document. If the state is unknown, the next lock looks the
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

// recent returns the known state of all documents. ok reports whether the state of every document
// is known and recent.
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

// beside returns the last looked-up state of a document outside the folder. The newest lock was
// taken with that lookup, or was resumed at most besideFor after it. If no lock is held, beside
// returns nothing. Callers must hold mu.
func (l *leases) beside(at string) (f file, ok bool) {
	for _, h := range l.held {
		if h.view != nil && !l.moved(h) {
			return l.besides.look(at, l.c.takeovers.Load())
		}
	}
	return f, false
}

// lookBeside looks up the documents that calls have read.
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
