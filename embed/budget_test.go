package embed

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

func TestBudget(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	now := time.Date(2026, 3, 9, 22, 30, 0, 0, time.UTC) // 23:30 there
	path := filepath.Join(t.TempDir(), "state", "budget.json")
	b := NewBudget(path, 100, berlin, func() time.Time { return now })
	spend := func(tokens int) string {
		t.Helper()
		day, err := b.take(tokens)
		if err != nil {
			t.Fatal(err)
		}
		return day
	}
	check := func(want int) {
		t.Helper()
		if n, of, err := NewBudget(path, 100, berlin, b.now).Spent(); n != want || of != 100 || err != nil {
			t.Errorf("%d of %d, %v; want %d", n, of, err, want)
		}
	}
	check(0)
	if err := b.settle(spend(60), 60, 50); err != nil {
		t.Error(err)
	}
	check(50)
	day := spend(50)
	_, err = b.take(1)
	var e *Error
	if !errors.Is(err, ErrBudget) || !errors.As(err, &e) || e.transient || !strings.Contains(err.Error(), "100 of 100 were sent on 2026-03-09") || !strings.Contains(e.Hint, "Europe/Berlin") {
		t.Errorf("got %v", err)
	}
	now = now.Add(time.Hour) // past midnight there, not yet in UTC
	check(0)
	if err := b.settle(day, 50, 10); err != nil { // yesterday's
		t.Error(err)
	}
	spend(30)
	check(30)
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.take(1); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "delete it") {
		t.Errorf("a damaged file: %v", err)
	}
}

// Several at a time never take more than there is.
func TestBudgetIsShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget.json")
	var wg sync.WaitGroup
	var mu sync.Mutex
	taken := 0
	for range 4 {
		b := NewBudget(path, 20, time.UTC, func() time.Time { return time.Unix(0, 0) })
		wg.Go(func() {
			for range 10 {
				if _, err := b.take(1); err == nil {
					mu.Lock()
					taken++
					mu.Unlock()
				} else if !errors.Is(err, ErrBudget) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if taken != 20 {
		t.Errorf("%d of 20 were taken", taken)
	}
}

// A request that the day has no tokens for is not sent, and counts what the server
// billed.
func TestRequestsKeepToTheBudget(t *testing.T) {
	s := serve(t, nil)
	b := NewBudget(filepath.Join(t.TempDir(), "budget.json"), 10, time.UTC, func() time.Time { return time.Unix(0, 0) })
	o := openAt(t, s.URL, func(c *Config) { c.Budget = b })
	if _, err := o.EmbedQuery(t.Context(), "a word or two"); err != nil {
		t.Fatal(err)
	}
	if n, _, err := b.Spent(); n != 7 || err != nil { // as billed
		t.Errorf("%d tokens, %v", n, err)
	}
	res, err := o.EmbedDocuments(t.Context(), []string{"this one is a good deal longer"})
	if !errors.Is(err, ErrBudget) || res.Requests != 0 || len(s.asked) != 1 {
		t.Errorf("%d requests, %v", len(s.asked), err)
	}
}

func TestGeminiDelay(t *testing.T) {
	for body, want := range map[string]time.Duration{
		`{"error":{"details":[{"retryDelay":"37s"}]}}`: 37 * time.Second,
		`{"retryDelay": "0.5s"}`:                       500 * time.Millisecond,
		`{"retryDelay":"soon"}`:                        0,
		``:                                             0,
	} {
		if got := retryDelay([]byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

// Whatever step of writing fails, what was counted before is kept, and nothing
// is allowed that was not written down.
func TestBudgetAtEveryFailure(t *testing.T) {
	broken := errors.New("broken")
	for fail := 1; ; fail++ {
		path := filepath.Join(t.TempDir(), "budget.json")
		b := NewBudget(path, 100, time.UTC, func() time.Time { return time.Unix(0, 0) })
		if _, err := b.take(30); err != nil {
			t.Fatal(err)
		}
		steps := 0
		restore := atomicfile.SetHook(func(string, string) error {
			if steps++; steps == fail {
				return broken
			}
			return nil
		})
		_, err := b.take(20)
		restore()
		n, _, rerr := b.Spent()
		if rerr != nil || err == nil && n != 50 || n != 30 && n != 50 {
			t.Fatalf("step %d: %d tokens, %v after %v", fail, n, rerr, err)
		}
		if steps < fail {
			if err != nil {
				t.Errorf("nothing failed, but %v", err)
			}
			return
		}
	}
}

// However little a day has, every day embeds what fits, in whatever order texts come,
// and what no day can have is reported by name and delays no other text.
func TestFillKeepsToTheDay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(4, 60).Draw(rt, "limit")
		day := time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)
		b := NewBudget(filepath.Join(t.TempDir(), "budget.json"), limit, time.UTC, func() time.Time { return day })
		o := openAt(t, "http://localhost:1/v1", func(c *Config) { c.Budget, c.BatchSize = b, rapid.IntRange(1, 20).Draw(rt, "batch") })
		sent := 0
		o.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			a := readAsked(t, r)
			for _, s := range a.Input {
				sent += EstimateTokens(s)
			}
			return response(r, 200, nil, strings.Replace(goodAnswer(a.Input), `"usage"`, `"ignored"`, 1)), nil
		})
		var all []string
		total, never := 0, 0
		for i := range rapid.IntRange(1, 30).Draw(rt, "texts") {
			s := fmt.Sprint(i, " ", strings.Repeat(rapid.SampledFrom([]string{"word ", "数据库", "Größe "}).Draw(rt, "script"), rapid.IntRange(1, 40).Draw(rt, "words")))
			if n := EstimateTokens(s); n > limit {
				never++
			} else {
				total += n
			}
			all = append(all, s)
		}
		st := newCorpus(all...)
		// At worst each day is half used: two texts that don't fit together take two days.
		for days := 0; ; days++ {
			sent = 0
			had := len(st.vectors)
			r, err := Fill(t.Context(), o, st.missing(), st.put, nil)
			if sent > limit {
				rt.Fatalf("%d tokens were sent on a day that has %d", sent, limit)
			}
			if r.Refused > 0 && (!errors.Is(r.RefusedErr, ErrNever) || !strings.Contains(r.RefusedErr.Error(), "raise daily_tokens to")) {
				rt.Fatalf("refused: %v", r.RefusedErr)
			}
			if err == nil {
				if r.Refused != never || len(st.vectors) != len(all)-never {
					rt.Fatalf("%d refused, %d embedded of %d, of which %d never can be", r.Refused, len(st.vectors), len(all), never)
				}
				break
			}
			if !errors.Is(err, ErrBudget) || len(st.vectors) == had {
				rt.Fatalf("day %d: %d texts have a vector as before: %v", days, had, err)
			}
			if days > 2*total/limit+2 {
				rt.Fatalf("after %d days %d of %d are embedded", days, len(st.vectors), len(all))
			}
			day = day.AddDate(0, 0, 1)
		}
	})
}
