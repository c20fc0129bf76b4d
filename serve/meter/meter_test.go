package meter

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"encoding/json"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve/proxy"
)

const model = "claude-sonnet-4-6"

// talk holds a conversation with an API, marking the end of each request, and returns what
// its server billed.
func talk(t *testing.T, url string, server *fakemodel.Server, turns, size int) (usd float64) {
	t.Helper()
	var messages []any
	for n := range turns {
		text := strings.Repeat("The harbour master wrote down what came in. ", size/44+1)
		messages = append(messages, map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": text, "cache_control": map[string]string{"type": "ephemeral"}}}})
		body, err := json.Marshal(map[string]any{"model": model, "max_tokens": 100, "system": "You are a tester.", "messages": messages,
			"tools": []any{map[string]any{"name": "Read", "description": strings.Repeat("reads ", 600), "input_schema": map[string]string{"type": "object"}}}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.Post(url+"/v1/messages", "application/json", strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		text2, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("turn %d: %s %s", n, res.Status, text2)
		}
		messages[len(messages)-1] = map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": text}}}
		messages = append(messages, map[string]any{"role": "assistant", "content": "ok"})
	}
	price, _ := cachelayout.DefaultBook().Lookup(model, time.Now())
	for _, r := range server.Requests() {
		u := r.Usage
		usd += *price.Cost(u.Read, u.Written, 0, u.Uncached, u.Output)
	}
	return usd
}

// Without a cut, what it would have cost without is what it costs without: the same
// conversation, held with the model itself.
func TestEstimateIsWhatTheClientPays(t *testing.T) {
	direct := fakemodel.New(fakemodel.Options{})
	h := httptest.NewServer(direct)
	defer h.Close()
	want := talk(t, h.URL, direct, 12, 4_000)

	behind := fakemodel.New(fakemodel.Options{})
	up := httptest.NewServer(behind)
	defer up.Close()
	k, err := kernel.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	state := store.Files(t.TempDir())
	m := New(cachelayout.DefaultBook(), 0, state, "client", time.Now())
	defer m.Close()
	x, err := proxy.New(k, proxy.Options{Upstream: up.URL, Private: true, Billed: m.Take})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(x)
	defer front.Close()
	billed := talk(t, front.URL, behind, 12, 4_000)
	if err := x.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	sum, err := m.Sum()
	if err != nil {
		t.Fatal(err)
	}
	if sum.Calls != 12 || sum.Estimated != 12 || math.Abs(sum.BilledUSD-billed) > 1e-9 {
		t.Errorf("%+v, billed %.5f", sum, billed)
	}
	if math.Abs(sum.WithoutUSD-want) > 0.1*want {
		t.Errorf("without is %.5f by the estimate and %.5f by the model", sum.WithoutUSD, want)
	}
	runs, err := Runs(state, time.Time{})
	if err != nil || len(runs) != 1 || runs[0].Sum != sum || runs[0].Command != "client" {
		t.Errorf("%+v, %v", runs, err)
	}
}

// What can't be priced or estimated is counted as what it is, and what can't be read is named.
func TestOddCalls(t *testing.T) {
	dir := t.TempDir()
	state := store.Files(dir)
	m := New(cachelayout.DefaultBook(), 0, state, "", time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC))
	at := time.Date(2026, 11, 3, 9, 0, 1, 0, time.UTC)
	m.Take(proxy.Billed{Model: "nobody-knows-1", Usage: memkernel.Usage{InputTokens: 10}, Began: at})
	m.Take(proxy.Billed{Model: model, Usage: memkernel.Usage{InputTokens: 1_000_000}, Began: at})
	sum, err := m.Sum()
	if err != nil || sum.Unpriced != 1 || sum.Calls != 2 || sum.BilledUSD != sum.WithoutUSD || sum.BilledUSD == 0 || sum.Saved() != 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	if err := os.WriteFile(filepath.Join(dir, folder, "torn.json"), []byte(`{"calls":`), 0o600); err != nil {
		t.Fatal(err)
	}
	runs, err := Runs(state, time.Time{})
	if err == nil || !strings.Contains(err.Error(), "torn.json") || len(runs) != 1 {
		t.Errorf("%+v, %v", runs, err)
	}
	if days, all := Days(runs, time.UTC); len(days) != 1 || days[0].Name != "2026-11-03" || all != sum {
		t.Errorf("%+v, %+v", days, all)
	}
	if runs, err := Runs(store.Files(t.TempDir()), time.Time{}); runs != nil || err != nil {
		t.Errorf("of nothing: %+v, %v", runs, err)
	}
}
