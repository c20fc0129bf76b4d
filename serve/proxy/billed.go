package proxy

import (
	"net/http"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/transcript"
)

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
	body := e.body
	if e.line != nil {
		b.Conversation = e.line.name
	}
	if body == nil {
		var r *transcript.BodyReader
		body, _ = r.ReadFor(e.format, e.model, e.data) // an unreadable request has a bill, too
	}
	if body != nil {
		b.Model = body.Model
	}
	x.opt.Billed(b)
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

// passedAnswer takes the copy of an answer to a request that passed.
func (x *Proxy) passedAnswer(e *exchange, h http.Header, copy []byte, err error) {
	if err = hadAll(e, h, copy, err); err != nil {
		e.broken(err)
		return
	}
	e.hold()
	x.work.Go(func() {
		defer x.release(e)
		if a, err := readCopy(e.format, h, copy); err == nil {
			e.heard(a)
			x.bill(e, a, nil)
		}
	})
}
