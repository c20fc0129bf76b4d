package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// Running is a proxy that serves. The state directory has its record while it serves.
type Running struct {
	// URL is the proxy's address on this machine. Instance is the id of this run in the proxy's
	// status.
	URL      string `json:"url"`
	Instance string `json:"instance"`
}

// runningFolder is the folder of the records of running proxies.
const runningFolder = "proxies"

// Register writes this proxy's address to the state directory. The caller must call remove when
// the proxy stops. Register writes nothing if the listener can't be reached by this machine's own
// address.
func (x *Proxy) Register(s store.Store, l net.Listener) (remove func() error, err error) {
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok || !at.IP.IsLoopback() && !at.IP.IsUnspecified() {
		return func() error { return nil }, nil
	}
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	r := Running{URL: "http://" + net.JoinHostPort(host, fmt.Sprint(at.Port)), Instance: x.account.instance}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	in, name := s.In(runningFolder), x.account.instance+".json"
	if err := dropKilled(in, r.URL); err != nil {
		return nil, fmt.Errorf("look for proxies that were killed: %w", err)
	}
	if _, err := in.Put(store.Unsynced, store.Doc{Name: name, Data: append(data, '\n')}); err != nil {
		return nil, fmt.Errorf("write down where the proxy is: %w", err)
	}
	return func() error {
		_, err := in.Remove(store.Unsynced, name)
		return err
	}, nil
}

// dialTime is how long a killed proxy's address may take to refuse a connection.
const dialTime = 200 * time.Millisecond

// dropKilled removes the files of killed proxies. Their address is now the address of this proxy,
// or nobody listens at it.
func dropKilled(in store.Store, own string) error {
	list, err := in.List("")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var killed []string
	for _, e := range list {
		r, err := readRunning(in, e.Name)
		if err != nil {
			continue // FindRunning tells of it
		}
		if r.URL != own {
			c, err := net.DialTimeout("tcp", strings.TrimPrefix(r.URL, "http://"), dialTime)
			if err == nil {
				c.Close()
			}
			if err == nil || kind(err) != "connection refused" {
				continue
			}
		}
		killed = append(killed, e.Name)
	}
	_, err = in.Remove(store.Unsynced, killed...)
	return err
}

// FindRunning returns the proxies of a state directory that run, with their status. It removes
// the files of killed proxies. The error names the proxies that don't answer. FindRunning returns
// the other proxies together with the error.
func FindRunning(ctx context.Context, s store.Store) (out []Running, states []*Status, err error) {
	in := s.In(runningFolder)
	list, err := in.List("")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var bad []error
	for _, e := range list {
		if !strings.HasSuffix(e.Name, ".json") {
			continue
		}
		r, err := readRunning(in, e.Name)
		var st *Status
		if err == nil {
			st, err = r.Ask(ctx, http.MethodGet, PathStatus)
		}
		switch {
		case errors.Is(err, errGone):
			if _, err := in.Remove(store.Unsynced, e.Name); err != nil && !store.Unwritable(err) {
				bad = append(bad, err)
			}
		case err != nil:
			bad = append(bad, fmt.Errorf("%s: %w; remove it if no such proxy runs", in.Where(e.Name), err))
		default:
			out, states = append(out, *r), append(states, st)
		}
	}
	return out, states, errors.Join(bad...)
}

// readRunning reads the address of a proxy. The folder may come from a foreign repository, so an
// address that is not this machine's own is an error.
func readRunning(in store.Store, name string) (*Running, error) {
	data, err := in.Get(name)
	if err != nil {
		return nil, err
	}
	var r Running
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "http" || net.ParseIP(u.Hostname()) == nil || !isLoopback(u.Hostname()) || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errors.New("it names no address of this machine")
	}
	r.URL = "http://" + u.Host
	return &r, nil
}

// errGone means that nobody listens at a proxy's address any more, or that another program does.
var errGone = errors.New("no such proxy runs")

// askTime is how long a proxy of this machine may take to answer a request for a path of its own.
const askTime = 10 * time.Second

// Ask sends a request for one of the proxy's own paths.
func (r *Running) Ask(ctx context.Context, method, path string) (*Status, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, r.URL+path, nil)
	if err != nil {
		return nil, err
	}
	t := &http.Transport{DisableKeepAlives: true} // and no proxy on the way
	res, err := t.RoundTrip(req)
	if err != nil {
		if kind(err) == "connection refused" {
			return nil, errGone
		}
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	var st Status
	if res.StatusCode != http.StatusOK || json.Unmarshal(data, &st) != nil || st.Schema != statusSchema || st.Instance != r.Instance {
		return nil, errGone
	}
	return &st, nil
}
