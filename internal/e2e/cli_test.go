package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/serve/proxy"
)

// cli is a host that is started anew for each turn of a session. In its strings {url} is the
// model's address or the proxy's, {home} and {project} are folders of the run, {plugins}
// that of our packages, and {session} is a session's id.
type cli struct {
	// name is init's, title the program's, pkg npm's, program what npm installs.
	name, title, pkg, program string
	// through says by what it has memkernel.
	through string
	env     []string
	// files are the host's own settings, by path; ours those that a person adds who follows
	// what init prints.
	files, ours map[string]string
	// once are the arguments of a first run that sets it up, first those of a session's
	// first turn, next those of the others; {prompt} is the prompt. compact are those that have
	// it compact the session, and end those that end what it left running.
	once, first, next, compact, end []string
	// direct: its requests go to the model's server, and a plugin of ours plans them.
	direct bool
	// repeats: by itself it breaks a rule of the API, which memkernel's requests keep:
	// without memkernel, results that stand twice are taken.
	repeats bool
	// restores is what the carried state begins with where a session goes on; "" where the
	// host tells nobody.
	restores string
	// defaults: it asks for a model of its own if nobody names one. bound: that model's reasoning
	// is bound to its prefix.
	defaults, bound bool
}

const (
	question = "who deploys the harbour?"
	fact     = "Kim deploys the harbour on Tuesdays"
	session  = "0b54a4fe-0000-4000-8000-000000000001"
	// turns is how many turns a session has; callsIn how often the model runs a command
	// in a turn.
	turns, callsIn = 8, 8
	// rowsIn is how many lines a command prints, about 17 tokens each.
	rowsIn = 240
	// asksAt is the turn in which memory is asked, killsAt those before which
	// memkernel's processes are killed.
	asksAt = 5
)

var killsAt = []int{2, 4, 6}

// stand is one session of a host: with memkernel, or without.
type stand struct {
	t             *testing.T
	h             *cli
	path          string // the program
	env           []string
	home, project string
	model         *fakemodel.Server
	script        *scripted
	url           string // the model's
	binary        string
	listen        string // the proxy's address
	proxy         *exec.Cmd
	kills         int
	// within is how long the host may take for a turn.
	within time.Duration
	// proxied is what the proxies did that were ended.
	proxied tally
	// requests is how many there were after each turn.
	requests []int
	result   row
}

