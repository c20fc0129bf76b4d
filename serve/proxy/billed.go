package proxy

import (
	"net/http"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/transcript"
)

// Billed is a call that was answered and billed.
type Billed struct {
	// Conversation is what the log calls it, "" for a request that passed.
	Conversation string
	// Model is the request's, Body the request as the client wrote it; nil if it was not read.
	Model string
	Body  *transcript.Body
	// Messages tell the body's messages from others, by content, for this process.
	Messages []uint64
	// Plan is what was sent in its place, nil where none was made.
	Plan *kernel.ContextPlan
	// Usage is the bill; Began is when the request came.
	Usage memkernel.Usage
	// WholeTokens is about what the input had come to as the client wrote it; 0 for a request
	// that passed.
	WholeTokens int
	Began       time.Time
}

// bill tells of a call, if its answer has a bill.
func (x *Proxy) bill(e *exchange, a answer) {
	if e.watched != nil {
		e.watched.usage = a.usage
		if !a.whole {
			e.watched.fail(FailBroken)
		}
	}
	if x.opt.Billed == nil || a.usage == nil {
		return
	}
	b := Billed{Body: e.body, Plan: e.out.plan, Usage: *a.usage, Began: e.began}
	if e.line != nil {
		b.Conversation, b.Messages = e.line.name, fingerprints(e.body.Messages)
		b.WholeTokens, _ = x.account.sizes(e, a.usage)
	}
	if b.Body == nil {
		var r *transcript.BodyReader
		b.Body, _ = r.ReadFor(e.format, e.model, e.data) // what can't be read has a bill all the same
	}
	if b.Body != nil {
		b.Model = b.Body.Model
	}
	x.opt.Billed(b)
}

// passedAnswer takes the copy of an answer to a request that passed.
func (x *Proxy) passedAnswer(e *exchange, h http.Header, copy []byte, err error) {
	if err != nil {
		e.broken(err)
		return
	}
	e.hold()
	x.work.Go(func() {
		defer x.release(e)
		data, err := decoded(h.Get("Content-Encoding"), copy, maxAnswer)
		if err == nil {
			x.bill(e, readAnswer(e.format, h.Get("Content-Type"), data))
		}
	})
}
