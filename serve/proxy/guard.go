package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// ErrRemote is returned for an address that other machines reach, where that was not
// allowed.
var ErrRemote = errors.New("other machines would reach this address")

// CheckListen refuses addresses that are not this machine's own, unless remote says
// that they are meant.
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

// isLoopback judges a host by its spelling: a name other than localhost is looked up
// nowhere.
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

// refusal is why a request is not even passed on, and its status; "" if it may pass.
func (x *Proxy) refusal(r *http.Request) (int, string) {
	switch {
	case r.Method == http.MethodConnect || r.URL.Host != "" || !strings.HasPrefix(r.URL.Path, "/"):
		return http.StatusBadRequest, "this is no open proxy: requests go to its one upstream"
	case hasDots(r.URL.Path):
		return http.StatusBadRequest, "the path holds a dot segment"
	case x.opt.AllowRemote:
		return 0, ""
	case !isLoopback(hostOnly(r.Host)):
		return http.StatusForbidden, "the Host header names no address of this machine"
	case !localOrigin(r.Header.Values("Origin")):
		return http.StatusForbidden, "requests of web pages are not taken"
	}
	return 0, ""
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

// localOrigin tells whether a request comes from no web page, or from one of this
// machine. Applications with a scheme of their own are no pages.
func localOrigin(origins []string) bool {
	for _, o := range origins {
		u, err := url.Parse(o)
		if err != nil || o == "null" || (u.Scheme == "http" || u.Scheme == "https") && !isLoopback(u.Hostname()) {
			return false
		}
	}
	return true
}

// refuse answers a request that is not passed on, in a shape that clients of both
// APIs read.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(headerOutcome, "refused")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"type":"error","error":{"type":"memkernel_proxy","message":%q}}`+"\n", "memkernel proxy: "+text)
}