// TestHosts runs each host twice by one script, once with memkernel and once without.
// With it, memkernel's processes are killed between turns, and none fails.
func TestHosts(t *testing.T) {
	binary := builtOnce(t)
	var list []cli
	for _, h := range clis {
		if h.defaults {
			list = append(list, onDefault(h))
		}
		list = append(list, h)
	}
	for i := range list {
		h := &list[i]
		t.Run(h.name, func(t *testing.T) {
			had(t, h.title)
			dir, node := installNode(t)
			path, version := install(t, dir, h.name, h.pkg, filepath.Join(".bin", h.program), pathWith(node))
			talk := func(with bool) (*stand, error) {
				script := newScripted()
				s := newStand(t, h, binary, path, node, with, fakemodel.Options{Script: script.answer})
				s.script = script
				return s, s.run(with)
			}
			r := row{Title: h.title, Version: version, Through: h.through}
			again := func(with bool) *stand {
				s, err := talk(with)
				if err != nil && len(s.model.Violations()) == 0 {
					t.Logf("%s failed, and is tried once more: %v", h.title, err)
					r.Retried = true
					if with {
						r.Failed++ // whose fault it was is not known
					}
					s, err = talk(with)
				}
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			with, without := again(true), again(false)
			r.Turns, r.Kills = len(with.requests), with.kills
			r.Requests = len(with.model.Requests()) + len(without.model.Requests())
			refused := map[bool]int{}
			for _, s := range []*stand{with, without} {
				for _, v := range s.model.Violations() {
					t.Logf("memkernel %v: %s", s == with, v.Rule)
				}
				n, removed := s.model.Reasoning()
				refused[s == with] = n
				t.Logf("memkernel %v: %s; %d requests refused for their reasoning, %d items of reasoning removed at most", s == with, ledger(s.model.Requests()), n, removed)
			}
			// Gemini CLI's own calls for a title break rules without memkernel, too.
			if r.Violations = max(0, len(with.model.Violations())-len(without.model.Violations())); r.Violations > 0 {
				t.Errorf("%d requests more than without memkernel broke a rule", r.Violations)
			}
			if refused[true] > refused[false] {
				t.Errorf("%d requests were refused for their reasoning, without memkernel %d", refused[true], refused[false])
			}
			r.Planned, r.Passed, r.Model = with.proxied.planned, with.proxied.passed, usualModel(with.model.Requests())
			r.Added = firstTokens(with.model.Requests()) - firstTokens(without.model.Requests())
			r.With, r.Without = bill(with.model.Requests()), bill(without.model.Requests())
			r.Recall, r.Restore, r.Uninstall = with.result.Recall, with.result.Restore, with.result.Uninstall
			if seen(without.model.Requests(), fact) {
				t.Error("without memkernel the model saw what memory holds")
			}
			for name, a := range map[string]answered{"recall": r.Recall, "restore": r.Restore, "uninstall": r.Uninstall} {
				if a == no {
					t.Errorf("%s: no", name)
				}
			}
			record(t, r)
		})
	}
}

func newStand(t *testing.T, h *cli, binary, path, node string, with bool, opt fakemodel.Options) *stand {
	t.Helper()
	// Hosts put sockets below their homes: the path must be short.
	home, err := os.MkdirTemp("", "mkh")
	if err != nil {
		t.Fatal(err)
	}
	s := &stand{t: t, h: h, path: path, binary: binary, home: filepath.Join(home, "h"), project: filepath.Join(home, "p"), within: 5 * time.Minute}
	opt.RepeatedResults, opt.Thinks = h.repeats && !with, h.bound
	s.model = fakemodel.New(opt)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: s.model}
	go srv.Serve(l)
	s.url = "http://" + l.Addr().String()
	s.env = append(os.Environ(), "HOME="+s.home, "USERPROFILE="+s.home, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=", "XDG_STATE_HOME=", "NO_PROXY=127.0.0.1,localhost",
		"PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+pathWith(node))
	write(t, filepath.Join(s.project, "memory", "harbour.md"), "# Harbour\n\n"+fact+".\n")
	if err := os.MkdirAll(s.home, 0o755); err != nil {
		t.Fatal(err)
	}
	// People work in repositories, where hosts leave out what git ignores.
	if out, err := exec.Command("git", "init", "-q", s.project).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	t.Cleanup(func() {
		s.stopProxy()
		s.killDaemon()
		srv.Close()
		if t.Failed() {
			s.dump(filepath.Join(home, "requests"))
			t.Logf("left for a look: %s", home)
			return
		}
		os.RemoveAll(home)
	})
	return s
}

// dump writes all requests, to look at.
func (s *stand) dump(dir string) {
	if s.model == nil {
		return
	}
	bodies := map[string][]byte{}
	for _, r := range s.model.Requests() {
		bodies[fmt.Sprintf("%03d.json", r.N)] = r.Body
	}
	for i, v := range s.model.Violations() {
		bodies[fmt.Sprintf("refused-%03d.json", i)] = v.Body
	}
	for name, body := range bodies {
		write(s.t, filepath.Join(dir, name), string(body))
	}
}

// run has the session talked. What it returns is the host's failure.
func (s *stand) run(with bool) error {
	t, h := s.t, s.h
	to := s.url
	if with {
		s.result.Uninstall = whether(s.cycles())
		if !h.direct {
			s.listen = fmt.Sprintf("127.0.0.1:%d", freePort(t))
			to = "http://" + s.listen
		}
	}
	s.put(h.files, to)
	if h.end != nil {
		defer s.host(to, h.end, "")
	}
	if h.once != nil {
		if out, err := s.host(to, h.once, ""); err != nil {
			return fmt.Errorf("%v: %w\n%s", h.once, err, tail(out, 20))
		}
	}
	mine := files(t, s.project)
	if with {
		byHand(t, s.home, s.memkernel("init", "--yes", "--json", "--host", h.name))
		s.put(h.ours, to)
		if !h.direct {
			s.startProxy()
		}
	}
	for n := range turns {
		for _, at := range killsAt {
			if with && n == at {
				s.kill()
			}
		}
		args := h.next
		if n == 0 {
			args = h.first
		}
		if err := s.turn(to, args, n); err != nil {
			return err
		}
	}
	if h.compact != nil {
		if out, err := s.host(to, h.compact, ""); err != nil {
			return fmt.Errorf("compact: %w\n%s", err, tail(out, 20))
		}
	}
	before := len(s.model.Requests())
	if err := s.turn(to, h.next, turns); err != nil {
		return err
	}
	if with {
		s.judge(before)
		if h.direct {
			s.proxied.observed(t, s.memkernel("stats", "--json", "--quiet"))
		}
		s.stopProxy()
		s.killDaemon() // the host has ended, and its daemon waits for the next
		settle(t, s.binary)
		s.leaves(mine)
	}
	return nil
}

// prompt is what the user says in a turn.
func prompt(n, asks int) string {
	if n == asks {
		return fmt.Sprintf("mark-%03d %s", n, question)
	}
	return fmt.Sprintf("mark-%03d read the next %d parts of the report", n, callsIn)
}

// turn has the user say something, and the model's answer come back.
func (s *stand) turn(to string, args []string, n int) error {
	began := time.Now()
	out, err := s.host(to, args, prompt(n, s.script.asks))
	if want := fmt.Sprintf("done: mark-%03d", n); err == nil && !strings.Contains(out, want) {
		err = fmt.Errorf("the answer does not hold %q", want)
	}
	s.requests = append(s.requests, len(s.model.Requests()))
	s.t.Logf("turn %d: %d requests, %v", n, len(s.model.Requests()), time.Since(began).Round(100*time.Millisecond))
	if err != nil {
		return fmt.Errorf("turn %d of %s: %w\n%s", n, s.h.title, err, tail(out, 30))
	}
	return nil
}

func (s *stand) fill(text, to, prompt string) string {
	plugins, err := filepath.Abs("../../integrations")
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.NewReplacer("{url}", to, "{home}", s.home, "{project}", s.project, "{plugins}", plugins, "{session}", session, "{prompt}", prompt, "{binary}", s.binary).Replace(text)
}

func (s *stand) put(list map[string]string, to string) {
	for path, text := range list {
		write(s.t, s.fill(path, to, ""), s.fill(text, to, ""))
	}
}

// host runs the host once.
func (s *stand) host(to string, args []string, prompt string) (string, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), s.within)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.path)
	for _, a := range args {
		cmd.Args = append(cmd.Args, s.fill(a, to, prompt))
	}
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.project, append(s.env, "PWD="+s.project), time.Second
	for _, v := range s.h.env {
		cmd.Env = append(cmd.Env, s.fill(v, to, ""))
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// memkernel runs the program in the project, for a person with this home.
func (s *stand) memkernel(args ...string) string {
	s.t.Helper()
	cmd := exec.Command(s.binary, args...)
	cmd.Dir, cmd.Env = s.project, s.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("memkernel %v: %v\n%s%s", args, err, out.String(), errs.String())
	}
	return out.String()
}

