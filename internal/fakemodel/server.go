package fakemodel

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options make a server.
type Options struct {
	// Script makes the answers. nil answers "ok" to every request.
	Script Script
	// Window is the largest number of input tokens of a request. 0 means no limit. A larger
	// request is refused in the words of its API.
	Window int
	// TTL is the lifetime of a cached prefix after its last use. 0 means five minutes.
	TTL time.Duration
	// Now is the server's clock. nil means [time.Now].
	Now func() time.Time
	// RepeatedResults accepts repeated results of Gemini's functions, which Gemini CLI 0.61 sends
	// when it resumes a session.
	RepeatedResults bool
	// Thinks makes the answers of the Messages and the Responses API begin with reasoning that is
	// bound to its prefix.
	Thinks bool
	// NoBodies leaves Request.Body empty once a request is answered, to save memory. A session of
	// sixty turns sends gigabytes.
	NoBodies bool
}

// Server is an [http.Handler] of the paths
//
//	POST …/v1/messages, …/v1/messages/count_tokens    Anthropic
//	POST …/v1/chat/completions, …/v1/responses         OpenAI
//	POST …/models/M:generateContent, M:streamGenerateContent, M:countTokens    Gemini
//	GET  …/v1/models                                  an empty list
type Server struct {
	opt   Options
	mu    sync.Mutex
	seen  []Request
	wrong []violation
	cache cache
	turns int
	// thoughts are the reasoning items of answers, by their signatures.
	thoughts map[string]thought
	// kept has one segment for each different content of all requests, by the hash of its bytes.
	kept map[[sha256.Size]byte]segment
}

// New makes a server.
func New(opt Options) *Server {
	if opt.Script == nil {
		opt.Script = func(Turn) Reply { return Reply{Text: "ok"} }
	}
	if opt.TTL == 0 {
		opt.TTL = 5 * time.Minute
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Server{opt: opt, cache: cache{ttl: opt.TTL, until: map[string]entry{}}, kept: map[[sha256.Size]byte]segment{}}
}

// Requests returns all requests for an answer, in order, including refused requests.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.seen...)
}

// violation is a request that broke a rule of the API, and the rule.
type violation struct {
	Rule string
	Body []byte
}

// Violations returns the requests that were refused because they broke a rule of the API. It also
// returns requests that have a call without a result or a result without a call.
func (s *Server) Violations() []violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := append([]violation(nil), s.wrong...)
	for _, r := range s.seen {
		if err := r.Pairs(); err != nil {
			out = append(out, violation{fmt.Sprintf("request %d: %v", r.N, err), r.Body})
		}
	}
	return out
}

func (s *Server) broken(rule string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, violation{rule, body})
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	api := apiOf(r)
	if g, ok := api.(gemini); ok {
		g.repeats = s.opt.RepeatedResults
		api = g
	}
	switch {
	case r.Method == http.MethodGet:
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{}})
		return
	case api == nil:
		writeJSON(w, http.StatusNotFound, map[string]any{"error": map[string]any{"message": "no such path: " + r.URL.Path}})
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	s.answer(w, r, api, body)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, api api, body []byte) {
	req, err := read(api, body)
	if err != nil {
		s.broken(r.URL.Path+": "+err.Error(), body)
		api.fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	req.Path, req.Header = r.URL.Path, r.Header.Clone()
	if g, ok := api.(gemini); ok && g.count {
		writeJSON(w, http.StatusOK, map[string]int{"totalTokens": req.Tokens()})
		return
	}
	if countPath(r.URL.Path) {
		writeJSON(w, http.StatusOK, map[string]int{"input_tokens": req.Tokens()})
		return
	}
	reply := s.take(&req)
	switch {
	case reply.Status >= 400:
		api.fail(w, reply.Status, reply.Kind, reply.Error)
	case req.Stream:
		api.stream(w, req, reply)
	default:
		api.whole(w, req, reply)
	}
}

// take counts a request, asks the script and settles the bill.
func (s *Server) take(req *Request) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	req.N, req.At = len(s.seen), s.opt.Now()
	reply := s.refusal(*req)
	var next thought
	if reply.Status == 0 {
		reply, next = s.bind(req)
	}
	if reply.Status == 0 {
		reply = s.opt.Script(req.turn(s.turns))
		reply.Calls = req.callable(reply.Calls)
	}
	req.Refused = reply.Status >= 400
	if !req.Refused {
		s.turns++
		s.think(req, next)
		req.Usage = req.api.bill(&s.cache, *req, reply)
	}
	s.seen = append(s.seen, s.sharing(*req))
	return reply
}

// sharing returns a copy of req whose segments share their bytes with equal segments of earlier
// requests, to save memory. Each request repeats most of the previous one.
func (s *Server) sharing(req Request) Request {
	if s.opt.NoBodies {
		req.Body = nil
	}
	for i := range req.Segments {
		seg := &req.Segments[i]
		sum := sha256.Sum256(seg.Bytes)
		first, ok := s.kept[sum]
		if !ok {
			first = segment{Bytes: bytes.Clone(seg.Bytes), text: strings.Clone(seg.text)}
			s.kept[sum] = first
		}
		seg.Bytes, seg.text = first.Bytes, first.text
	}
	return req
}

func (s *Server) refusal(req Request) Reply {
	if n := req.Tokens(); s.opt.Window > 0 && n > s.opt.Window {
		return Reply{Status: http.StatusBadRequest, Kind: "invalid_request_error", Error: req.api.tooLong(n, s.opt.Window)}
	}
	return Reply{}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // as the providers write it
	e.Encode(v)            // the client may have gone, so there is nobody to report to
}
