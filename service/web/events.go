package web

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/serve"
)

const eventKind = "text/event-stream"

// wantsEvents reports whether a request takes its answer as a stream of events.
func wantsEvents(r *http.Request) bool {
	for _, list := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(list, ",") {
			kind, params, err := mime.ParseMediaType(one)
			q, none := strconv.ParseFloat(params["q"], 64)
			if err == nil && kind == eventKind && (none != nil || q > 0) {
				return true
			}
		}
	}
	return false
}

// eventStream answers with server-sent events. Each event is a message of JSON-RPC: first the
// notifications of calls, and last the answer. The response begins with the first event, so that
// a call that is refused earlier has its own status.
type eventStream struct {
	x *exchange

	mu           sync.Mutex
	begun, ended bool
	// failed reports that the client no longer reads.
	failed bool
}

// tell sends a notification of a call. It sends nothing after the answer was sent.
func (e *eventStream) tell(of serve.Reply) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.ended {
		e.send(of)
	}
}

// end sends the answer as the last event. It returns false if the caller must answer without
// events.
func (e *eventStream) end(reply serve.Reply) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	if reply.Error != nil && !e.begun {
		if _, refused := statuses[reply.Error.Data.Code]; refused {
			return false
		}
	}
	if reply.Empty() {
		return e.begun
	}
	if reply.Error != nil {
		e.x.code = reply.Error.Data.Code
	}
	e.send(reply)
	return true
}

// send writes an event. Callers must hold e.mu.
func (e *eventStream) send(of serve.Reply) {
	if e.failed {
		return
	}
	if !e.begun {
		e.begun = true
		e.x.head(http.StatusOK, eventKind, -1)
	}
	_, err := io.WriteString(e.x, "data: ")
	if err == nil {
		_, err = of.WriteTo(e.x) // with the line's end
	}
	if err == nil {
		_, err = e.x.Write([]byte{'\n'})
	}
	if err == nil {
		err = http.NewResponseController(e.x.w).Flush()
	}
	e.failed = err != nil
}
