package rows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// host has a conversation in a session, or writes to the workspace.
type host struct {
	s     *simulation
	key   string
	rng   *rand.Rand
	msgs  []memkernel.Message
	now   time.Time
	clock bool // the machines' clocks count, not the host's
	done  bool

	turns    int
	acked    []acked // the turns, in order
	last     *api.ContextPlan
	forgets  int     // the simulation's, when last was asked for
	pointers []acked // of prompts
	// scratches is how often a plan of its scratch session was recorded.
	scratches int
}

// acked is something that was acknowledged. Its age is the number of takeovers that were complete.
type acked struct {
	what string
	age  int
}

const simModel = "claude-opus-4-5"

func words(s string) []memkernel.Part { return []memkernel.Part{{Kind: memkernel.PartText, Text: s}} }

func (h *host) say(role memkernel.Role, parts ...memkernel.Part) {
	h.now = h.now.Add(20 * time.Second)
	h.msgs = append(h.msgs, memkernel.Message{Key: fmt.Sprintf("%s%03d", h.key, len(h.msgs)), Role: role, Parts: parts, Time: h.now, Model: simModel})
}

// work calls a tool, whose result has some bytes at least.
func (h *host) work(size int) {
	id := fmt.Sprint("call_", len(h.msgs))
	h.say(memkernel.RoleAssistant, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: "Read", Input: fmt.Sprintf(`{"file_path":"pkg/worker_%d.go"}`, h.rng.IntN(9))}})
	var b strings.Builder
	for size += h.rng.IntN(6000); b.Len() < size; {
		fmt.Fprintf(&b, "func (w *Worker) step%d(ctx context.Context) error { // of %s\n", h.rng.IntN(1000), h.key)
	}
	h.say(memkernel.RoleUser, memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id, Content: words(b.String()), Text: true}})
}

// talk is the conversation.
func (h *host) talk(turns int) {
	h.now = time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	for i := range turns {
		h.say(memkernel.RoleUser, words(fmt.Sprintf("Make the retry test of worker %d pass, please.", i)+h.recallsLine(i))...)
		if h.s.recalls && h.rng.IntN(2) == 0 {
			h.search()
		}
		for range 1 + h.rng.IntN(2) {
			h.plan()
			h.work(500)
		}
		p := h.plan()
		h.say(memkernel.RoleAssistant, words("It retries now, and the test passes.")...)
		h.observe(i, p)
		switch h.rng.IntN(6) {
		case 0:
			b := h.boundary()
			b.Key, b.Compact = fmt.Sprint(h.key, "-c", i), &api.CompactWish{Share: 0.4}
			h.deliver("compaction "+b.Key, func(ctx context.Context, mc *machine) (func(), error) {
				_, err := mc.k.Compact(ctx, b)
				return nil, err
			})
		case 1:
			b := h.boundary()
			h.deliver("checkpoint", func(ctx context.Context, mc *machine) (func(), error) {
				_, err := mc.k.Checkpoint(ctx, b)
				return nil, err
			})
		case 2:
			h.scratch(i)
		}
		h.turns++
	}
}

func (h *host) boundary() api.Boundary {
	b := api.Boundary{SessionKey: h.key, Model: simModel, Messages: slices.Clone(h.msgs), Private: h.s.recalls}
	if !h.clock {
		b.Now = h.now
	}
	return b
}

