package web

import (
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/memkernel/memkernel/serve"
)

// Quotas bound the calls, the bytes of bodies and the different sessions of a tenant in a minute. A
// quota of 0 bounds nothing.
type Quotas struct {
	Calls, Bytes, Sessions int64
}

// spend takes n from the request's tenant's quota of the given kind, and returns an error if too
// little is left.
func (x *exchange) spend(of string, quota, n int64) *serve.Error {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	return x.pay(of, quota, n)
}

// pay is spend for callers that hold d.mu. A quota refills steadily, all of it in a minute. An n
// above the quota needs the full quota, which is then overdrawn and refills in the following
// minutes.
func (x *exchange) pay(of string, quota, n int64) *serve.Error {
	if quota <= 0 || n <= 0 {
		return nil
	}
	key, now := [2]string{x.token.Tenant, of}, x.d.o.now()
	took := time.Duration(n) * time.Minute / time.Duration(quota) // how long n takes to refill
	used := max(0, x.d.refilled[key].Sub(now))
	if over := used + min(took, time.Minute) - time.Minute; over > 0 {
		x.wait = int(math.Ceil(over.Seconds()))
		return serve.NewError("BUSY", fmt.Sprintf("the quota of %d %s a minute is used up", quota, of),
			fmt.Sprintf("deliver it again in %d s; --quota-%s of 'memkernel serve' sets the quota", x.wait, of))
	}
	x.d.refilled[key] = now.Add(used + took)
	return nil
}

// visit counts a session against the quota of sessions, unless it counted the session in the last
// minute.
func (x *exchange) visit(session string) *serve.Error {
	d, key, now := x.d, [2]string{x.token.Tenant, session}, x.d.o.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.o.Quotas.Sessions <= 0 || now.Sub(d.named[key]) < time.Minute {
		return nil
	}
	if err := x.pay("sessions", d.o.Quotas.Sessions, 1); err != nil {
		return err
	}
	maps.DeleteFunc(d.named, func(_ [2]string, paid time.Time) bool { return now.Sub(paid) >= time.Minute })
	d.named[key] = now
	return nil
}

// asks returns a function that allows or refuses each call of a request, first by the token's rights
// and then by the quotas. The first call is not counted, because it was counted with the request.
func (x *exchange) asks() func(serve.Asked) *serve.Error {
	calls := int64(0)
	return func(a serve.Asked) *serve.Error {
		if why := x.d.refusal(x.token, a); why != "" {
			return serve.NewError("SCOPE", a.Method+": "+why, "ask whoever made the token for one that may")
		}
		if err := x.spend("calls", x.d.o.Quotas.Calls, calls); err != nil {
			return err
		}
		calls = 1
		for _, session := range a.Sessions {
			if err := x.visit(session); err != nil {
				return err
			}
		}
		return nil
	}
}
