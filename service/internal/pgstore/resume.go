package pgstore

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// rest is a released lock with the contents that its folder had then. Its token stays in the
// lock's row, with a lease that has ended. The next taker removes the token, so a token that is
// still in the row means that nobody took the lock meanwhile.
type rest struct {
	contents map[string]int64
	// own is how many times in a row this process found that it had the lock last. need is the
	// value of own from which this process resumes the lock without asking. Each wrong guess
	// doubles need.
	own, need int
	token     string // "" where the lock can't be resumed
	lease     *lease
}

// mostRests bounds the released locks that are remembered.
const mostRests = 1024

// firstNeed and lastNeed bound how many calls in a row a resumption needs. A right guess spares a
// call two statements and a round trip. A wrong guess makes the call read a session again, which
// takes as long as dozens of round trips (services=2/returns of BenchmarkScaling). A session that
// has stayed for 32 calls mostly stays for 32 more.
const firstNeed, lastNeed = 32, 1024

// restOf returns the remembered state of a lock, and creates it if the lock has none. Callers
// must hold mu.
func (l *leases) restOf(at string) *rest {
	r := l.rests[at]
	if r == nil {
		for other := range l.rests { // any one
			if len(l.rests) < mostRests {
				break
			}
			delete(l.rests, other)
		}
		r = &rest{need: l.need}
		l.rests[at] = r
	}
	return r
}

// taken counts a lock that was taken with a query. last reports that this process had the lock
// last.
func (r *rest) taken(last bool) {
	r.token, r.own = "", r.own+1
	if !last {
		r.own = 0
	}
}

// found counts a resumption. right reports whether nobody else had taken the lock meanwhile.
func (r *rest) found(right bool) {
	if r.own++; !right {
		r.own, r.need = 0, min(2*r.need, lastNeed)
	}
}

// remember keeps the contents of a folder for the next lock of it. With a token, the lock may be
// resumed. Callers must hold mu.
func (l *leases) remember(h *lease, token string) {
	if h.view == nil {
		return
	}
	r := l.restOf(h.path)
	r.token, r.lease, r.contents = token, h, map[string]int64{}
	for at, f := range h.view.files {
		r.contents[at] = f.content
	}
}

// contents returns the remembered contents of the folder that lock at fences.
func (l *leases) contents(at string) map[string]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.rests[at]; r != nil {
		return r.contents
	}
	return nil
}

// disturb records a write to a document that was made without a lock. If a whole folder was
// removed or added, disturbBelow must be called as well. Callers must hold mu.
func (l *leases) disturb(at string) {
	for dir := at; dir != "."; dir = path.Dir(dir) {
		if r := l.rests[dir+"/"+folderLock]; r != nil {
			r.token = ""
		}
	}
}

func (l *leases) disturbBelow(at string) {
	for lock, r := range l.rests {
		if strings.HasPrefix(lock, at+"/") {
			r.token = ""
		}
	}
}

// Resume implements [store.Resume]. It does not bring the rows of the workspace that others
// wrote.
func (s *Store) Resume(name string) (release func()) {
	at, err := s.at(name)
	if err != nil {
		return nil
	}
	l := &s.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.rested(at) {
		return nil
	}
	beside, recent := l.besides.recent(s.takeovers.Load())
	if !recent {
		l.mu.Unlock()
		err := lookBeside(s.core)
		l.mu.Lock()
		if beside, recent = l.besides.recent(s.takeovers.Load()); err != nil || !recent {
			return nil
		}
	}
	if !l.rested(at) {
		return nil
	}
	r := l.rests[at]
	token, h := r.token, r.lease
	r.token = ""
	for _, o := range l.held {
		if o.view != nil && (o.covers(at) || strings.HasPrefix(o.folder, h.folder)) {
			return nil
		}
	}
	h.users, h.resumed, h.beside, h.failed, h.view.deferred = 1, true, beside, nil, false
	l.hold(token, h)
	return sync.OnceFunc(func() { l.release(token, h) })
}

// rested reports whether a lock may be resumed. Callers must hold mu.
func (l *leases) rested(at string) bool {
	r := l.rests[at]
	return r != nil && r.token != "" && r.own >= r.need && !l.moved(r.lease)
}

func (l *leases) isResumed(at string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.held {
		if h.path == at && h.resumed {
			return true
		}
	}
	return false
}

// assure asks the server whether this process still has the resumed locks that fence some paths.
// From then on nobody else gets these locks.
func (l *leases) assure(paths []string) error {
	l.mu.Lock()
	todo := map[string]*lease{}
	for token, h := range l.held {
		if h.resumed && h.failed == nil && slices.ContainsFunc(paths, h.covers) {
			todo[token] = h
		}
	}
	l.mu.Unlock()
	for _, token := range slices.Sorted(maps.Keys(todo)) {
		if err := l.c.flush(todo[token], token, false); err != nil {
			return err
		}
	}
	return nil
}
