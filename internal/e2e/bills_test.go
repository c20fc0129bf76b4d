package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/transcript"
)

// lengths are the sessions of which TestBills makes each host's bill: how many have how many
// turns at most. Before the last turn of the longest there is a pause.
var lengths = []struct{ turns, sessions int }{{1, 10}, {10, 6}, {60, 4}}

// pause is longer than the five minutes for which providers keep a prefix.
const pause = 310 * time.Second

// heard is a turn of a recorded session.
type heard struct {
	// prompt is what the user typed.
	prompt string
	// results are what its calls returned, in order.
	results []printed
}

// printed is a recorded result, as the file that a command prints.
type printed struct{ name, text string }

// hear reads a session's turns that have a call.
func hear(t *testing.T, path string) (out []heard) {
	s, err := transcript.LoadFile(path, &transcript.Options{SkipBroken: true})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, m := range s.Messages {
		if own, _ := transcript.Typed(m); strings.TrimSpace(own) != "" && transcript.PlainUser(m) {
			out = append(out, heard{prompt: own})
		}
		for i := range m.Parts {
			p := &m.Parts[i]
			if p.Call != nil {
				names[p.Call.ID] = fileOf(p.Call)
			}
			if p.Result == nil || len(out) == 0 {
				continue
			}
			text := transcript.Text(memkernel.Message{Parts: p.Result.Content})
			if name := names[p.Result.CallID]; strings.TrimSpace(text) != "" {
				last := &out[len(out)-1]
				last.results = append(last.results, printed{name, text})
			}
		}
	}
	return slices.DeleteFunc(out, func(h heard) bool { return len(h.results) == 0 })
}

// fileOf is the name of the file that a call is about, or one for what a command printed.
func fileOf(c *memkernel.ToolCall) string {
	var in struct {
		Path string `json:"file_path"`
	}
	if json.Unmarshal([]byte(c.Input), &in) == nil && in.Path != "" {
		return filepath.Base(in.Path)
	}
	return "output.txt"
}

// retold is the model of a recorded session: in each turn it prints the results that were
// recorded there one by one, and then answers.
type retold struct {
	turns []heard
	calls map[string]int
	// heard is the mark of the newest turn. A host that compacts within a turn leaves the mark out,
	// and goes on with the turn.
	heard string
}

func (r *retold) answer(t fakemodel.Turn) fakemodel.Reply {
	words := cmp.Or(turnOf(t.Request), r.heard)
	if len(t.Tools) == 0 || words == "" {
		return fakemodel.Reply{Text: "The harbour's report"}
	}
	r.heard = words
	n, _ := strconv.Atoi(strings.TrimPrefix(words, "mark-"))
	if made := r.calls[words]; made < len(r.turns[n].results) {
		if c, ok := runCall(t.Tools, n, made, "cat "+retoldFile(n, made, r.turns[n].results[made].name)); ok {
			r.calls[words]++
			return fakemodel.Reply{Text: "next", Calls: []fakemodel.Call{c}}
		}
	}
	return fakemodel.Reply{Text: "done: " + words}
}

func retoldFile(turn, call int, name string) string {
	return fmt.Sprintf("'out/%d-%d/%s'", turn, call, strings.ReplaceAll(name, "'", "_"))
}

