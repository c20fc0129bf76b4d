package proxy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Upstream is an API for some of the requests.
type Upstream struct {
	// For is a path, such as /v1/messages, a folder, such as /openai/, or a glob of models, such
	// as gpt-*, in which a star matches anything. "" is for all others.
	For string
	// URL is where they go.
	URL string
}

// ParseUpstream reads [MODELGLOB=|/PATH=]URL.
func ParseUpstream(text string) (Upstream, error) {
	match, address, found := strings.Cut(text, "=")
	if !found || strings.Contains(match, "://") {
		return Upstream{URL: text}, nil
	}
	if match == "" || address == "" {
		return Upstream{}, errors.New("an upstream is [MODELS=|/PATH=]URL, such as /v1/messages=https://api.anthropic.com")
	}
	return Upstream{match, address}, nil
}

// target is an upstream in the form that requests use.
type target struct {
	match string
	url   *url.URL
}

// upstreams are all targets, the longest match first. The target of all other requests has the
// path "".
type upstreams struct {
	paths, models []*target
	several       bool // of different origins
}

// ownLead returns the lead of a request that goes where its client sends it.
func ownLead(at *url.URL) *lead {
	return &lead{to: &target{url: &url.URL{Scheme: at.Scheme, Host: at.Host}}, own: true}
}

// newUpstreams reads the configured upstreams. Only the path tells to which upstream a request's
// key belongs, so a glob of models must come with a path or with an upstream for all requests.
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
		case strings.HasPrefix(one.For, "/") && (hasDots(one.For) || (&url.URL{Path: one.For}).EscapedPath() != one.For):
			return nil, fmt.Errorf("upstream for %s: want a plain path, such as /v1/messages or /openai/", one.For)
		}
		seen[one.For], origins[originOf(at)] = true, true
		t := &target{match: one.For, url: at}
		if one.For == "" || strings.HasPrefix(one.For, "/") {
			u.paths = append(u.paths, t)
		} else {
			u.models = append(u.models, t)
		}
	}
	if len(u.paths) == 0 {
		return nil, fmt.Errorf("upstream for %s: name one without models beside it: the key that a client sends goes to the upstream of its path alone", u.models[0].match)
	}
	for _, l := range [][]*target{u.paths, u.models} {
		slices.SortStableFunc(l, func(a, b *target) int { return len(b.match) - len(a.match) })
	}
	u.several = len(origins) > 1
	return u, nil
}

func originOf(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

// lead is where a request goes.
type lead struct {
	to *target
	// from is the prefix to remove from the path. It is a folder that selects an upstream.
	from string
	// moved means that the model selects another upstream than the path. The request has the key
	// of the path's upstream.
	moved bool
	// own means that the request goes where its client sends it.
	own bool
}

// byPath is the target of a path, nil if there is none.
func (u *upstreams) byPath(path string) *target {
	if i := slices.IndexFunc(u.paths, func(t *target) bool { return within(path, t.match) }); i >= 0 {
		return u.paths[i]
	}
	return nil
}

// of returns a request's upstream by the request's unchanged path and its model. It returns nil
// if there is no such upstream. It also returns nil if another spelling of the path selects
// another upstream, because the owner of the request's key is then in doubt.
func (u *upstreams) of(at *url.URL, model string) *lead {
	var l *lead
	to := u.byPath(at.EscapedPath())
	if to != u.byPath(slashes.ReplaceAllString(at.Path, "/")) {
		return nil
	}
	if to != nil {
		l = &lead{to: to}
		if strings.HasSuffix(l.to.match, "/") {
			l.from = strings.TrimSuffix(l.to.match, "/")
		}
	}
	if i := slices.IndexFunc(u.models, func(t *target) bool { return model != "" && globs(t.match, model) }); i >= 0 {
		by := u.models[i]
		if l == nil {
			return &lead{to: by, moved: true}
		}
		return &lead{to: by, from: l.from, moved: originOf(by.url) != originOf(l.to.url)}
	}
	return l
}

// slashes matches several slashes in the place of one.
var slashes = regexp.MustCompile(`//+`)

// within reports whether a path is equal to prefix or below it.
func within(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (prefix == "" || rest == "" || strings.HasSuffix(prefix, "/") || rest[0] == '/')
}

// globs reports whether a glob matches all of a name.
func globs(glob, name string) bool {
	parts := strings.Split(glob, "*")
	name, ok := strings.CutPrefix(name, parts[0])
	if !ok || len(parts) == 1 {
		return ok && name == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		if _, name, ok = strings.Cut(name, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}

// modelOf returns the model that a request names. It does not read the body, which may be large,
// if no upstream is chosen by a model.
func (u *upstreams) modelOf(e *exchange) string {
	if e.model != "" || len(u.models) == 0 {
		return e.model
	}
	var m struct {
		Model string `json:"model"`
	}
	if json.Unmarshal(e.data, &m) != nil {
		return ""
	}
	return m.Model
}

// knownHeaders and knownQuery are the headers and query members that are forwarded to an upstream
// that the model selected. Any other header or member may contain the key of the upstream that
// the client meant.
var (
	knownHeaders = []string{"Accept", "Accept-Encoding", "Accept-Language", "Content-Encoding", "Content-Type", "User-Agent",
		"Anthropic-Version", "Anthropic-Beta", "Openai-Beta"}
	knownQuery = []string{"alt", "beta"}
)

// apply directs a request to its upstream.
func (l *lead) apply(p *httputil.ProxyRequest, several bool) {
	if l.own {
		return
	}
	out, to := p.Out, l.to.url
	out.URL.Scheme, out.URL.Host, out.Host = to.Scheme, to.Host, to.Host
	base, path, raw := strings.TrimRight(to.Path, "/"), strings.TrimPrefix(p.In.URL.Path, l.from), strings.TrimPrefix(p.In.URL.RawPath, l.from)
	out.URL.Path, out.URL.RawPath = base+path, raw
	if base != "" && raw != "" {
		out.URL.RawPath = strings.TrimRight(to.EscapedPath(), "/") + raw
	}
	out.URL.RawQuery = p.In.URL.RawQuery
	if several {
		out.Header.Del("Cookie") // a client has those of all upstreams under one address
	}
	if !l.moved {
		return
	}
	for name := range out.Header {
		if !slices.Contains(knownHeaders, http.CanonicalHeaderKey(name)) {
			delete(out.Header, name)
		}
	}
	query := out.URL.Query()
	for name := range query {
		if !slices.Contains(knownQuery, name) {
			delete(query, name)
		}
	}
	out.URL.RawQuery = query.Encode()
}

// status lists the upstreams.
func (u *upstreams) status() (out []StatusUpstream) {
	for _, t := range slices.Concat(u.models, u.paths) {
		out = append(out, StatusUpstream{cmp.Or(t.match, "*"), t.url.String()})
	}
	return out
}
