package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// The proxy's own headers. They are not sent to the upstream.
const (
	// headerSession names the session of a request.
	headerSession = "X-Memkernel-Session"
	// headerFile, headerChannel and headerAgent say where the session comes from, for its
	// checkpoints.
	headerFile    = "X-Memkernel-Session-File"
	headerChannel = "X-Memkernel-Channel"
	headerAgent   = "X-Memkernel-Agent"
	// headerOutcome is the header of an answer that names the request's outcome.
	headerOutcome = "X-Memkernel"
)

// identity describes which conversation a request continues.
type identity struct {
	// session is the session's key. Unless exact is set, each conversation has a key of its own. An
	// exact key is shared by all conversations that the client holds within one session.
	session string
	exact   bool
	// named reports whether the client names the session or the user of the request.
	named bool
	// root is the hash of the first message. fixed is the hash of the speaker, see hashFixed.
	root, fixed string
}

// identify finds the session of a request. The session comes from the header, or else from the
// API's own field, or else from a hash of the system prompt and the first message.
func identify(h http.Header, b *transcript.Body) identity {
	id := identity{root: hashMessages(b.Messages[:min(1, len(b.Messages))]), fixed: hashFixed(b)}
	if key := h.Get(headerSession); key != "" {
		id.session, id.exact = key, true
		return id
	}
	key, exact := clientKey(b)
	id.named, id.exact = key != "", exact
	if exact {
		id.session = hostOf(h, b) + key
		return id
	}
	system := hashMessages([]memkernel.Message{{Role: memkernel.RoleSystem, Parts: b.System}})
	id.session = "proxy-" + store.Sum([]byte(key + "\x00" + system + id.root))[:16]
	return id
}

// sourceOf returns where a request's session comes from, according to the request's headers.
func sourceOf(h http.Header) checkpoint.Source {
	return checkpoint.Source{File: h.Get(headerFile), Channel: h.Get(headerChannel), Agent: h.Get(headerAgent)}
}

// sessionMark matches the session that a client writes into metadata.user_id. uuid matches a
// random key, which is new for each session.
var (
	sessionMark = regexp.MustCompile(`session_([0-9A-Za-z-]{8,})$`)
	uuid        = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// hostOf returns the beginning of the key that a host's hooks give its sessions. With it the
// proxy and the hooks see a conversation as the same session. It returns "" for a client without
// hooks.
func hostOf(h http.Header, b *transcript.Body) string {
	switch {
	case b.Format == transcript.FormatAnthropic: // only Claude Code names a session there
		return "claude:"
	case strings.HasPrefix(strings.ToLower(h.Get("Originator")+h.Get("User-Agent")), "codex"):
		return "codex:"
	}
	return ""
}

// clientKey returns the key by which the body names the session. A key that names a user or an
// application is not exact.
func clientKey(b *transcript.Body) (key string, exact bool) {
	if b.Format != transcript.FormatAnthropic {
		key = b.Text("prompt_cache_key")
		return key, uuid.MatchString(key)
	}
	var meta struct {
		UserID string `json:"user_id"`
	}
	if json.Unmarshal([]byte(b.Member("metadata")), &meta) != nil {
		return "", false
	}
	if m := sessionMark.FindStringSubmatch(meta.UserID); m != nil {
		return m[1], true
	}
	var user struct {
		SessionID string `json:"session_id"`
	}
	if json.Unmarshal([]byte(meta.UserID), &user) == nil && user.SessionID != "" {
		return user.SessionID, true
	}
	return meta.UserID, false
}

// line is one conversation of a session.
type line struct {
	session, branch string
	// name is the conversation's name in the log.
	name string
	// slot must be held to work on the line, so that a turn is observed before the next request
	// is planned.
	slot chan struct{}
	used int64 // the number of its last request, among the requests of all lines

	planned   atomic.Pointer[planned]       // the newest plan, nil if there is none
	unplanned atomic.Pointer[api.Unplanned] // the newest answered request after it without a plan, nil if there is none
	missed    atomic.Int32                  // plans in a row that were not ready in time
	compacted atomic.Int64                  // the generation after which a provider's compaction was asked for
}

// lines are the conversations that the proxy has seen.
type lines struct {
	mu    sync.Mutex
	known map[string]*line
	mains map[string]*mainLine
	n     int64
	// released is the value of n at the last call of release.
	released int64
}

// mainLine is the conversation of a session that no other conversation started.
type mainLine struct {
	root, fixed string
	tools       bool
	used        int64
	// before is the previous first message, which root replaced. sides are first messages of side
	// conversations that were mistaken for the main one.
	before string
	sides  map[string]bool
}

// goesOn reports whether a conversation is the main conversation, perhaps under another first
// message. If the previous first message comes again, the other conversation was a side
// conversation.
func (m *mainLine) goesOn(id identity) bool {
	switch {
	case m.root == id.root:
		return true
	case m.before == id.root:
		if m.sides == nil || len(m.sides) > maxLines {
			m.sides = map[string]bool{}
		}
		m.sides[m.root] = true
		m.root, m.before = id.root, ""
		return true
	case m.fixed != id.fixed || m.sides[id.root]:
		return false
	}
	m.root, m.before = id.root, m.root
	return true
}

// maxLines bounds the remembered lines. The state directory has all other conversations.
const maxLines = 2048

// of finds the line of a request. Within a session that the client shares among conversations,
// the main conversation is the first conversation that was seen with tools. If the host compacts
// it, the main conversation continues under another first message, as long as system prompt and
// tools stay. Every other conversation is a branch, named by its first message.
func (l *lines) of(id identity, tools bool) *line {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known, l.mains = map[string]*line{}, map[string]*mainLine{}
	}
	l.n++
	branch := ""
	if id.exact {
		branch = l.branch(id, tools)
	}
	key := id.session + "\x00" + branch
	ln := l.known[key]
	if ln == nil {
		l.trim()
		ln = &line{session: id.session, branch: branch, name: store.Sum([]byte(key))[:8], slot: make(chan struct{}, 1)}
		l.known[key] = ln
	}
	ln.used = l.n
	return ln
}