// scratch shows the conversation in another session, which is forgotten while the conversation
// goes on: contents that were removed with that session are written again.
func (h *host) scratch(i int) {
	s := h.s
	h.work(4500) // a blob
	req := h.request()
	req.SessionKey = "scratch-" + h.key
	h.deliver("plan of "+req.SessionKey, func(ctx context.Context, mc *machine) (func(), error) {
		p, err := mc.k.PlanContext(ctx, req)
		return func() {
			if p.ID != "" { // otherwise it was not recorded
				h.scratches++
			}
		}, err
	})
	s.mu.Lock()
	mc := s.machines[h.rng.IntN(len(s.machines))]
	s.calls++
	s.mu.Unlock()
	s.note(h.key, "forget "+req.SessionKey+" to "+mc.name)
	on := time.Duration(1 + h.rng.IntN(1_000_000))
	go func() {
		for range 3 {
			time.Sleep(on)
			err := h.forgetScratch(mc)
			s.note(h.key, fmt.Sprintf("forget %s: %v", req.SessionKey, err))
			if err == nil {
				break
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls--
	}()
	for before, most := s.times("takes a lock"), h.rng.IntN(100); most > 0 && s.times("takes a lock") == before; most-- { // until it removes blobs
		time.Sleep(time.Duration(1 + h.rng.IntN(500_000)))
	}
}

func (h *host) forgetScratch(mc *machine) error {
	f, err := mc.k.Forget(context.Background(), api.ForgetRequest{SessionKey: "scratch-" + h.key, Session: true, Apply: true})
	if err == nil {
		h.s.count("blobs are forgotten", len(f.Blobs))
	}
	return err
}

func (h *host) request() api.PlanRequest {
	r := api.PlanRequest{SessionKey: h.key, Model: simModel, ContextWindow: 16_000, Reserve: 3000, Messages: slices.Clone(h.msgs), Now: h.now.Add(time.Second), Resolver: "memory_get", Private: h.s.recalls}
	if h.clock {
		r.Now = time.Time{}
	}
	return r
}

func (h *host) plan() *api.ContextPlan {
	req, began, age, known := h.request(), h.s.forgotten(), h.s.age(), h.s.known()
	var got *api.ContextPlan
	h.deliver(fmt.Sprint("plan of ", len(req.Messages), " messages"), func(ctx context.Context, mc *machine) (func(), error) {
		before := h.s.age()
		p, err := mc.k.PlanContext(ctx, req)
		if err != nil {
			return nil, err
		}
		if p.ID == "" { // it could not be recorded, so what it names may be missing
			if len(p.Faults)+len(p.Alerts) == 0 {
				h.s.fault("%s: a plan without a record says nothing of it", h.key)
			}
			return nil, nil
		}
		for _, r := range p.Reduced[max(0, len(p.Reduced)-2):] {
			c, err := mc.k.Get(ctx, h.key, r.Handle)
			if err == nil && c.Reason != api.GetOK && c.Reason != api.GetBackendError && !h.s.split() && h.s.age() == before { // so that no other server was asked
				h.s.fault("%s: plan %s names %s, and it is %s", h.key, p.ID, r.Handle, c.Reason)
			}
		}
		return func() { got = p }, nil
	})
	if got == nil {
		return nil
	}
	h.compare(got, began, age)
	if last := req.Messages[len(req.Messages)-1]; last.Parts[0].Kind == memkernel.PartText && h.s.recalls {
		h.checkShown(got, known)
	}
	return got
}

// forgotten is how often the server has forgotten something.
func (s *simulation) forgotten() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.split() { // each plan may be another server's
		s.forgets++
	}
	return s.forgets
}

func (s *simulation) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgets++
}

// compare compares a plan with the one that was sent before it.
func (h *host) compare(p *api.ContextPlan, began, age int) {
	// After the server forgot something, a projection may be older, which costs a cache miss.
	if was := h.last; was != nil && h.forgets == h.s.forgotten() && p.Generation == was.Generation && !strings.HasPrefix(prompt(p), prompt(was)) {
		h.s.fault("%s: plan %s has other bytes than plan %s before it, and no cut was made: %s", h.key, p.ID, was.ID, differ(prompt(was), prompt(p)))
	}
	seen := map[string]int{}
	for _, c := range p.Layout.Cuts {
		for _, cause := range []string{c.Reason + " " + c.Chain, "event " + c.Event} {
			if seen[cause]++; seen[cause] > 1 && cause != "event " {
				h.s.fault("%s: plan %s has two cuts for one cause: %+v", h.key, p.ID, p.Layout.Cuts)
			}
		}
	}
	h.last, h.forgets = p, began
	for _, r := range p.Reduced {
		h.pointers = append(h.pointers, acked{r.Handle, age})
	}
}

// prompt is what a plan sends, message by message.
func prompt(p *api.ContextPlan) string {
	var b strings.Builder
	for _, m := range p.Messages {
		parts, err := json.Marshal(m.Parts)
		if err != nil {
			return err.Error()
		}
		fmt.Fprintf(&b, "%s %s\n", m.Role, parts)
	}
	return b.String()
}

// differ is where two texts differ.
func differ(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(i-100, 0)
	return fmt.Sprintf("at byte %d, %q and %q", i, a[from:min(i+200, len(a))], b[from:min(i+200, len(b))])
}

func (h *host) observe(i int, p *api.ContextPlan) {
	turn := api.Turn{SessionKey: h.key, Model: simModel, Messages: slices.Clone(h.msgs), AdvancementKey: fmt.Sprintf("%s-t%02d", h.key, i), Private: h.s.recalls}
	if p != nil {
		turn.PlanID = p.ID
	}
	if !h.clock {
		turn.Now = h.now
	}
	h.deliver("turn "+turn.AdvancementKey, func(ctx context.Context, mc *machine) (func(), error) {
		age := h.s.age()
		o, err := mc.k.ObserveTurn(ctx, turn)
		if err != nil {
			return nil, err
		}
		if o.Outcome != api.Committed && o.Outcome != api.Duplicate {
			h.s.fault("turn %s: %s", turn.AdvancementKey, o.Outcome)
		}
		return func() { h.acked = append(h.acked, acked{turn.AdvancementKey, age}) }, nil
	})
}

