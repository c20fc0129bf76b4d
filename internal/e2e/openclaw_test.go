package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel"
)

const sessionKey = "agent:main:main"

// marker is a word that is in one turn only.
var marker = regexp.MustCompile(`mark-\d{3}`)

// step is what happens before a turn; the order is by share of the whole.
type step struct {
	at   float64
	name string
	do   func(t *testing.T, s *script)
}

// script is a conversation and what is known of it.
type script struct {
	g     *gateway
	m     *model
	turns int
	// cuts is when the kernel last cut, after each turn; requests how many there were.
	cuts     []string
	requests []int
	resetAt  int
}

var steps = []step{
	{.28, "the daemon is killed between turns", func(t *testing.T, s *script) {
		if !s.g.killDaemon() {
			t.Error("there was no daemon to kill")
		}
	}},
	{.44, "the user compacts", func(t *testing.T, s *script) {
		out, err := s.g.run("sessions", "compact", sessionKey)
		t.Logf("sessions compact: %v: %s", err, tail(out, 3))
		if err != nil {
			t.Error("the host could not compact")
		}
	}},
	{.50, "the model's server refuses a request as too long", func(t *testing.T, s *script) { s.m.refuseNext() }},
	{.56, "the gateway restarts", func(t *testing.T, s *script) { s.g.stop(); s.g.start() }},
	{.68, "the daemon is killed within a turn", func(t *testing.T, s *script) { s.m.before(func() { s.g.killDaemon() }) }},
	{.80, "the user begins anew", func(t *testing.T, s *script) {
		out, err := s.g.run("gateway", "call", "sessions.reset", "--params", `{"key":"`+sessionKey+`"}`)
		t.Logf("sessions.reset: %v: %s", err, tail(out, 3))
		if err != nil {
			t.Error("the host could not reset")
		}
		s.resetAt = len(s.requests)
	}},
}

// words returns the user's message of turn n.
func words(n int) string {
	text := fmt.Sprintf("mark-%03d ", n)
	switch n % 6 {
	case 1:
		return text + `list it [[exec {"command":"seq 1 3000; echo out-` + strconv.Itoa(n) + `"}]]`
	case 3:
		return text + `what do we know [[memory_search {"query":"billing service deployed"}]]`
	case 4:
		return text + `read both together [[read {"path":"MEMORY.md"}]] [[read {"path":"memory/deploys.md"}]]`
	case 5:
		return text + `one by one [[exec {"command":"echo a` + strconv.Itoa(n) + `"}]] [[exec {"command":"echo b` + strconv.Itoa(n) + `"}]]`
	}
	return text + "when is the billing service deployed?"
}

func TestOpenClaw(t *testing.T) {
	h, binary, plugin := installOpenClaw(t), built(t), pluginDir(t)
	s := &script{m: startModel(t), turns: 50}
	if n, err := strconv.Atoi(os.Getenv("MEMKERNEL_E2E_TURNS")); err == nil && n > 0 {
		s.turns = n
	}
	s.g = newGateway(t, h, s.m.url, binary, plugin, fakeLLM)
	s.g.start()
	s.talk(t)
	last, err := s.g.say("mark-999 how is it [[context_status {}]]")
	if err != nil || last != "done: mark-999" {
		t.Errorf("the last turn was answered with %q, %v", last, err)
	}
	s.g.stop()
	s.committed(t)
	s.kept(t)
	s.paired(t)
	s.stable(t)
	s.once(t)
	s.answered(t)
	s.ours(t)
	s.flushed(t)
}

var theBinary struct {
	sync.Once
	path string
}

// builtOnce is the program, built once for all hosts.
func builtOnce(t *testing.T) string {
	t.Helper()
	if os.Getenv("MEMKERNEL_E2E") == "" {
		t.Skip("real hosts run by make e2e (MEMKERNEL_E2E=1)")
	}
	theBinary.Do(func() {
		dir, err := os.MkdirTemp("", "mkb")
		if err != nil {
			t.Fatal(err)
		}
		theBinary.path = filepath.Join(dir, "memkernel")
		if out, err := exec.Command("go", "build", "-o", theBinary.path, "../../cmd/memkernel").CombinedOutput(); err != nil {
			t.Fatalf("build memkernel: %v\n%s", err, out)
		}
	})
	return theBinary.path
}

