package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/proxy"
)

// compacting answers calls with ok and requests for a compaction with compacted.
func compacting(ok, compacted string, status int) *recorder {
	up := &recorder{}
	up.answer = func(w http.ResponseWriter, r *http.Request) {
		body, _ := up.last()
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/compact") || strings.Contains(body, `"compaction":{"type":"summarize"}`) && r.Header.Get("Anthropic-Beta") == "other-beta,compact-2026-09-04" {
			w.WriteHeader(status)
			io.WriteString(w, compacted)
			return
		}
		io.WriteString(w, ok)
	}
	return up
}

const (
	anthropicBlock  = `{"type":"compaction","content":"<summary>tides & berths</summary>","encrypted_content":"b3BhcXVl/w=="}`
	responsesBlock  = `{"id":"cmp_1","type":"compaction","encrypted_content":"b3BhcXVl/w=="}`
	responsesSaid   = `{"type":"message","role":"user","content":[{"type":"input_text","text":"read table 0"}]}`
	anthropicAnswer = `{"id":"m2","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[` + anthropicBlock + `],"stop_reason":"compaction","usage":{"input_tokens":20000,"output_tokens":700}}`
	responsesAnswer = `{"id":"resp_2","object":"response.compaction","output":[` + responsesSaid + `,` + responsesBlock + `],"usage":{"input_tokens":20000,"output_tokens":700,"total_tokens":20700}}`
)

// harbour posts turns that each read a table until n are done, and returns the bodies that went
// upstream as calls.
func (s *stage) harbour(a clientAPI, up *recorder, msgs *[]string, from, n int) (calls []string) {
	for i := from; i < from+n; i++ {
		id := fmt.Sprint("c", i)
		*msgs = append(*msgs, a.user(fmt.Sprint("read table ", i)), a.call(id, fmt.Sprint("cat table", i)), a.result(id, big(fmt.Sprint("t", i), 1500)), a.said(fmt.Sprint("read ", i)), a.user(fmt.Sprint("and then ", i, "?")))
		at := up.count()
		s.post(a.path, a.body(*msgs, false), "Anthropic-Beta", "other-beta").planned(s.t)
		s.settle()
		calls = append(calls, up.body(at))
		*msgs = append(*msgs, a.said(fmt.Sprint("done ", i)))
	}
	return calls
}

func (c *recorder) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.bodies)
}

func (c *recorder) body(i int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bodies[i]
}

// Where a cut is near the provider is asked for its compaction with what it holds in its cache;
// from then on the prompt begins with it, then with what the kernel knows, and stays so, in a
// process that begins anew, too.
func TestProviderCompaction(t *testing.T) {
	for _, tt := range []struct {
		api               clientAPI
		ok, answer, shown string
		call              func(body string) bool
	}{
		{anthropic, anthropicOK, anthropicAnswer, `[{"role":"assistant","content":[` + anthropicBlock + `]},`, func(b string) bool { return strings.Contains(b, `"compaction":{"type":"summarize"}`) }},
		{responses, responsesOK, responsesAnswer, `[` + responsesSaid + `,` + responsesBlock + `,`, func(b string) bool { return !strings.Contains(b, `"store"`) }},
	} {
		t.Run(tt.api.path, func(t *testing.T) {
			up := compacting(tt.ok, tt.answer, http.StatusOK)
			opt := proxy.Options{ContextWindow: 48_000, Resolver: "Bash", ProviderCompaction: true}
			s := newStage(t, fakemodel.Options{}, opt, up)
			var msgs, calls []string
			asked := -1
			for n := 0; asked < 0 && n < 30; n++ {
				calls = append(calls, s.harbour(tt.api, up, &msgs, n, 1)...)
				for i := range up.count() {
					if tt.call(up.body(i)) {
						asked = i
					}
				}
			}
			if asked < 0 || !strings.Contains(s.log.String(), "compacted by the provider") {
				t.Fatalf("no compaction: %s", s.log.String())
			}
			n := len(calls)
			if got, want := tables(up.body(asked)), tables(calls[n-1]); got != want || strings.Contains(up.body(asked), fmt.Sprint("and then ", n-1)) {
				t.Errorf("compaction of tables %s, %s went out", got, want)
			}
			after := s.harbour(tt.api, up, &msgs, n, 2)
			at := strings.Index(after[0], tt.shown)
			if at < 0 || !strings.Contains(after[0][at:], "[SESSION_SUMMARY") || strings.Contains(after[0], "t0/file001.go:7") || !strings.Contains(after[0], fmt.Sprint("t", n, "/file001.go:7")) {
				t.Fatalf("the prompt does not begin with the compaction: %.3000s", after[0])
			}
			s.k.Close()
			var err error
			if s.k, err = kernel.Open(context.Background(), s.dir, nil); err != nil {
				t.Fatal(err)
			}
			s.start(s.k, opt)
			after = append(after, s.harbour(tt.api, up, &msgs, n+2, 1)...)
			for i := range after[:len(after)-1] {
				if p := common(unmarked(after[i]), unmarked(after[i+1])); p < len(unmarked(after[i]))-20 {
					t.Errorf("call %d goes on from the one before for %d of %d bytes", i+1, p, len(after[i]))
				}
			}
			up.answer = answering(tt.ok).answer // no compaction any more
			after = s.harbour(tt.api, up, &msgs, n+3, 16)
			if cuts := s.log.String(); !strings.Contains(cuts, "cut=high_water") && !strings.Contains(cuts, "cut=forced") {
				t.Fatal("no cut of the kernel's own")
			}
			if last := after[len(after)-1]; !strings.Contains(last, tt.shown) {
				t.Errorf("the kernel's own cut took the compaction out: %.2000s", last)
			}
		})
	}
}

