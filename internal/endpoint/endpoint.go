// Package endpoint has the parts that all clients of model servers share. It checks base URLs and
// keys, reads Retry-After headers, and makes a server's messages fit for an error. It sends no
// requests.
//
// A base URL is scheme, host and path. Plain http is refused except to this machine, because
// anybody on the network could read texts and keys. Errors name the setting by the caller's
// subject ("embedding", "summary model") and by the setting's name in a configuration file.
// Errors never repeat a part that may be a password.
package endpoint

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Parse checks a base URL and brings it into one form: the host in lower case, no
// slash at the end. insecure allows plain http to another machine.
func Parse(subject, raw string, insecure bool) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil || u.User != nil:
		return nil, fmt.Errorf("%s base_url is no plain URL: give scheme, host and path, and the key by api_key_env", subject)
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("%s base_url %q: it must begin with https:// or http://", subject, raw)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%s base_url %q names no host", subject, raw)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("%s base_url for %s: leave out what stands behind ? or #", subject, u.Host)
	case u.Scheme == "http" && !Loopback(u) && !insecure:
		return nil, fmt.Errorf("%s base_url %q would send texts unencrypted to another machine: use https, or set allow_insecure", subject, raw)
	}
	u.Host = strings.ToLower(u.Host)
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// Loopback reports whether the spelling of a URL names this machine. It looks up no names other
// than localhost.
func Loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
}

// Own reports whether a URL is an https address at a domain or at a subdomain of it, such as
// eu.api.openai.com for api.openai.com. No URL belongs to the domain "".
func Own(u *url.URL, domain string) bool {
	return domain != "" && u.Scheme == "https" && strings.HasSuffix("."+strings.ToLower(u.Hostname()), "."+domain)
}

// Key reads a key from the environment variable env. It returns "" if the variable is not set or
// env is "". Key removes white space around the key, which comes from files. It returns an error
// for characters that a header can't hold, because the error of net/http would not name the
// variable.
func Key(env string) (string, error) {
	if env == "" {
		return "", nil
	}
	key := strings.TrimSpace(os.Getenv(env))
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("the environment variable %s is no API key: it has white space or other characters that can't be sent", env)
	}
	return key, nil
}

// RetryAfter reads the header of RFC 9110, section 10.2.3: seconds or a date.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(value); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// maxSaidBytes is the limit for a server's message in an error.
const maxSaidBytes = 300

// Clean makes a server's message fit for an error. The result is short, on one line, and has
// neither the key nor control characters. Clean removes the key before it shortens the text,
// because the cut could leave half of the key.
func Clean(s, key string) string {
	if key != "" {
		s = strings.ReplaceAll(s, key, "[key]")
	}
	s = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxSaidBytes {
		return s
	}
	return textutil.Head(s, maxSaidBytes) + "…"
}