// cycles reports whether init and uninstall leave home and project as they were, where a
// host has its settings in both.
func (s *stand) cycles() bool {
	s.put(s.h.files, s.url)
	home, project := files(s.t, s.home), files(s.t, s.project)
	s.memkernel("init", "--yes", "--host", s.h.name)
	s.memkernel("uninstall", "--yes", "--state")
	same := true
	for _, d := range []string{cmp.Diff(home, files(s.t, s.home)), cmp.Diff(project, files(s.t, s.project))} {
		if d != "" {
			s.t.Errorf("init and uninstall leave something: %s", d)
			same = false
		}
	}
	return same
}

// settle waits until nothing of a program runs any more: hooks leave the end of a turn to a
// process of its own.
func settle(t *testing.T, program string) {
	t.Helper()
	running := func() (out []string) {
		all, err := filepath.Glob("/proc/[0-9]*/exe")
		if err != nil {
			t.Fatal(err)
		}
		for _, exe := range all {
			if path, err := os.Readlink(exe); err == nil && path == program {
				out = append(out, exe)
			}
		}
		return out
	}
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		left := running()
		if len(left) == 0 {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%s still runs: %v", program, left)
		}
	}
}

// leaves holds what uninstall leaves of a session to the project before it: Markdown that the
// session wrote stays, and all that host and person wrote.
func (s *stand) leaves(before map[string]string) {
	s.memkernel("uninstall", "--yes", "--state")
	ours := func(path string) bool {
		return strings.Contains(path, "/.memkernel") || strings.Contains(path, "memkernel.")
	}
	after := files(s.t, s.project)
	for path := range after {
		if ours(path) {
			s.t.Errorf("uninstall left %s", path)
			s.result.Uninstall = no
		}
	}
	for path, text := range after {
		if strings.Contains(text, s.binary) {
			s.t.Errorf("uninstall left memkernel in %s:\n%s", path, text)
			s.result.Uninstall = no
		}
	}
	s.t.Logf("new in the project: %v", newIn(before, after))
}

