package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// beat is the shortest time between two notifications of a page that watches.
const beat = 500 * time.Millisecond

// live streams the list of sessions, or one session, whenever it has changed.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	flusher, ok := w.(http.Flusher)
	if !ok {
		refuse(w, http.StatusInternalServerError, "this server can't stream")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "retry: 2000\n\n")
	flusher.Flush()
	var last []byte
	quiet := 0
	for {
		var doc any
		var err error
		if r.URL.Query().Get("session") != "" {
			doc, err = s.oneSession(r)
		} else {
			doc, err = s.sessions(r.Context())
		}
		if r.Context().Err() != nil || s.ctx.Err() != nil {
			return
		}
		name := "news"
		if err != nil {
			name, doc = "trouble", refusal{s.o.mask(err.Error())}
		}
		data, err := json.Marshal(doc)
		if err != nil {
			return
		}
		same := bytes.Equal(data, last)
		last = data
		if quiet++; !same {
			quiet = 0
			if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data); err != nil {
				return
			}
			flusher.Flush()
		} else if quiet%30 == 0 {
			if _, err := fmt.Fprint(w, ": still here\n\n"); err != nil {
				return
			}
			flusher.Flush()
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		case <-time.After(beat):
		}
	}
}