// TestHostOpenClaw is the row of OpenClaw: the script of the other hosts, in one gateway.
func TestHostOpenClaw(t *testing.T) {
	had(t, "OpenClaw")
	h, binary := installOpenClaw(t), builtOnce(t)
	r := row{Title: "OpenClaw", Version: h.version, Model: "gpt-5.5", Through: "plugin", Uninstall: yes}
	again := func(with bool) float64 {
		m, dollars, err := talkOpenClaw(t, h, binary, with, &r)
		if err != nil && len(m.Violations()) == 0 {
			t.Logf("it failed, and is tried once more: %v", err)
			r.Retried, r.Kills, r.Turns = true, 0, 0
			if with {
				r.Failed++ // whose fault it was is not known
			}
			m, dollars, err = talkOpenClaw(t, h, binary, with, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range m.Violations() {
			r.Violations++
			t.Errorf("memkernel %v: %s", with, v.Rule)
		}
		r.Requests += len(m.Requests())
		r.Added = firstTokens(m.Requests()) - r.Added // without memkernel comes first
		return dollars
	}
	r.Without = again(false)
	r.With = again(true)
	if r.Recall != yes || r.Restore != yes || r.Uninstall != yes {
		t.Errorf("%+v", r)
	}
	record(t, r)
}

// talkOpenClaw has the script talked; with memkernel, what came of it is put into r.
func talkOpenClaw(t *testing.T, h host, binary string, with bool, r *row) (_ *fakemodel.Server, dollars float64, _ error) {
	m := fakemodel.New(fakemodel.Options{Script: newScripted().answer})
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	plugin := ""
	if with {
		plugin = pluginDir(t)
	}
	g := newGateway(t, h, server.URL+"/v1", binary, plugin, llm{"gpt-5.5", 200_000})
	write(t, filepath.Join(g.workspace, "memory", "harbour.md"), "# Harbour\n\n"+fact+".\n")
	verb := func(args ...string) string {
		t.Helper()
		return run(t, g.workspace, []string{"HOME=" + filepath.Join(g.home, "home")}, binary, args...)
	}
	if with {
		before := files(t, g.home)
		verb("init", "--yes", "--host", "openclaw")
		verb("uninstall", "--yes", "--state")
		if d := cmp.Diff(before, files(t, g.home)); d != "" {
			t.Errorf("init and uninstall leave something: %s", d)
			r.Uninstall = no
		}
	}
	g.start()
	defer g.stop()
	var requests []int
	for n := range turns + 1 {
		if with && slices.Contains(killsAt, n) && g.killDaemon() {
			r.Kills++
		}
		if n == turns {
			// Its own safeguard refuses summaries that a script wrote, so that it compacts with
			// the plugin alone; the bills are those of the turns before.
			dollars = bill(m.Requests())
			if with {
				if out, err := g.run("sessions", "compact", sessionKey); err != nil {
					return m, 0, fmt.Errorf("compact: %w: %s", err, tail(out, 5))
				}
			}
			g.stop()
			g.start()
		}
		got, err := g.say(prompt(n, asksAt))
		if want := fmt.Sprintf("done: mark-%03d", n); err != nil || !strings.Contains(got, want) {
			return m, 0, fmt.Errorf("turn %d was answered with %q, %w", n, got, err)
		}
		requests = append(requests, len(m.Requests()))
	}
	if !with {
		return m, dollars, nil
	}
	all := m.Requests()
	r.Turns = len(requests)
	r.Recall = whether(found(all[requests[asksAt-1]:requests[asksAt]]))
	last := all[requests[turns-1]:]
	r.Restore = whether(seen(last, "[Context kept by memkernel") || seen(last, "[Checkpoint "))
	if r.Restore == no {
		for _, seg := range last[len(last)-1].Segments {
			t.Logf("%s: %.300s", seg.Where, seg.Bytes)
		}
	}
	g.stop()
	g.killDaemon()
	settle(t, binary)
	var c tally
	c.observed(t, verb("stats", "--json", "--quiet"))
	r.Planned, r.Passed = c.planned, c.passed
	verb("uninstall", "--yes", "--state")
	if _, err := os.Stat(g.stateDir()); err == nil {
		t.Error("uninstall left the state folder")
		r.Uninstall = no
	}
	return m, dollars, nil
}

// built is the program, as it is in this tree.
func built(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "memkernel")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, "../../cmd/memkernel").CombinedOutput(); err != nil {
		t.Fatalf("build memkernel: %v\n%s", err, out)
	}
	return binary
}

func pluginDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../integrations/openclaw")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestOpenClawRefuses: an engine that the host does not take (it leaves out what its
// contract asks for) is noticed by the plugin, where the host stays green.
func TestOpenClawRefuses(t *testing.T) {
	h, binary, plugin := installOpenClaw(t), built(t), t.TempDir()
	manifest, err := os.ReadFile(filepath.Join(pluginDir(t), "openclaw.plugin.json"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(plugin, "openclaw.plugin.json"), string(manifest))
	write(t, filepath.Join(plugin, "package.json"), `{"name":"refused","version":"0.0.1","type":"module","openclaw":{"extensions":["./index.js"]}}`)
	write(t, filepath.Join(plugin, "index.js"), `import plugin from "`+filepath.Join(pluginDir(t), "index.js")+`";
const without = ({ transcriptSemantics, ...info }) => info;
const wrapped = (api) => Object.create(api, { registerContextEngine: { value: (id, make) => api.registerContextEngine(id, (ctx) => { const e = make(ctx); return { ...e, info: without(e.info) }; }) } });
export default { ...plugin, register: (api) => plugin.register(wrapped(api)) };
`)
	m := startModel(t)
	g := newGateway(t, h, m.url, binary, plugin, fakeLLM)
	g.start()
	for n := range 2 {
		text := fmt.Sprintf("mark-%03d how is it [[context_status {}]]", n)
		if got, err := g.say(text); err != nil || got != fmt.Sprintf("done: mark-%03d", n) {
			t.Fatalf("turn %d was answered with %q, %v", n, got, err)
		}
	}
	g.stop()
	all := m.talk()
	if !bytes.Contains(all[len(all)-1].Body, []byte(`\"legacyTurns\": 2`)) {
		t.Errorf("context_status does not say that two turns went without the engine:\n%s", hostCounts(all[len(all)-1]))
	}
	if said := g.said(); !strings.Contains(said, "degraded to") || !strings.Contains(said, "without this engine") {
		t.Error("neither the host nor the plugin says so in the log")
	}
}

// hostCounts is what context_status said of the host.
func hostCounts(r fakemodel.Request) string {
	all := regexp.MustCompile(`\\"host\\": \{.*?\}`).FindAllString(string(r.Body), -1)
	if len(all) == 0 {
		return "nothing"
	}
	return strings.NewReplacer(`\"`, `"`, `\n`, "").Replace(all[len(all)-1])
}

func (s *script) talk(t *testing.T) {
	next := 0
	for n := range s.turns {
		for next < len(steps) && float64(n) >= steps[next].at*float64(s.turns) {
			t.Logf("before turn %d: %s", n, steps[next].name)
			steps[next].do(t, s)
			next++
		}
		got, err := s.g.say(words(n))
		if want := fmt.Sprintf("done: mark-%03d", n); err != nil || got != want {
			t.Errorf("turn %d was answered with %q, %v", n, got, err)
		}
		s.requests = append(s.requests, len(s.m.talk()))
		s.cuts = append(s.cuts, s.lastCut(t))
	}
}

// open opens the state folder beside the daemon, to look.
func (s *script) open(t *testing.T) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(context.Background(), s.g.workspace, &kernel.Options{Memory: kernel.MemoryOptions{Off: true}})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (s *script) lastCut(t *testing.T) string {
	k := s.open(t)
	defer k.Close()
	st, err := k.Status(context.Background(), nil)
	if err != nil || len(st.Sessions) == 0 || len(st.Sessions[0].Lines) == 0 || st.Sessions[0].Lines[0].LastCut == nil {
		return ""
	}
	return st.Sessions[0].Lines[0].LastCut.Time.String()
}

// committed: as many turns as there were, none twice, and every invariant holds.
func (s *script) committed(t *testing.T) {
	k := s.open(t)
	defer k.Close()
	st, err := k.Status(context.Background(), nil)
	if err != nil || len(st.Sessions) != 1 {
		t.Fatalf("sessions in the state folder: %+v, %v", st, err)
	}
	one := st.Sessions[0]
	t.Logf("%d turns said, %d committed; epoch %d, %d cuts, generation %d, %d pages", s.turns+1, one.Turns, one.Life.Epoch, one.Lines[0].Cuts, one.Lines[0].Generation, one.Pages)
	if one.Turns != s.turns+1 {
		t.Errorf("%d turns are committed, want %d", one.Turns, s.turns+1)
	}
	if one.Life.Epoch != 1 {
		t.Errorf("epoch %d, want 1: the reset was not told", one.Life.Epoch)
	}
	found, err := k.Check(context.Background())
	if err != nil || len(found) > 0 {
		t.Errorf("check: %v, %v", found, err)
	}
}

// kept: every turn's words are in the state folder.
func (s *script) kept(t *testing.T) {
	all := contents(t, s.g.stateDir())
	for n := range s.turns {
		if word := fmt.Sprintf("mark-%03d", n); !bytes.Contains(all, []byte(word)) {
			t.Errorf("%s is lost", word)
		}
		if word := fmt.Sprintf("out-%d", n); n%6 == 1 && !bytes.Contains(all, []byte(word)) {
			t.Errorf("the result %s is lost", word)
		}
	}
}

func contents(t *testing.T, dir string) []byte {
	t.Helper()
	var all []byte
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		all = append(append(all, b...), '\n')
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// paired: no request holds a call without its result, nor the words that the host puts
// in the place of a result that it misses.
func (s *script) paired(t *testing.T) {
	for _, r := range s.m.talk() {
		if err := r.Pairs(); err != nil {
			t.Errorf("request %d: %v", r.N, err)
		}
		if bytes.Contains(r.Body, []byte("missing tool result in session history")) {
			t.Errorf("request %d: the host had to make a tool result up", r.N)
		}
	}
}

// once: the user's message is in the requests of its turn, one time.
func (s *script) once(t *testing.T) {
	all, from := s.m.talk(), 0
	for n, to := range s.requests {
		word := []byte(fmt.Sprintf("mark-%03d ", n)) // the model's answers have no space behind it
		for _, r := range all[from:to] {
			if got := bytes.Count(r.Body, word); got != 1 {
				t.Errorf("request %d (turn %d) holds the user's words %d times", r.N, n, got)
			}
		}
		from = to
	}
}

// stable: between cuts a request holds all bytes of the one before.
func (s *script) stable(t *testing.T) {
	all := s.m.talk()
	turn, breaks := 0, 0
	for i := 1; i < len(all); i++ {
		for turn < len(s.requests) && i >= s.requests[turn] {
			turn++
		}
		where := lasting(all[i]).Parts(lasting(all[i-1]))
		if where == "" {
			continue
		}
		first := turn > 0 && turn <= len(s.requests) && i == s.requests[turn-1]
		if all[i-1].Refused || first && (s.cutBefore(turn) || turn == s.resetAt || hostsOwn(all[i-1], where)) {
			breaks++
			continue
		}
		t.Errorf("request %d (turn %d) parts from the one before at %s without a cut:\n%s", i, turn, where, parting(all[i-1], all[i], where))
	}
	t.Logf("%d requests, %d cuts, refusals or resets, all other prefixes byte-identical", len(all), breaks)
}

// hostsOwn reports whether a request parts from the next where the host had put words of
// its own round those of a turn that it tried again.
func hostsOwn(r fakemodel.Request, where string) bool {
	for _, seg := range r.Segments {
		if seg.Where == where {
			return bytes.Contains(seg.Bytes, []byte("[Queued user message from a previous active turn"))
		}
	}
	return false
}

// cutBefore reports whether the kernel cut for a turn.
func (s *script) cutBefore(turn int) bool {
	return turn < len(s.cuts) && s.cuts[turn] != s.cuts[turn-1]
}

func parting(a, b fakemodel.Request, where string) string {
	show := func(r fakemodel.Request) string {
		for _, seg := range r.Segments {
			if seg.Where == where {
				return string(seg.Bytes[:min(300, len(seg.Bytes))])
			}
		}
		return "(nothing)"
	}
	return "  was " + show(a) + "\n  is  " + show(b)
}

// answered: what the model's tools found came from our index.
func (s *script) answered(t *testing.T) {
	all := s.m.talk()
	hits := 0
	for _, r := range all {
		if bytes.Contains(r.Body, []byte(`\"provider\": \"memkernel\"`)) && bytes.Contains(r.Body, []byte("memory/deploys.md")) {
			hits++
		}
		if bytes.Contains(r.Body, []byte("memory-core:memory_search")) {
			t.Errorf("request %d: the host's own memory answered", r.N)
		}
	}
	if !bytes.Contains(all[0].Body, []byte("vault seven")) {
		t.Error("MEMORY.md does not stand in the host's system prompt")
	}
	if hits == 0 {
		t.Error("no request holds an answer of our index")
	}
}

// ours: the host never went back to its own engine, and the plugin knows it.
func (s *script) ours(t *testing.T) {
	for _, line := range strings.Split(s.g.said(), "\n") {
		if strings.Contains(line, "degraded to") || strings.Contains(line, "without this engine") {
			t.Error("the host's log says: ", line)
		}
	}
	all := s.m.talk()
	status := hostCounts(all[len(all)-1])
	t.Log(status)
	for _, want := range []string{`"legacyTurns": 0,`, `"selected": true`, `"fallbacks": 0,`, `"commitFailures": 0,`} {
		if !strings.Contains(status, want) {
			t.Errorf("context_status does not say %s", want)
		}
	}
	if strings.Contains(status, `"runsSeen": 0,`) {
		t.Error("the plugin does not see when a run begins")
	}
}

// flushed: before a cut the model was asked what should outlive it, at most twice a cycle.
// What it wrote stands in the log of a day with the agent's mark, masked, is told in the
// gateway's log, and nobody else got to see it.
func (s *script) flushed(t *testing.T) {
	talk, flushes := s.m.asked()
	log := string(contents(t, filepath.Join(s.g.workspace, "memory")))
	wrote := strings.Count(log, "keeps the heron")
	t.Logf("%d flush turns, %d entries of theirs", len(flushes), wrote)
	if len(flushes) == 0 || wrote != len(flushes) || strings.Count(log, "<!-- mk:fa-") != wrote {
		t.Errorf("%d flush turns, and the logs say\n%s", len(flushes), log)
	}
	if strings.Contains(log, flushSecret) {
		t.Error("a secret stands in a log")
	}
	if !strings.Contains(s.g.said(), "flush: 1 entry to memory/") {
		t.Error("the gateway's log does not tell it")
	}
	for _, r := range talk {
		if bytes.Contains(r.Body, []byte("What of this session should be remembered")) {
			t.Errorf("request %d shows the flush turn's words", r.N)
		}
	}
}
