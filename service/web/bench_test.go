package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/service/token"
)

// BenchmarkPlanAndObserve is a turn of about 100,000 tokens handed in whole, by the dispatcher
// alone and over HTTP.
func BenchmarkPlanAndObserve(b *testing.B) {
	var messages []map[string]any
	for i := range 200 {
		messages = append(messages, map[string]any{"role": "user", "content": fmt.Sprintf("question %d: %s", i, strings.Repeat("what does the harbour say of it ", 30))},
			map[string]any{"role": "assistant", "content": fmt.Sprintf("answer %d: %s", i, strings.Repeat("it says that all is well today ", 35))})
	}
	for _, way := range []string{"dispatcher", "http"} {
		b.Run(way, func(b *testing.B) {
			k, err := kernel.Open(b.Context(), b.TempDir(), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer k.Close()
			s := serve.New(k, nil)
			defer s.Stop(context.Background())
			tokens := token.In(store.Files(b.TempDir()))
			_, secret, err := tokens.Create(token.Rights{Access: token.Write}, time.Now())
			if err != nil {
				b.Fatal(err)
			}
			srv := httptest.NewServer(New(Options{Tokens: tokens, Server: func(context.Context, string) (*serve.Server, func(), error) { return s, func() {}, nil }}))
			defer srv.Close()
			call := func(method string, n, turn int, more string) {
				all, err := json.Marshal(messages[:n])
				if err != nil {
					b.Fatal(err)
				}
				body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"session_key":"s%d","model":"claude-sonnet-4-6","conversation":{"dialect":"anthropic","messages":%s}%s}}`, method, turn, all, more)
				b.SetBytes(int64(len(body)))
				if way == "dispatcher" {
					if r := s.Answer(b.Context(), []byte(body), serve.Caller{}); r.Error != nil {
						b.Fatal(r.Error)
					}
					return
				}
				r, err := http.NewRequest(http.MethodPost, srv.URL+"/rpc", strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+secret)
				r.Header.Set("Content-Type", "application/json")
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				var m struct{ Error *serve.Error }
				if err := json.NewDecoder(res.Body).Decode(&m); err != nil || m.Error != nil {
					b.Fatal(err, m.Error)
				}
				res.Body.Close()
			}
			b.ReportAllocs()
			turn := 0
			for b.Loop() {
				turn++
				call("plan", len(messages)-1, turn, "")
				call("observe_turn", len(messages), turn, "")
			}
		})
	}
}
