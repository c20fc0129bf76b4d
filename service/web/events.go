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

// wantsEvents reports whether a request accepts a stream of events as its answer.
func wantsEvents(r *http.Request) bool {
	for one := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, params, err := mime.ParseMediaType(one)
		q, none := strconv.ParseFloat(params["q"], 64)
		if err == nil && kind == eventKind && (none != nil || q > 0) {
			return true
		}
	}
	return false
}

// eventStream answers with server-sent events. Each event is a message of JSON-RPC: first the
// notifications of calls, and last the answer. The response begins with the first event, so that
// a call that is refused earlier has its own status.
type eventStream struct {
	x *exchange

	mu    sync.Mutex
	begun bool
	// over reports that no event may be sent: the client does not accept events, has stopped
	// reading, or has the answer.
	over bool
}

// tell sends a notification of a call. It sends nothing after the answer was sent.
func (e *eventStream) tell(of serve.Reply) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.send(of)
}

// end sends the answer as the last event. It returns false if the caller must answer without
// events.
func (e *eventStream) end(reply serve.Reply) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	refused := reply.Error != nil && statuses[reply.Error.Data.Code] != 0
	if reply.JSON != nil && (e.begun || !refused) {
		e.send(reply)
	}
	if reply.Error != nil {
		e.x.code = reply.Error.Data.Code
	}
	e.over = true
	return e.begun
}

// send writes an event. Callers must hold e.mu.
func (e *eventStream) send(of serve.Reply) {
	if e.over {
		return
	}
	if !e.begun {
		e.begun = true
		e.x.head(http.StatusOK, eventKind, -1)
	}
	_, _ = io.WriteString(e.x, "data: ")
	_, _ = e.x.Write(of.JSON) // the JSON ends with a line break
	_, _ = io.WriteString(e.x, "\n")
	e.over = http.NewResponseController(e.x.w).Flush() != nil // it fails if a write failed
}
