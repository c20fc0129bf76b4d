package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// ErrRemote is returned for an address that other machines can reach, if remote access was not
// allowed.
var ErrRemote = errors.New("other machines would reach this address")

// CheckListen refuses addresses that are not this machine's own, unless remote
// is set.
func CheckListen(address string, remote bool) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	if !remote && !isLoopback(host) {
		return fmt.Errorf("listen on %s: %w", address, ErrRemote)
	}
	return nil
}

// isLoopback reports whether a host is this machine, by its spelling alone. It looks up no name.
func isLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// checkUpstream reads the address of the API.
func checkUpstream(address string, insecure bool) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("upstream is no URL: name one such as https://api.anthropic.com") // the text might hold a password
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("upstream %s: want a URL such as https://api.anthropic.com", u.Redacted())
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("upstream %s: want scheme, host and path alone; the client sends its own key", u.Redacted())
	case u.Scheme == "http" && !insecure && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("upstream %s: plain http would send keys and prompts in the clear", u)
	}
	return u, nil
}

// guard decides which requests the proxy accepts, by the program or web page that they come from.
type guard struct {
	remote  bool
	origins []string
}

// refusal returns the status and the reason with which a request is refused. The reason is "" if
// the request may pass.
func (g *guard) refusal(r *http.Request) (int, string) {
	switch {
	case r.Method == http.MethodConnect || r.URL.Host != "" || !strings.HasPrefix(r.URL.Path, "/"):
		return http.StatusBadRequest, "this is no open proxy: requests go to its own upstreams"
	case hasDots(r.URL.Path):
		return http.StatusBadRequest, "the path holds a dot segment"
	case !g.knowsHost(r):
		return http.StatusForbidden, "the Host header names no address of this machine"
	}
	if from := g.foreignPage(r, acts(r)); from != "" {
		return http.StatusForbidden, "requests of web pages are not taken: this one comes from " + from + "; --allow-origin lets a page in by its origin"
	}
	return 0, ""
}

// knowsHost reports whether a request was meant for this machine. If other machines may reach the
// proxy, their programs may use any name. A browser must use an IP address or come from an
// allowed origin, because a page's own name server may give this address to the page's name.
func (g *guard) knowsHost(r *http.Request) bool {
	host := hostOnly(r.Host)
	switch {
	case isLoopback(host):
		return true
	case !g.remote:
		return false
	}
	ofBrowser := slices.ContainsFunc([]string{"Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode"}, func(name string) bool { return len(r.Header.Values(name)) > 0 })
	return !ofBrowser || net.ParseIP(strings.Trim(host, "[]")) != nil || g.allowed(r.Header.Values("Origin"))
}

// foreignPage returns the web page that made a request, if the page may not make it. It returns ""
// if the request is allowed. Pages of this machine may read. For all other requests a page must be
// allowed by name, or come from the proxy itself.
func (g *guard) foreignPage(r *http.Request, acts bool) string {
	origins := r.Header.Values("Origin")
	if g.allowed(origins) {
		return ""
	}
	if len(origins) > 0 && !sameOrigin(r, origins) && (acts || !localOrigin(origins)) {
		return fmt.Sprintf("%.100q", origins[0])
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if acts && !strings.EqualFold(site, "none") && !strings.EqualFold(site, "same-origin") {
			return fmt.Sprintf("another site (%.20q)", site)
		}
	}
	return ""
}

// acts reports whether a request may do more than read.
func acts(r *http.Request) bool {
	return r.Header.Get("Upgrade") != "" || r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

// allowed reports whether all origins of a request were allowed by name.
func (g *guard) allowed(origins []string) bool {
	for _, o := range origins {
		if !slices.Contains(g.origins, strings.ToLower(o)) {
			return false
		}
	}
	return len(origins) > 0
}

// sameOrigin reports whether a page was served under the same address that its request goes to.
func sameOrigin(r *http.Request, origins []string) bool {
	u, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, r.Host)
}

// checkOrigins returns names of origins in the form in which browsers send them.
func checkOrigins(names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		u, err := url.Parse(strings.TrimSuffix(name, "/"))
		if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Contains(u.Host, "*") {
			return nil, fmt.Errorf("origin %q: want scheme, host and port alone, such as http://localhost:3000 or app://obsidian.md", name)
		}
		out = append(out, strings.ToLower(u.Scheme+"://"+u.Host))
	}
	return out, nil
}

func hasDots(path string) bool {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.Contains(parts, ".") || slices.Contains(parts, "..")
}

func hostOnly(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}

// localOrigin reports whether a request comes from a page of this machine, or from an
// application with a scheme of its own.
func localOrigin(origins []string) bool {
	for _, o := range origins {
		u, err := url.Parse(o)
		if err != nil || o == "null" || (u.Scheme == "http" || u.Scheme == "https") && !isLoopback(u.Hostname()) {
			return false
		}
	}
	return true
}

// refuse answers a request that is not passed on, and notes it.
func (x *Proxy) refuse(w http.ResponseWriter, status int, text string) {
	refuse(w, status, text)
	x.account.note(func(so *Status) { so.Refused++ })
	x.log.Warn("refused", "status", status, "reason", text)
}

// refuse answers a request that is not passed on, in a shape that clients of both
// APIs read.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(headerOutcome, "refused")
	w.WriteHeader(status)
	message, _ := json.Marshal("memkernel proxy: " + text) // a string always can
	fmt.Fprintf(w, `{"type":"error","error":{"type":"memkernel_proxy","message":%s}}`+"\n", message)
}

// OwnHost reports whether a Host header names this machine, as localhost or by a loopback address.
func OwnHost(hostport string) bool { return isLoopback(hostOnly(hostport)) }
