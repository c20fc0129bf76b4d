package proxy_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/serve/proxy"
)

const sessionHeader = "X-Memkernel-Session"

// own asks the proxy for a path of its own.
func (s *stage) own(method, path string, header ...string) (*proxy.Status, int) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.front.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var st proxy.Status
	if err := json.NewDecoder(res.Body).Decode(&st); err != nil {
		s.t.Fatal(err)
	}
	return &st, res.StatusCode
}

// TestStatusIsGuarded: pages and other names of this machine see nothing, and nothing
// of what was said is in them.
func TestStatusIsGuarded(t *testing.T) {
	s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{AllowOrigins: []string{"https://app.example"}}, nil)
	s.turns(anthropic, 2)
	for _, header := range [][]string{{"Origin", "http://localhost:3000"}, {"Origin", "https://app.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}} {
		if _, status := s.own(http.MethodGet, "/status", header...); status != http.StatusForbidden {
			t.Errorf("with %v: status %d", header, status)
		}
	}
	st, status := s.own(http.MethodGet, "/status")
	if status != http.StatusOK || st.Planned != 4 || st.Refused != 5 {
		t.Errorf("status %d: %+v", status, st)
	}
	data, _ := json.Marshal(st)
	for _, word := range []string{"step", "part0", "tester"} {
		if strings.Contains(string(data), word) {
			t.Errorf("%q of the conversation is in %s", word, data)
		}
	}
}
