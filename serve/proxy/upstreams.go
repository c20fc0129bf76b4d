package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Upstream is an API for some of the requests.
type Upstream struct {
	// For is a path, such as /v1/messages, or a folder, such as /openai/. All other paths are "" in
	// options, and "*" in a [Status].
	For string `json:"for"`
	// URL is the address to which these requests go.
	URL string `json:"url"`
}

// ParseUpstream reads [/PATH=]URL.
func ParseUpstream(text string) (Upstream, error) {
	match, address, found := strings.Cut(text, "=")
	if !found || strings.Contains(match, "://") {
		return Upstream{URL: text}, nil
	}
	if !strings.HasPrefix(match, "/") || address == "" {
		return Upstream{}, errors.New("an upstream is [/PATH=]URL, such as /v1/messages=https://api.anthropic.com")
	}
	return Upstream{match, address}, nil
}

// upstreams has the lead of each upstream, the longest path first. The path "" is for all other
// requests.
type upstreams struct {
	paths   []*lead
	several bool // the upstreams have different origins
}

// ownLead returns the lead of a request that goes where its client sends it.
func ownLead(at *url.URL) *lead {
	return &lead{url: &url.URL{Scheme: at.Scheme, Host: at.Host}, own: true}
}

// newUpstreams reads the configured upstreams.
func newUpstreams(rest string, list []Upstream, insecure bool) (*upstreams, error) {
	if rest != "" || len(list) == 0 {
		list = append(slices.Clip(list), Upstream{URL: rest})
	}
	u := &upstreams{}
	origins, seen := map[string]bool{}, map[string]bool{}
	for _, one := range list {
		at, err := checkUpstream(one.URL, insecure)
		switch {
		case err != nil && one.For != "":
			return nil, fmt.Errorf("upstream for %s: %w", one.For, err)
		case err != nil:
			return nil, err
		case seen[one.For]:
			return nil, fmt.Errorf("two upstreams are for %s: name one", cmp.Or(one.For, "all other requests"))
		case one.For != "" && (one.For[0] != '/' || hasDots(one.For) || (&url.URL{Path: one.For}).EscapedPath() != one.For):
			return nil, fmt.Errorf("upstream for %s: want a plain path, such as /v1/messages or /openai/", one.For)
		}
		seen[one.For], origins[at.Scheme+"://"+strings.ToLower(at.Host)] = true, true
		l := &lead{match: one.For, url: at}
		if prefix, folder := strings.CutSuffix(one.For, "/"); folder {
			l.prefix = prefix
		}
		u.paths = append(u.paths, l)
	}
	slices.SortStableFunc(u.paths, func(a, b *lead) int { return len(b.match) - len(a.match) })
	u.several = len(origins) > 1
	return u, nil
}

// lead says where the requests of a path go.
type lead struct {
	match string
	url   *url.URL
	// prefix is the folder that selects the upstream. It is removed from the path of each request.
	prefix string
	// own means that the request goes where its client sends it.
	own bool
}

// byPath is the lead of a path, nil if there is none.
func (u *upstreams) byPath(path string) *lead {
	if i := slices.IndexFunc(u.paths, func(l *lead) bool { return within(path, l.match) }); i >= 0 {
		return u.paths[i]
	}
	return nil
}

// of returns the lead for the path of a request. It returns nil if no upstream is for the path. It
// also returns nil if another spelling of the path selects another upstream, because it is then in
// doubt which upstream may get the request's key.
func (u *upstreams) of(at *url.URL) *lead {
	to := u.byPath(at.EscapedPath())
	if to != u.byPath(slashes.ReplaceAllString(at.Path, "/")) {
		return nil
	}
	return to
}

// slashes matches two or more slashes in a row.
var slashes = regexp.MustCompile(`//+`)

// within reports whether a path is equal to prefix or below it.
func within(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (prefix == "" || rest == "" || strings.HasSuffix(prefix, "/") || rest[0] == '/')
}

// apply directs a request to its upstream.
func (l *lead) apply(p *httputil.ProxyRequest, several bool) {
	if l.own {
		return
	}
	out, to := p.Out, l.url
	out.URL.Scheme, out.URL.Host, out.Host = to.Scheme, to.Host, to.Host
	base, path, raw := strings.TrimRight(to.Path, "/"), strings.TrimPrefix(p.In.URL.Path, l.prefix), strings.TrimPrefix(p.In.URL.RawPath, l.prefix)
	out.URL.Path, out.URL.RawPath = base+path, raw
	if base != "" && raw != "" {
		out.URL.RawPath = strings.TrimRight(to.EscapedPath(), "/") + raw
	}
	out.URL.RawQuery = p.In.URL.RawQuery
	if several {
		out.Header.Del("Cookie") // a client stores the cookies of all upstreams under the proxy's address
	}
}

// status lists the upstreams.
func (u *upstreams) status() (out []Upstream) {
	for _, t := range u.paths {
		out = append(out, Upstream{cmp.Or(t.match, "*"), t.url.String()})
	}
	return out
}
