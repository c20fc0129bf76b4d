package web

import (
	"fmt"
	"math"
	"time"

	"github.com/memkernel/memkernel/serve"
)

// Quotas bound the calls, the bytes of bodies and the different sessions of a tenant in a minute. A
// quota of 0 bounds nothing.
type Quotas struct {
	Calls, Bytes, Sessions int64
}

// spending is the rest of a tenant's quotas.
type spending struct {
	calls, bytes, sessions balance
	// named holds when each session was last counted against the quota of sessions. For a minute
	// after that, the session is not counted again.
	named map[string]time.Time
}

// balance is the rest of a quota. It is full at first, and again after a minute without calls.
type balance struct {
	used float64
	at   time.Time
}

// spend takes n from a balance, or returns how long the caller must wait until it can. An n above
// the quota needs the full balance, which is then overdrawn and refills in the following minutes.
func (b *balance) spend(quota, n int64, now time.Time) (wait time.Duration) {
	if quota <= 0 || n <= 0 {
		return 0
	}
	each := float64(quota) / float64(time.Minute)
	b.used, b.at = max(0, b.used-each*float64(now.Sub(b.at))), now
	if over := b.used + float64(min(n, quota)) - float64(quota); over > 0 {
		return time.Duration(math.Ceil(over / each))
	}
	b.used += float64(n)
	return 0
}

// spend takes the cost of a request from its tenant's quotas. session is the session that a call
// names, or "".
func (d *Door) spend(x *exchange, calls, bytes int64, session string) *serve.Error {
	q, now := &d.o.Quotas, d.o.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.spent[x.token.Tenant]
	if s == nil {
		s = &spending{named: map[string]time.Time{}}
		d.spent[x.token.Tenant] = s
	}
	if wait := s.calls.spend(q.Calls, calls, now); wait > 0 {
		return x.overQuota(q.Calls, "calls", wait)
	}
	if wait := s.bytes.spend(q.Bytes, bytes, now); wait > 0 {
		return x.overQuota(q.Bytes, "bytes", wait)
	}
	if session == "" || q.Sessions <= 0 || now.Sub(s.named[session]) < time.Minute {
		return nil
	}
	if wait := s.sessions.spend(q.Sessions, 1, now); wait > 0 {
		return x.overQuota(q.Sessions, "sessions", wait)
	}
	for key, paid := range s.named {
		if now.Sub(paid) >= time.Minute {
			delete(s.named, key)
		}
	}
	s.named[session] = now
	return nil
}

func (x *exchange) overQuota(quota int64, of string, wait time.Duration) *serve.Error {
	x.wait = int(math.Ceil(wait.Seconds()))
	return serve.ErrBusy(fmt.Sprintf("the quota of %d %s a minute is used up", quota, of),
		fmt.Sprintf("deliver it again in %d s; --quota-%s of 'memkernel serve' sets the quota", x.wait, of))
}

// asks decides about each call of a request, first by the token's rights and then by the quotas.
// The first call is not counted, because it was counted with the request.
func (d *Door) asks(x *exchange) func(serve.Asked) *serve.Error {
	may, calls := d.may(x.token), int64(0)
	return func(a serve.Asked) *serve.Error {
		if err := may(a); err != nil {
			return err
		}
		if err := d.spend(x, calls, 0, ""); err != nil {
			return err
		}
		calls = 1
		for _, session := range a.Sessions {
			if err := d.spend(x, 0, 0, session); err != nil {
				return err
			}
		}
		return nil
	}
}
