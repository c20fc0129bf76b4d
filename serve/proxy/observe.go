package proxy

import (
	"net/http"
	"slices"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/transcript"
)

// ended begins the observation of an answer, of which it gets the copy. It takes the slot of the
// conversation's line first, so that the next request of the conversation is planned after the
// observation.
func (x *Proxy) ended(e *exchange, h http.Header, copy []byte, err error) {
	if err == errBroken { // a client need not read the body to its end
		if a, bad := readCopy(e.format, h, copy); bad == nil && a.whole {
			err = nil
		}
	}
	if err != nil {
		if e.broken(err); e.line != nil {
			x.log.Info("not observed", "reason", err.Error())
		}
		return
	}
	if e.watched != nil {
		e.watched.left.Add(1)
	}
	held := e.line == nil // a request that passed has no line
	if !held {
		select {
		case e.line.slot <- struct{}{}:
			held = true
		default:
		}
	}
	x.work.Go(func() {
		defer x.release(e)
		if !held {
			e.line.slot <- struct{}{}
		}
		if e.line != nil {
			defer func() { <-e.line.slot }()
		}
		switch a, err := readCopy(e.format, h, copy); {
		case err != nil && e.line != nil:
			x.log.Info("not observed", "reason", err.Error())
		case err != nil:
		case e.line != nil:
			x.observe(e, a)
		default:
			e.heard(a)
			x.bill(e, a, nil)
		}
	})
}

// observe hands an answer to the kernel. After the last call of a turn it hands over the turn.
// After an earlier call it hands over the conversation so far and the bill. For an answer that
// broke off it hands over only the bill.
func (x *Proxy) observe(e *exchange, a answer) {
	e.heard(a)
	if !a.whole {
		x.log.Info("not observed", "reason", "the answer did not come to its end")
		if a.usage == nil {
			return
		}
	}
	if a.unread != nil {
		x.log.Warn("the bill was not read", "reason", a.unread.Error())
	}
	o, err := x.take(e, a)
	x.bill(e, a, rowOf(o, a.usage))
	if err != nil {
		x.log.Error("not observed", "detail", err.Error())
		return
	}
	if a.whole {
		x.logObserved(e, o, a)
	}
}

// take has the kernel observe an answer.
func (x *Proxy) take(e *exchange, a answer) (*api.Observation, error) {
	t := api.Turn{SessionKey: e.line.session, Branch: e.line.branch, Model: e.body.Model, Messages: e.body.Messages,
		Usage: a.usage, Reported: a.reported, Now: x.opt.Now(), Private: x.opt.Private, Source: e.from}
	switch {
	case e.out.plan != nil:
		t.PlanID = e.out.plan.ID
	case e.out.extends:
		t.Sent = api.SentExtended
	default:
		t.Sent = api.SentWhole
	}
	if !a.whole || a.open || a.message == nil {
		return x.planner.ObserveToolResult(e.context(), t)
	}
	m := *a.message
	m.Model = e.body.Model
	t.Messages = append(slices.Clip(t.Messages), m)
	t.AdvancementKey = turnKey(e)
	return x.planner.ObserveTurn(e.context(), t)
}

// rowOf returns the recorded call with the usage u, nil if there is none.
func rowOf(o *api.Observation, u *memkernel.Usage) *billing.Call {
	if o == nil || u == nil {
		return nil
	}
	for i := range o.Bills {
		if o.Bills[i].Usage == *u {
			return &o.Bills[i]
		}
	}
	return nil
}

// turnKey returns the same key for every answer to a user's message at the same place. So a turn
// is committed once, however often its last call is made.
func turnKey(e *exchange) string {
	msgs := e.body.Messages
	at := len(msgs)
	for at > 0 && !transcript.PlainUser(msgs[at-1]) {
		at--
	}
	return "proxy-" + store.Sum([]byte(e.line.session + "\x00" + e.line.branch + "\x00" + hashMessages(msgs[:at])))[:32]
}

func (x *Proxy) logObserved(e *exchange, o *api.Observation, a answer) {
	attrs := []any{"outcome", string(o.Outcome), "turns", o.Turns}
	if u := a.usage; u != nil {
		attrs = append(attrs, "input_tokens", u.InputTotal(), "cache_read_tokens", u.CacheReadTokens, "output_tokens", u.OutputTokens)
	}
	if n := a.reported.Of(""); n > 0 {
		attrs = append(attrs, "reasoning_removed", n)
	}
	attrs = append(attrs, "conversation", e.line.name)
	for _, f := range o.Faults {
		x.log.Warn("fault", "code", f.Code)
	}
	say := x.log.Info
	if o.Outcome == api.Conflict {
		say = x.log.Warn
	}
	say("observed", attrs...)
}

// Billed is a call that was answered and billed.
type Billed struct {
	// Conversation is the conversation's name in the log, "" for a request that passed.
	Conversation string
	// Model is the model of the request, "" if the request was not read.
	Model string
	// Plan is the plan that was sent in the place of the request, nil if no plan was made.
	Plan *api.ContextPlan
	// Row is the call in the record of its session, nil if no session's record has the call.
	Row *billing.Call
	// Usage is the bill.
	Usage memkernel.Usage
	// Began is the time at which the request came.
	Began time.Time
}

// bill reports a call, if its answer has a bill. Row is nil for a call that is in no session's
// record.
func (x *Proxy) bill(e *exchange, a answer, row *billing.Call) {
	if x.opt.Billed == nil || a.usage == nil {
		return
	}
	b := Billed{Plan: e.out.plan, Row: row, Usage: *a.usage, Began: e.began}
	if e.line != nil {
		b.Conversation = e.line.name
	}
	if body := e.read(e.model); body != nil {
		b.Model = body.Model
	}
	x.opt.Billed(b)
}

// read returns the body of a request, which may have passed. It returns nil for an unreadable body.
func (e *exchange) read(model string) *transcript.Body {
	if e.body != nil {
		return e.body
	}
	b, _ := new(transcript.BodyReader).Read(e.format, model, e.data)
	return b
}

// heard notes an answer for Options.Watch.
func (e *exchange) heard(a answer) {
	if e.watched != nil {
		e.watched.usage = a.usage
		if !a.whole {
			e.watched.fail(failBroken)
		}
	}
}
