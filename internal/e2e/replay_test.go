package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/serve"
)

// recording is what went over the plugin's socket while it served calls that were
// recorded from the real host; the plugin's own tests make it.
const recording = "../../integrations/openclaw/testdata/rpc-2026.9.6.txt"

// rpc is a message of the protocol, as far as the replay needs it.
type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		AdvancementKey string `json:"advancement_key"`
		Prompt         string `json:"prompt"`
		Conversation   struct {
			Keep     *int              `json:"keep"`
			Messages []json.RawMessage `json:"messages"`
		} `json:"conversation"`
	} `json:"params"`
	Result struct {
		PlanID       string `json:"plan_id"`
		Generation   int    `json:"generation"`
		Outcome      string `json:"outcome"`
		Turns        int    `json:"turns"`
		Conversation struct {
			Base  string `json:"base"`
			Count int    `json:"count"`
		} `json:"conversation"`
		Faults []fault.Fault `json:"faults"`
		Items  []struct {
			Host     *[2]int         `json:"host"`
			Message  json.RawMessage `json:"message"`
			Replaces *[2]int         `json:"replaces"`
		} `json:"items"`
	} `json:"result"`
	Error json.RawMessage `json:"error"`
}

// server is a daemon's server on a pipe.
type server struct {
	t *testing.T
	c net.Conn
	r *bufio.Scanner
	// now are today's names of marks and plans that are in the recording.
	now map[string]string
}

func startServer(t *testing.T, workspace string) *server {
	t.Helper()
	k, err := kernel.Open(context.Background(), workspace, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := serve.New(k, &serve.Options{Workspace: workspace, Private: true})
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); s.ServeStream(theirs, theirs) }()
	t.Cleanup(func() {
		ours.Close()
		s.Stop(context.Background())
		<-done
		k.Close()
	})
	r := bufio.NewScanner(ours)
	r.Buffer(nil, 64<<20)
	return &server{t, ours, r, map[string]string{}}
}

// call sends a recorded line and gives the answer.
func (s *server) call(line string) rpc {
	s.t.Helper()
	for was, is := range s.now {
		line = strings.ReplaceAll(line, `"`+was+`"`, `"`+is+`"`)
	}
	if _, err := s.c.Write([]byte(line + "\n")); err != nil {
		s.t.Fatal(err)
	}
	if !s.r.Scan() {
		s.t.Fatal("the server hung up: ", s.r.Err())
	}
	return parse(s.t, s.r.Text())
}

func parse(t *testing.T, line string) rpc {
	t.Helper()
	var m rpc
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%v: %.200s", err, line)
	}
	return m
}

// exchange is a call and what was answered when it was recorded.
type exchange struct {
	line      string
	call, was rpc
}

func exchanges(t *testing.T) []exchange {
	t.Helper()
	b, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	var calls []exchange
	byID := map[string]int{}
	for line := range strings.Lines(string(b)) {
		who, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		m := parse(t, text)
		if who == "C" {
			byID[string(m.ID)] = len(calls)
			calls = append(calls, exchange{line: text, call: m})
		} else {
			calls[byID[string(m.ID)]].was = m
		}
	}
	if len(calls) == 0 {
		t.Fatalf("%s holds no calls", recording)
	}
	return calls
}

// replay makes all calls and gives the answers.
func (s *server) replay(calls []exchange) []rpc {
	s.t.Helper()
	var out []rpc
	for _, e := range calls {
		got := s.call(e.line)
		if got.Error != nil {
			s.t.Fatalf("%s: %s", e.call.Method, got.Error)
		}
		for was, is := range map[string]string{e.was.Result.PlanID: got.Result.PlanID, e.was.Result.Conversation.Base: got.Result.Conversation.Base} {
			if was != "" {
				s.now[was] = is
			}
		}
		out = append(out, got)
	}
	return out
}

// TestReplayOpenClaw: what the real host said to the daemon is answered as it was:
// every turn is committed, once, and each prompt holds the one before.
func TestReplayOpenClaw(t *testing.T) {
	calls := exchanges(t)
	workspace := t.TempDir()
	var host, before []string
	turns := 0
	for i, got := range startServer(t, workspace).replay(calls) {
		call, r := calls[i].call, got.Result
		if keep := call.Params.Conversation.Keep; keep != nil {
			host = host[:*keep]
		} else if call.Method != "start_session" {
			host = nil
		}
		for _, m := range call.Params.Conversation.Messages {
			host = append(host, string(m))
		}
		switch call.Method {
		case "plan":
			now := spelled(got, host, call.Params.Prompt)
			if len(before) > len(now) || !slices.Equal(before, now[:len(before)]) {
				t.Errorf("call %d: the prompt does not hold the one before\nwas %q\nis  %q", i, before, now)
			}
			before = now
			if r.Generation != 0 || len(r.Faults) > 0 {
				t.Errorf("call %d: generation %d, faults %v", i, r.Generation, r.Faults)
			}
		case "observe_turn":
			turns++
			if r.Outcome != "committed" || r.Turns != turns {
				t.Errorf("turn %d: %s, %d turns", turns, r.Outcome, r.Turns)
			}
		}
	}
	for i, got := range startServer(t, workspace).replay(calls) {
		if calls[i].call.Method == "observe_turn" && (got.Result.Outcome != "duplicate" || got.Result.Turns != turns) {
			t.Errorf("delivered again: %s, %d turns", got.Result.Outcome, got.Result.Turns)
		}
	}
}

// spelled are the messages of a plan as the plugin hands them to the host, without the
// prompt and what follows it.
func spelled(got rpc, host []string, prompt string) []string {
	var out []string
	for _, it := range got.Result.Items {
		switch {
		case it.Host != nil:
			out = append(out, host[it.Host[0]:it.Host[1]]...)
		case it.Replaces != nil:
			out = append(out, host[it.Replaces[0]:it.Replaces[1]]...)
		case strings.Contains(string(it.Message), mustJSON(prompt)):
			return out
		default:
			out = append(out, string(it.Message))
		}
	}
	return out
}

func mustJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always can
	}
	return string(b)
}
