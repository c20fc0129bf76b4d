package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/longturns"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/ui"
)

// billedSession makes a workspace whose state folder holds one session of so many billed calls.
func billedSession(tb testing.TB, calls int) (workspace string) {
	tb.Helper()
	workspace = tb.TempDir()
	k, err := kernel.Open(tb.Context(), workspace, nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer k.Close()
	at := time.Date(2026, 3, 9, 8, 0, 0, 0, time.UTC)
	var msgs []memkernel.Message
	for i := range calls {
		at = at.Add(20 * time.Second)
		msgs = append(msgs, memkernel.Message{Key: fmt.Sprint("u", i), Role: memkernel.RoleUser, Time: at, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: fmt.Sprint("Note ", i)}}},
			memkernel.Message{Key: fmt.Sprint("a", i), Role: memkernel.RoleAssistant, Time: at, Model: longturns.Model, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "Noted."}},
				Usage: &memkernel.Usage{InputTokens: 3, CacheReadTokens: 20_000 + i*37%120_000, CacheWrite5mTokens: 500 + i%700, OutputTokens: 300}})
	}
	if _, err := k.ObserveTurn(tb.Context(), api.Turn{SessionKey: "long", Model: longturns.Model, Private: true, Messages: msgs, Now: at}); err != nil {
		tb.Fatal(err)
	}
	return workspace
}

// BenchmarkWindow opens the page of a session as a browser does, and then looks closer and
// goes down its list: how many requests that takes, what goes over the wire, and how long the
// server works. It takes the same at fifty thousand calls as at five thousand, but for reading
// the bills.
func BenchmarkWindow(b *testing.B) {
	for _, calls := range []int{500, 5_000, 50_000} {
		b.Run(fmt.Sprintf("calls=%d", calls), func(b *testing.B) {
			k, err := kernel.Open(b.Context(), billedSession(b, calls), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer k.Close()
			s, err := ui.Listen("127.0.0.1:0", ui.Options{Kernel: k, Prices: cachelayout.DefaultBook(), Transcripts: func() []string { return nil }})
			if err != nil {
				b.Fatal(err)
			}
			ctx, stop := context.WithCancel(b.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.Serve(ctx) }()
			defer func() {
				stop()
				<-ended
			}()
			base, token, _ := strings.Cut(s.Link(), "/#token=")
			req, err := http.NewRequest(http.MethodPost, base+"/enter", strings.NewReader(`{"token":"`+token+`"}`))
			if err != nil {
				b.Fatal(err)
			}
			req.Header.Set("Origin", base)
			res, err := http.DefaultClient.Do(req)
			if err != nil || len(res.Cookies()) != 1 {
				b.Fatal(err)
			}
			cookie := res.Cookies()[0]
			var sent, requests int
			get := func(path string) []byte {
				req, err := http.NewRequest(http.MethodGet, base+path, nil)
				if err != nil {
					b.Fatal(err)
				}
				req.AddCookie(cookie)
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				defer res.Body.Close()
				data, err := io.ReadAll(res.Body)
				if err != nil || res.StatusCode != http.StatusOK {
					b.Fatal(path, res.Status, err)
				}
				sent, requests = sent+len(data), requests+1
				return data
			}
			res, err = (&http.Client{}).Do(func() *http.Request {
				r, _ := http.NewRequest(http.MethodGet, base+"/api/sessions", nil) // it can be meant
				r.AddCookie(cookie)
				return r
			}())
			if err != nil {
				b.Fatal(err)
			}
			var list struct{ Sessions []struct{ ID string } }
			if err := json.NewDecoder(res.Body).Decode(&list); err != nil || len(list.Sessions) != 1 {
				b.Fatal(err, list)
			}
			res.Body.Close()
			id := list.Sessions[0].ID
			var doc struct{ Calls int }
			if err := json.Unmarshal(get("/api/timeline?session="+id), &doc); err != nil || doc.Calls != calls {
				b.Fatal(err, doc.Calls)
			}
			b.ResetTimer()
			for range b.N {
				sent, requests = 0, 0
				for _, path := range []string{"/s/" + id + "/numbers", "/assets/app.css", "/assets/app.js", "/assets/lib.js", "/assets/session.js", "/assets/charts.js", "/assets/icon.svg",
					"/api/session?session=" + id, "/api/timeline?points=640&session=" + id, "/api/timeline?from=1&to=100&points=100&session=" + id,
					fmt.Sprintf("/api/timeline?from=%d&to=%d&points=640&session=%s", calls/2, calls/2+200, id), fmt.Sprintf("/api/timeline?from=%d&to=%d&points=100&session=%s", calls-99, calls, id)} {
					get(path)
				}
			}
			b.ReportMetric(float64(sent)/1024, "kB")
			b.ReportMetric(float64(requests), "requests")
		})
	}
}
