package embed

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// parseBase checks a base URL and brings it into one form. What it refuses with
// a user in it is not repeated in the error, since that may be a password.
func parseBase(raw string, insecure bool) (*url.URL, error) {
	if raw == "" {
		raw = DefaultBaseURL
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil || u.User != nil:
		return nil, errors.New("embedding base_url is no plain URL: give scheme, host and path, and the key by api_key_env")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("embedding base_url %q: it must begin with https:// or http://", raw)
	case u.Hostname() == "":
		return nil, fmt.Errorf("embedding base_url %q names no host", raw)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("embedding base_url for %s: leave out what stands behind ? or #", u.Host)
	case u.Scheme == "http" && !loopback(u) && !insecure:
		return nil, fmt.Errorf("embedding base_url %q would send texts unencrypted to another machine: use https, or set allow_insecure", raw)
	}
	u.Host = strings.ToLower(u.Host)
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// loopback tells whether a URL is on this machine by its spelling; names other
// than localhost are not looked up.
func loopback(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// isOpenAI covers the regional hosts too, such as eu.api.openai.com.
func isOpenAI(u *url.URL) bool {
	return u.Scheme == "https" && strings.HasSuffix("."+strings.ToLower(u.Hostname()), ".api.openai.com")
}