// onDefault is a host on the model that it asks for by itself, whose reasoning is bound to its
// prefix if it is one of Anthropic's or OpenAI's.
func onDefault(h cli) cli {
	h.bound = true
	h.env = slices.DeleteFunc(slices.Clone(h.env), func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_MODEL=") })
	files := map[string]string{}
	for path, text := range h.files {
		files[path] = strings.TrimPrefix(text, "model = \"gpt-5.5\"\n")
	}
	h.files = files
	for _, args := range []*[]string{&h.first, &h.next} {
		if at := slices.Index(*args, "gemini-2.5-pro"); at > 0 {
			*args = slices.Concat((*args)[:at-1], (*args)[at+1:])
		}
	}
	return h
}

// TestBills makes the bill of recorded sessions for each host on its default model, with
// memkernel and without: the sessions of the folder MEMKERNEL_E2E_SESSIONS, by name, as many and
// as long as lengths says; MEMKERNEL_E2E_LENGTHS=3,2,0 takes fewer of each. Both runs of a session
// are at the same time, so that they meet the same pauses.
func TestBills(t *testing.T) {
	folder := os.Getenv("MEMKERNEL_E2E_SESSIONS")
	if folder == "" {
		t.Skip("the bills of recorded sessions are made where MEMKERNEL_E2E_SESSIONS names a folder of them")
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all [][]heard
	for _, p := range paths {
		if turns := hear(t, p); len(turns) > 0 {
			all = append(all, turns)
		}
	}
	lengths := slices.Clone(lengths)
	for i, n := range strings.Split(os.Getenv("MEMKERNEL_E2E_LENGTHS"), ",") {
		if most, err := strconv.Atoi(n); err == nil && i < len(lengths) {
			lengths[i].sessions = most
		}
	}
	binary := builtOnce(t)
	for i := range clis {
		h := onDefault(clis[i])
		t.Run(h.name, func(t *testing.T) {
			dir, node := installNode(t)
			path, version := install(t, dir, h.name, h.pkg, filepath.Join(".bin", h.program), pathWith(node))
			left := all
			for _, l := range lengths {
				var sum bills
				for range l.sessions {
					var turns []heard
					for len(turns) < l.turns && len(left) > 0 {
						turns, left = append(turns, left[0]...), left[1:]
						if l.turns < 60 {
							break
						}
					}
					if len(turns) == 0 {
						t.Logf("the folder has too few sessions for %d of %d turns", l.sessions, l.turns)
						break
					}
					if b, ok := retell(t, &h, binary, path, node, turns[:min(len(turns), l.turns)]); ok {
						sum.add(b)
					}
				}
				if len(sum.Each) > 0 {
					t.Logf("%s %s, %d sessions of at most %d turns: %s", h.title, version, len(sum.Each), l.turns, sum)
				}
			}
		})
	}
}

// bills are those of sessions with memkernel and without, in dollars.
type bills struct {
	With, Without float64
	Requests      int
	Models        []string
	// Each is what each session's bill is more or less, in percent.
	Each []float64
}

func (b *bills) add(o bills) {
	b.With, b.Without, b.Requests = b.With+o.With, b.Without+o.Without, b.Requests+o.Requests
	b.Each = append(b.Each, 100*(o.With/o.Without-1))
	for _, m := range o.Models {
		if !slices.Contains(b.Models, m) {
			b.Models = append(b.Models, m)
		}
	}
}

func (b bills) String() string {
	return fmt.Sprintf("%d requests of %v, $%.3f with, $%.3f without, %+.1f %%; each %+.1f", b.Requests, b.Models, b.With, b.Without, 100*(b.With/b.Without-1), b.Each)
}

// retell talks a recorded session twice. ok is false if the host did not reach its end both times.
func retell(t *testing.T, h *cli, binary, path, node string, turns []heard) (out bills, ok bool) {
	var both sync.WaitGroup
	stands := map[bool]*stand{}
	var failed atomic.Bool
	for _, with := range []bool{true, false} {
		r := &retold{turns: turns, calls: map[string]int{}}
		s := newStand(t, h, binary, path, node, with, fakemodel.Options{Script: r.answer, NoBodies: true})
		most := 0
		for n, turn := range turns {
			most = max(most, len(turn.results))
			for k, res := range turn.results {
				write(t, filepath.Join(s.project, strings.Trim(retoldFile(n, k, res.name), "'")), res.text)
			}
		}
		s.within += time.Duration(most) * 10 * time.Second
		stands[with] = s
		both.Go(func() {
			if err := s.retell(with, turns); err != nil {
				t.Error(err)
				failed.Store(true)
			}
		})
	}
	both.Wait()
	with, without := stands[true].model.Requests(), stands[false].model.Requests()
	if own := len(stands[false].model.Violations()); len(stands[true].model.Violations()) > own {
		t.Errorf("requests broke a rule: %d without memkernel, and with it %+v", own, stands[true].model.Violations())
	}
	t.Logf("%d turns, with memkernel %s; proxy: %+v", len(turns), ledger(with), stands[true].proxied)
	t.Logf("%d turns, without        %s", len(turns), ledger(without))
	out = bills{With: bill(with), Without: bill(without), Requests: len(with)}
	for _, r := range with {
		if !slices.Contains(out.Models, r.Model) {
			out.Models = append(out.Models, r.Model)
		}
	}
	return out, !failed.Load()
}

// retell sets the host up and has it told all turns.
func (s *stand) retell(with bool, turns []heard) error {
	to := s.url
	if with && !s.h.direct {
		s.listen = fmt.Sprintf("127.0.0.1:%d", freePort(s.t))
		to = "http://" + s.listen
	}
	s.put(s.h.files, to)
	if s.h.once != nil {
		if out, err := s.host(to, s.h.once, ""); err != nil {
			return fmt.Errorf("%v: %w\n%s", s.h.once, err, tail(out, 20))
		}
	}
	if with {
		byHand(s.t, s.home, s.memkernel("init", "--yes", "--json", "--host", s.h.name))
		s.put(s.h.ours, to)
		if !s.h.direct {
			s.startProxy()
		}
	}
	for n, turn := range turns {
		if n > 0 && n == len(turns)-1 && len(turns) > 10 {
			time.Sleep(pause)
		}
		args := s.h.next
		if n == 0 {
			args = s.h.first
		}
		said := []byte(turn.prompt)
		words := fmt.Sprintf("mark-%03d %s", n, bytes.ToValidUTF8(said[:min(len(said), 4000)], nil))
		out, err := s.host(to, args, words)
		if want := fmt.Sprintf("done: mark-%03d", n); err == nil && !strings.Contains(out, want) {
			err = fmt.Errorf("the answer does not hold %q", want)
		}
		if err != nil {
			return fmt.Errorf("turn %d of %s, memkernel %v: %w\n%s", n, s.h.title, with, err, tail(out, 30))
		}
	}
	if s.h.end != nil {
		s.host(to, s.h.end, "")
	}
	if with {
		s.stopProxy()
		s.killDaemon()
		settle(s.t, s.binary)
	}
	return nil
}