func newIn(before, after map[string]string) (out []string) {
	for path := range maps.Keys(after) {
		if _, ok := before[path]; !ok {
			out = append(out, filepath.Base(path))
		}
	}
	return out
}

// judge reads from what the model saw whether memory answered, and whether the session's
// state was carried over to the last turn, whose requests are those from a number on.
func (s *stand) judge(last int) {
	all := s.model.Requests()
	asked := all[s.requests[asksAt-1]:s.requests[asksAt]]
	searched := found(asked)
	unasked := len(asked) > 0 && bytes.Contains(asked[0].Body, []byte(fact))
	s.t.Logf("of memory: found by the model's search: %v; there before it searched: %v", searched, unasked)
	s.result.Recall = whether(searched)
	if s.h.restores != "" {
		s.result.Restore = whether(seen(all[last:], s.h.restores))
	}
}

// found reports whether a tool's result holds what memory knows.
func found(all []fakemodel.Request) bool {
	for _, r := range all {
		for _, seg := range r.Segments {
			if seg.Result != "" && bytes.Contains(seg.Bytes, []byte(fact)) {
				return true
			}
		}
	}
	return false
}

func seen(all []fakemodel.Request, words string) bool {
	for _, r := range all {
		if bytes.Contains(r.Body, []byte(words)) {
			return true
		}
	}
	return false
}