// deliver makes a call until it is acknowledged: at any machine, at another if that takes long or
// fails, now and then at two at once. call returns what the host does with the answer.
func (h *host) deliver(what string, call func(context.Context, *machine) (func(), error)) {
	type reply struct {
		got func()
		err error
		by  string
	}
	replies := make(chan reply, 1000)
	out, s := 0, h.s
	var cancels []context.CancelFunc
	defer func() {
		for _, c := range cancels {
			time.Sleep(time.Duration(1 + h.rng.IntN(50_000))) // until the answer's consequences are over
			c()
		}
	}()
	send := func() {
		s.mu.Lock()
		mc := s.machines[h.rng.IntN(len(s.machines))]
		s.calls++
		s.mu.Unlock()
		s.note(h.key, what+" to "+mc.name)
		ctx, cancel := context.WithCancel(context.Background())
		if h.rng.IntN(2) == 0 {
			cancels = append(cancels, cancel)
		}
		out++
		on := time.Duration(1 + h.rng.IntN(300_000)) // so that no two begin at one instant
		go func() {
			defer cancel()
			time.Sleep(on)
			got, err := call(ctx, mc)
			if mc.killed.Load() {
				err = errKilled // the answer does not leave it
			}
			s.mu.Lock()
			s.calls--
			s.mu.Unlock()
			replies <- reply{got, err, mc.name}
		}()
	}
	for try := range 400 {
		send()
		if h.rng.IntN(12) == 0 {
			send()
		}
		timeout := time.NewTimer(20*time.Millisecond + time.Duration(h.rng.Int64N(int64(3*simLease)))*time.Duration(1+try/20))
		for waits := true; waits && out > 0; {
			select {
			case r := <-replies:
				out--
				if r.err == nil {
					timeout.Stop()
					s.note(h.key, what+": acknowledged by "+r.by)
					if r.got != nil {
						r.got()
					}
					return
				}
				s.note(h.key, what+": fails at "+r.by+": "+r.err.Error())
			case <-timeout.C:
				waits = false
			}
		}
		timeout.Stop()
		time.Sleep(time.Duration(h.rng.Int64N(int64(5 * time.Millisecond))))
	}
	s.fault("%s: %s is never acknowledged", h.key, what)
}

var committedTurn = regexp.MustCompile(`"op":"committed","id":"turn:([ab]-t\d\d)"`)

// check reads, at a machine that has just begun, what became of the conversation.
func (h *host) check(fresh *machine) {
	s, ctx := h.s, context.Background()
	data, err := fresh.store.Get("sessions/" + h.key + "/journal.jsonl")
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && len(h.acked) > 0 && s.mayBeLost(h.acked[len(h.acked)-1].age)) {
		s.fault("%s: the journal can't be read: %v", h.key, err)
		return
	}
	var there []string
	for _, m := range committedTurn.FindAllSubmatch(data, -1) {
		there = append(there, string(m[1]))
	}
	h.checkTurns(there)
	for _, p := range h.pointers {
		if c, err := fresh.k.Get(ctx, h.key, p.what); (err != nil || c.Reason != api.GetOK) && !s.mayBeLost(p.age) {
			s.fault("%s: %s was named by a prompt, and is %+v, %v", h.key, p.what, c, err)
		}
	}
	// What was promised by a call that failed is done by one that doesn't.
	if err := h.forgetScratch(fresh); err != nil && !(errors.Is(err, api.ErrNoSession) && (h.scratches == 0 || s.mayBeLost(0))) {
		s.fault("%s: its scratch session can't be forgotten: %v", h.key, err)
	}
	h.say(memkernel.RoleUser, words("And what is next?"+h.recallsLine(1))...)
	req := h.request()
	req.Now = h.now.Add(time.Second)
	want := ""
	for _, mc := range append(slices.Clone(s.machines), fresh) {
		p, err := mc.k.Peek(ctx, req)
		if err != nil {
			s.fault("%s: %s: %v", h.key, mc.name, err)
			return
		}
		if got := prompt(p); want == "" {
			want = got
		} else if got != want {
			s.fault("%s: %s plans other bytes than %s: %s", h.key, mc.name, s.machines[0].name, differ(got, want))
		}
	}
}

// checkTurns compares the turns in a journal with those that were acknowledged. Each is there once
// and in order. Where some may be lost, one that is not may have come late, by a call that was
// made twice.
func (h *host) checkTurns(there []string) {
	var lost, want []string
	for _, t := range h.acked {
		if h.s.mayBeLost(t.age) {
			lost = append(lost, t.what)
		} else {
			want = append(want, t.what)
		}
	}
	kept := slices.DeleteFunc(slices.Clone(there), func(t string) bool { return slices.Contains(lost, t) })
	once := slices.Compact(slices.Sorted(slices.Values(there)))
	if !slices.Equal(kept, want) || len(once) != len(there) {
		h.s.fault("%s: the journal has the turns %v, and %v were acknowledged", h.key, there, h.acked)
	}
}