// A compaction is no longer shown once the client takes back what it covers, or a person has that forgotten.
func TestProviderCompactionEnds(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, s *stage, up *recorder, msgs []string, last string) string{
		"taken back": func(_ *testing.T, s *stage, up *recorder, msgs []string, _ string) string {
			back := append(slices.Clone(msgs[:6]), anthropic.user("go back to table 0"))
			return s.harbour(anthropic, up, &back, 90, 1)[0]
		},
		"forgotten": func(t *testing.T, s *stage, up *recorder, msgs []string, last string) string {
			span := regexp.MustCompile(`sp-[0-9a-f]+`).FindString(last)
			st, err := s.k.Status(context.Background(), nil)
			if err != nil || span == "" || len(st.Sessions) != 1 {
				t.Fatalf("span %q, sessions %+v: %v", span, st, err)
			}
			if _, err := s.k.Forget(context.Background(), api.ForgetRequest{SessionKey: st.Sessions[0].Key, IDs: []string{span}, Apply: true}); err != nil {
				t.Fatal(err)
			}
			return s.harbour(anthropic, up, &msgs, 91, 1)[0]
		},
	} {
		t.Run(name, func(t *testing.T) {
			up := compacting(anthropicOK, anthropicAnswer, http.StatusOK)
			s := newStage(t, fakemodel.Options{}, proxy.Options{ContextWindow: 48_000, Resolver: "Bash", ProviderCompaction: true}, up)
			var msgs []string
			last := ""
			for n := 0; !strings.Contains(last, anthropicBlock) && n < 30; n++ {
				last = s.harbour(anthropic, up, &msgs, n, 1)[0]
			}
			if !strings.Contains(last, anthropicBlock) {
				t.Fatal("no compaction is shown")
			}
			up.answer = answering(anthropicOK).answer // no other compaction
			if got := end(t, s, up, msgs, last); strings.Contains(got, anthropicBlock) {
				t.Errorf("the compaction is still shown: %.2000s", got)
			}
		})
	}
}

// tables names the tables that a body holds in full.
func tables(body string) string {
	return fmt.Sprint(regexp.MustCompile(`t[0-9]+/file001.go:7`).FindAllString(body, -1))
}

// unmarked takes the cache markers out of a body.
func unmarked(body string) string {
	body = regexp.MustCompile(`,"cache_control":{[^}]*}`).ReplaceAllString(body, "")
	// A text that had a marker is in a list, and the same to a model.
	return regexp.MustCompile(`"content":\[{"type":"text","text":("(?:[^"\\]|\\.)*")}\]`).ReplaceAllString(body, `"content":$1`)
}

// common counts the bytes with which two texts begin alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// A provider that does not compact, or one whose compaction holds a secret, leaves the cut to the
// kernel.
func TestProviderCompactionFails(t *testing.T) {
	secret := strings.Replace(anthropicAnswer, "tides & berths", "the key is sk-ant-api03-"+strings.Repeat("aB3x_9Zq", 12)+"AA", 1)
	for name, tt := range map[string]struct {
		answer string
		status int
	}{
		"refused": {`{"type":"error","error":{"type":"invalid_request_error","message":"unknown member"}}`, http.StatusBadRequest},
		"none":    {anthropicOK, http.StatusOK},
		"secret":  {secret, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			up := compacting(anthropicOK, tt.answer, tt.status)
			s := newStage(t, fakemodel.Options{}, proxy.Options{ContextWindow: 32_000, Resolver: "Bash", ProviderCompaction: true}, up)
			var msgs []string
			s.harbour(anthropic, up, &msgs, 0, 12)
			log := s.log.String()
			if n := strings.Count(log, "the provider's compaction is not used"); n == 0 || strings.Count(log, "cut=forced")+strings.Count(log, "cut=high_water") < n || strings.Contains(log, "aB3x_9Zq") {
				t.Errorf("%d tries: %s", n, log)
			}
			if last, _ := up.last(); strings.Contains(last, anthropicBlock[:20]) {
				t.Error("a compaction was sent")
			}
		})
	}
}