// startProxy starts memkernel's proxy in front of the model, where it was before.
func (s *stand) startProxy() {
	s.t.Helper()
	log, err := os.OpenFile(filepath.Join(filepath.Dir(s.home), "proxy.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	s.proxy = exec.Command(s.binary, "proxy", "--upstream", s.url, "--workspace", s.project, "--listen", s.listen, "--resolver", "memkernel-get")
	s.proxy.Env, s.proxy.Stdout, s.proxy.Stderr = s.env, log, log
	if err := s.proxy.Start(); err != nil {
		s.t.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", s.listen)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(until) {
			s.t.Fatalf("the proxy does not listen: %v", err)
		}
	}
}

func (s *stand) stopProxy() {
	if s.proxy != nil {
		s.proxied.ask("http://" + s.listen + "/status")
		s.proxy.Process.Kill()
		s.proxy.Wait()
		s.proxy = nil
	}
}

// kill kills what runs of memkernel, as a machine does that is out of memory.
func (s *stand) kill() {
	if s.proxy != nil {
		s.stopProxy()
		s.kills++
		s.startProxy()
	}
	if s.killDaemon() {
		s.kills++
	}
}

func (s *stand) killDaemon() bool { return killDaemon(filepath.Join(s.project, ".memkernel")) }

// tally counts what proxies did with requests.
type tally struct {
	planned int
	passed  map[string]int
}

// ask adds the counts of a proxy's status.
func (c *tally) ask(url string) {
	res, err := http.Get(url)
	if err != nil {
		return // it was killed
	}
	defer res.Body.Close()
	var st proxy.Status
	if json.NewDecoder(res.Body).Decode(&st) != nil {
		return
	}
	c.planned += st.Planned + st.Extended
	if c.passed == nil {
		c.passed = map[string]int{}
	}
	for _, p := range st.Passed {
		c.passed[p.Reason] += p.Count
	}
}

// observed adds the calls that were planned without a proxy, of the document that stats prints.
func (c *tally) observed(t *testing.T, doc string) {
	var st struct {
		Total struct {
			Calls    int `json:"calls"`
			Compared int `json:"compared_calls"`
		} `json:"total"`
	}
	if err := json.Unmarshal([]byte(doc), &st); err != nil {
		t.Fatalf("%v in %s", err, doc)
	}
	c.planned += st.Total.Compared
	c.passed = map[string]int{"no plan": st.Total.Calls - st.Total.Compared}
}

// usualModel is the model that most requests ask.
func usualModel(all []fakemodel.Request) (name string) {
	n := map[string]int{}
	for _, r := range all {
		if n[r.Model]++; n[r.Model] > n[name] {
			name = r.Model
		}
	}
	return name
}

// firstTokens is the size of the first request that is more than a side call.
func firstTokens(all []fakemodel.Request) int {
	for _, r := range all {
		if !r.Refused && len(r.Segments) > 2 {
			return r.Tokens()
		}
	}
	return 0
}

// ledger is the server's own account of a run.
func ledger(all []fakemodel.Request) string {
	var sum fakemodel.Usage
	largest, refused, breaks := 0, 0, 0
	last := map[string]fakemodel.Request{}
	for _, r := range all {
		if r.Refused {
			refused++
			continue
		}
		largest = max(largest, r.Tokens())
		if before, ok := last[r.Model]; ok && r.Parts(before) != "" {
			breaks++
		}
		last[r.Model] = r
		sum.Read, sum.Written, sum.Hour, sum.Uncached, sum.Output = sum.Read+r.Usage.Read, sum.Written+r.Usage.Written, sum.Hour+r.Usage.Hour, sum.Uncached+r.Usage.Uncached, sum.Output+r.Usage.Output
	}
	return fmt.Sprintf("%d requests (%d refused), first %d tokens, largest %d, %d prefix breaks; read %d, written %d (%d for an hour), uncached %d, output %d",
		len(all), refused, firstTokens(all), largest, breaks, sum.Read, sum.Written, sum.Hour, sum.Uncached, sum.Output)
}

// bill is what requests cost.
func bill(all []fakemodel.Request) (usd float64) {
	book := cachelayout.DefaultBook()
	for _, r := range all {
		model, ok := book.Lookup(r.Model, time.Now())
		if !ok || r.Refused {
			continue
		}
		if cost := model.Cost(r.Usage.Read, r.Usage.Written-r.Usage.Hour, r.Usage.Hour, r.Usage.Uncached, r.Usage.Output); cost != nil {
			usd += *cost
		}
	}
	return usd
}

// scripted is the model of the hosts: in each turn it runs commands one by one, or
// searches memory, and then answers.
type scripted struct {
	// calls counts those of each turn, by its mark: of what a prompt holds a cut may take
	// all results. searched are the turns in which memory was asked.
	calls    map[string]int
	searched map[string]bool
	// perTurn is how many commands a turn has, rows how many lines each prints, asks the turn
	// in which memory is asked.
	perTurn, rows, asks int
}

func newScripted() *scripted {
	return &scripted{calls: map[string]int{}, searched: map[string]bool{}, perTurn: callsIn, rows: rowsIn, asks: asksAt}
}

func (s *scripted) answer(t fakemodel.Turn) fakemodel.Reply {
	words := turnOf(t.Request)
	if compacts.MatchString(t.User) {
		return fakemodel.Reply{Text: "<analysis>It was read.</analysis>\n<summary>The report was read up to " + words + ".</summary>"}
	}
	if bytes.Contains(t.Request.Body, []byte("distilling chat history")) {
		return fakemodel.Reply{Text: "<state_snapshot><overall_goal>To read the report.</overall_goal></state_snapshot>"}
	}
	if len(t.Tools) == 0 || words == "" {
		return fakemodel.Reply{Text: "The harbour's report"}
	}
	n := 0
	fmt.Sscanf(words, "mark-%d", &n)
	done := fakemodel.Reply{Text: "done: " + words}
	if n == s.asks {
		if c, ok := s.searchCall(t, words); ok {
			return fakemodel.Reply{Text: "I look.", Calls: []fakemodel.Call{c}}
		}
		return done
	}
	if made := s.calls[words]; made < s.perTurn {
		if c, ok := commandCall(t.Tools, n, made, s.rows); ok {
			s.calls[words]++
			return fakemodel.Reply{Text: "next", Calls: []fakemodel.Call{c}}
		}
	}
	return done
}

// compacts is in the words by which hosts have a session summarised.
var compacts = regexp.MustCompile(`CRITICAL: Respond with TEXT ONLY|You are performing a CONTEXT CHECKPOINT COMPACTION`)

var userMark = regexp.MustCompile(`mark-\d{3}`)

// turnOf is the mark of the newest turn, "" if there is none.
func turnOf(r fakemodel.Request) (mark string) {
	for _, seg := range r.Segments {
		if seg.Result == "" {
			for _, m := range userMark.FindAllString(string(seg.Bytes), -1) {
				mark = max(mark, m)
			}
		}
	}
	return mark
}

// commands are how hosts call the tool that runs a command.
var commands = map[string]func(line string) any{
	"Bash":              func(line string) any { return map[string]any{"command": line, "description": "reads"} },
	"bash":              func(line string) any { return map[string]any{"command": line, "description": "reads"} },
	"run_shell_command": func(line string) any { return map[string]any{"command": line} },
	"exec_command":      func(line string) any { return map[string]any{"cmd": line} },
	"shell_command":     func(line string) any { return map[string]any{"command": line} },
	"shell":             func(line string) any { return map[string]any{"command": []string{"bash", "-c", line}} },
	"execute_command":   func(line string) any { return map[string]any{"command": line, "requires_approval": false} },
	"run_commands":      func(line string) any { return map[string]any{"commands": []string{line}} },
	"exec":              func(line string) any { return map[string]any{"command": line} },
	"functions.exec": func(line string) any {
		return fmt.Sprintf("const r = await tools.exec_command({cmd: %q}); text(r.output)", line)
	},
}

func commandCall(tools []string, turn, n, rows int) (fakemodel.Call, bool) {
	return runCall(tools, turn, n, fmt.Sprintf(`seq -f "row %%g of part %d-%d: measured at station 7, checked by team 3" 1 %d`, turn, n, rows))
}

// runCall is the n-th call of a turn, of the tool that runs a command; false if there is none.
func runCall(tools []string, turn, n int, line string) (fakemodel.Call, bool) {
	for _, name := range tools {
		input := commands[name]
		if input == nil {
			continue
		}
		c := fakemodel.Call{ID: fmt.Sprintf("call_%d_%d", turn, n), Name: name}
		args := input(line)
		if text, free := args.(string); free {
			c.Text = text
			return c, true
		}
		var err error
		if c.Input, err = json.Marshal(args); err != nil {
			panic(err) // maps of strings
		}
		return c, true
	}
	return fakemodel.Call{}, false
}

// toolSearches are hosts' own searches for tools that wait, and what they take.
var toolSearches = map[string]string{"ToolSearch": `{"query":"select:mcp__memkernel__memory_search","max_results":3}`, "tool_search": `{"query":"memory_search","limit":3}`}

// searchCall is the call that asks memory: of the tool, or where it waits to be searched for,
// of that search first. ok is false once memory has answered, or if there is none.
func (s *scripted) searchCall(t fakemodel.Turn, words string) (c fakemodel.Call, ok bool) {
	tool, finder := "", ""
	for _, name := range t.Tools {
		if strings.HasSuffix(name, "memory_search") {
			tool = name
		}
		if toolSearches[name] != "" {
			finder = name
		}
	}
	id := fmt.Sprintf("call_find_%d", s.calls[words])
	switch {
	case s.calls[words] == 0 && finder != "" && (tool == "" || t.Request.Waits(tool)):
		s.calls[words]++
		return fakemodel.Call{ID: id, Name: finder, Input: json.RawMessage(toolSearches[finder])}, true
	case tool != "" && !t.Request.Waits(tool) && !s.searched[words]:
		s.calls[words]++
		s.searched[words] = true
		return fakemodel.Call{ID: id, Name: tool, Input: json.RawMessage(`{"query":"` + question + `"}`)}, true
	case tool == "" && finder == "" && slices.Contains(t.Tools, "functions.exec") && bytes.Contains(t.Request.Body, []byte("mcp__memkernel")) && !s.searched[words]:
		s.searched[words] = true
		return fakemodel.Call{ID: id, Name: "functions.exec", Text: `const r = await tools.mcp__memkernel__memory_search({query: "` + question + `"}); text(JSON.stringify(r))`}, true
	}
	return c, false
}

// byHand does what init leaves to a person: it puts the line into the file that is named.
func byHand(t *testing.T, home, doc string) {
	t.Helper()
	var d struct {
		Hosts []struct {
			ByHand []string `json:"by_hand"`
		} `json:"hosts"`
	}
	if err := json.Unmarshal([]byte(doc), &d); err != nil || len(d.Hosts) != 1 {
		t.Fatalf("%v in\n%s", err, doc)
	}
	lines := d.Hosts[0].ByHand
	if len(lines) == 0 {
		return
	}
	path, ok := strings.CutPrefix(lines[0], "# add this to ~")
	if !ok {
		return // commands, which the host's own row has
	}
	if len(lines) != 2 {
		t.Fatalf("by hand: %q", lines)
	}
	write(t, filepath.Join(home, path), lines[1])
}

// files are the contents of a folder, by path.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		text := ""
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		out[path] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
