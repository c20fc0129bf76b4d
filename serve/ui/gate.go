package ui

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// gate lets in only the browser that was given the link. Before it reads anything, it refuses
// requests of pages of another origin, and requests whose host name is not this server's.
type gate struct {
	// hosts are the spellings of the address at which the server listens.
	hosts  map[string]bool
	cookie string // its name, which contains the port

	mu     sync.Mutex
	token  string // "" once it was used
	ticket [sha256.Size]byte
	open   bool
}

// newGate makes the gate of an address, with a fresh token.
func newGate(addr net.Addr) *gate {
	_, port, _ := net.SplitHostPort(addr.String()) // "" of no address, which no host equals
	g := &gate{hosts: map[string]bool{addr.String(): true}, cookie: "memkernel_ui_" + port, token: secret()}
	for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
		g.hosts[net.JoinHostPort(name, port)] = true
	}
	return g
}

// secret returns a random text that nobody can guess.
func secret() string {
	b := make([]byte, 32)
	rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// policy allows a page to run and read files of this server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard checks every request.
func (g *gate) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !g.hosts[strings.ToLower(r.Host)]:
			refuse(w, http.StatusMisdirectedRequest, "this address is not one that the window is served at")
		case !g.sameOrigin(r):
			refuse(w, http.StatusForbidden, "a page of another origin asked for this")
		case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
			refuse(w, http.StatusMethodNotAllowed, "only GET and POST are answered")
		case r.URL.Path == "/enter":
			g.enter(w, r)
		case strings.HasPrefix(r.URL.Path, "/assets/"):
			next.ServeHTTP(w, r)
		case g.in(r):
			next.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/api/"):
			refuse(w, http.StatusUnauthorized, "open the one-time link that memkernel ui printed")
		default:
			w.WriteHeader(http.StatusUnauthorized)
			showPage(w, door, nil)
		}
	})
}

// sameOrigin reports whether a request can only come from this server's own page, or from an
// address that a person entered. A request that changes something must show that it comes from
// this server's own page.
func (g *gate) sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && !strings.HasPrefix(r.URL.Path, "/api/")
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Method != http.MethodPost
	}
	host, ok := strings.CutPrefix(strings.ToLower(origin), "http://")
	return ok && host == strings.ToLower(r.Host)
}

// in reports whether a request has the cookie.
func (g *gate) in(r *http.Request) bool {
	c, err := r.Cookie(g.cookie)
	if err != nil {
		return false
	}
	sum := sha256.Sum256([]byte(c.Value))
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open && subtle.ConstantTimeCompare(sum[:], g.ticket[:]) == 1
}

// enter gives the cookie for the token, once.
func (g *gate) enter(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		refuse(w, http.StatusMethodNotAllowed, "the token is sent by POST")
		return
	}
	var in struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 4096)).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, "the token is sent as JSON")
		return
	}
	value, ok := g.take(in.Token)
	if !ok {
		refuse(w, http.StatusUnauthorized, "this link was used before: start memkernel ui again for a new one")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.WriteHeader(http.StatusNoContent)
}

// take returns the ticket for the token. The token is void after the call.
func (g *gate) take(token string) (ticket string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) != 1 {
		return "", false
	}
	ticket = secret()
	g.token, g.ticket, g.open = "", sha256.Sum256([]byte(ticket)), true
	return ticket, true
}

// refusal is the answer to a request that is refused or that failed.
type refusal struct {
	Error string `json:"error"`
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(refusal{why}) // it fails only if the client has gone
}