// begun finds the conversation that a request for a token count continues, nil if there is none.
// It is the conversation whose newest plan covers most of the request's messages. The request
// alone does not say whether it belongs to a conversation, because clients also count files, tool
// definitions and prompts in the form of a conversation.
func (l *lines) begun(b *transcript.Body, id identity, named bool) (found *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, most := fingerprints(b.Messages), 0
	for _, ln := range l.known {
		s := ln.planned.Load()
		if s == nil || s.model != b.Model || len(s.host) <= most || named && ln.session != id.session {
			continue
		}
		if len(s.host) <= len(all) && slices.Equal(s.host, all[:len(s.host)]) {
			found, most = ln, len(s.host)
		}
	}
	return found
}

// holds reports whether a session has a main conversation.
func (l *lines) holds(id identity) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return id.exact && l.mains[id.session] != nil
}

func (l *lines) branch(id identity, tools bool) string {
	m := l.mains[id.session]
	if m == nil || tools && !m.tools && m.root != id.root {
		m = &mainLine{root: id.root, fixed: id.fixed, tools: tools}
		l.mains[id.session] = m
	}
	m.used = l.n
	if m.goesOn(id) {
		m.fixed = id.fixed
		return ""
	}
	return "side-" + id.root[:12]
}

// trim forgets the least recently used lines, but never a line that is at work.
func (l *lines) trim() {
	if len(l.known) < maxLines {
		return
	}
	old := l.n - maxLines/2
	for k, ln := range l.known {
		if ln.used < old && len(ln.slot) == 0 {
			delete(l.known, k)
		}
	}
	for k, m := range l.mains {
		if m.used < old {
			delete(l.mains, k)
		}
	}
}

// release drops the requests after plans, for conversations without a request since the last call
// of release. The provider's cache no longer has these requests. It keeps the plans, because the
// first request after a pause has to wait the longest.
func (l *lines) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ln := range l.known {
		if ln.used <= l.released {
			ln.unplanned.Store(nil)
		}
	}
	l.released = l.n
}

// hashMessages returns the hash of the messages' content, without their cache markers.
func hashMessages(msgs []memkernel.Message) string {
	h := sha256.New()
	for i := range msgs {
		field(h, string(msgs[i].Role))
		for j := range msgs[i].Parts {
			hashPart(h, &msgs[i].Parts[j])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// speakerBytes is the number of bytes of a system prompt that identify the speaker. Text that
// changes from call to call (dates, versions, the state of a tree) is in blocks of its own or
// further down.
const speakerBytes = 256

// hashFixed returns the hash that identifies the speaker. It covers the beginning of the longest
// system block, and the tools.
func hashFixed(b *transcript.Body) string {
	h := sha256.New()
	longest := ""
	for i := range b.System {
		if len(b.System[i].Text) > len(longest) {
			longest = b.System[i].Text
		}
	}
	field(h, longest[:min(len(longest), speakerBytes)])
	for _, t := range b.Tools {
		field(h, t.Name)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func field(h hash.Hash, s string) {
	io.WriteString(h, s)
	h.Write([]byte{0})
}

func hashPart(h hash.Hash, p *memkernel.Part) {
	field(h, string(p.Kind))
	field(h, p.Text)
	switch {
	case p.Call != nil:
		field(h, p.Call.ID+"\x00"+p.Call.Name+"\x00"+p.Call.Input)
	case p.Result != nil:
		field(h, p.Result.CallID)
		for i := range p.Result.Content {
			hashPart(h, &p.Result.Content[i])
		}
	case p.Media != nil:
		field(h, p.Media.Type+"\x00"+p.Media.URL+"\x00"+p.Media.Data)
	case p.Kind == memkernel.PartOther:
		field(h, p.Raw)
	}
}
