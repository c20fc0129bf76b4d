//go:build unix

package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/memkernel/memkernel/client"
	"github.com/memkernel/memkernel/client/protocol"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/service/internal/fleet"
)

// schemaFolder has a file for each version of the tables; earlier commits have them in earlierFolder.
const schemaFolder, earlierFolder = "service/internal/pgstore/schema", "internal/store/pgstore/schema"

// older is a commit of this repository whose tables are of an earlier version.
type older struct {
	commit  string
	version int
}

// olderCommits finds, for each version of the tables before this tree's that was ever the
// newest one here, the last commit that had it; the newest version first.
func olderCommits(t *testing.T) (root string, out []older) {
	t.Helper()
	git := func(args ...string) []string {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		b, err := cmd.Output()
		if err != nil {
			t.Skipf("no history of this repository here: git %s: %v", strings.Join(args, " "), err)
		}
		return strings.Fields(string(b))
	}
	top := git("rev-parse", "--show-toplevel")
	if _, err := os.Stat(filepath.Join(top[0], schemaFolder)); len(top) != 1 || err != nil {
		t.Skip("this is no checkout of the repository")
	}
	root = top[0]
	if git("rev-parse", "--is-shallow-repository")[0] == "true" {
		t.Skip("the history is cut short: 'git fetch --unshallow' brings it")
	}
	versions := func(commit string) int {
		return len(git("ls-tree", "--name-only", commit, schemaFolder+"/", earlierFolder+"/"))
	}
	least := versions("HEAD")
	for _, added := range git("log", "--first-parent", "--diff-filter=A", "--format=%H", "--", schemaFolder, earlierFolder) {
		if v := versions(added + "^1"); v > 0 && v < least {
			out, least = append(out, older{git("rev-parse", added+"^1")[0], v}), v
		}
	}
	if len(out) == 0 {
		t.Skip("the history has no earlier version of the tables")
	}
	return root, out
}

// buildOlder builds the program of a commit.
func buildOlder(t *testing.T, root, commit string) string {
	t.Helper()
	dir := t.TempDir()
	tree := filepath.Join(dir, "tree")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("worktree", "add", "--detach", "--quiet", tree, commit)
	defer git("worktree", "remove", "--force", tree)
	bin := filepath.Join(dir, "memkernel")
	build := exec.Command("go", "build", "-o", bin, "./cmd/memkernel")
	build.Dir = tree
	if _, err := os.Stat(filepath.Join(tree, schemaFolder)); err == nil {
		build = exec.Command("go", "build", "-o", bin, "./cmd/memkernel-server")
		build.Dir = filepath.Join(tree, "service")
	}
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", commit, err, out)
	}
	return bin
}

// TestUpgrade has services of an earlier version, built of the history, replaced by this one
// one after the other while clients deliver turns, as doc/scaling.md says: the first new one
// brings the tables up to its version, old ones go on, and one that is started after that is
// refused; sessions move between the two, and both plan the same bytes; no turn is lost.
func TestUpgrade(t *testing.T) {
	if !suite.Long() {
		t.Skip("builds a program for each earlier version of the tables")
	}
	bin := command(t)
	root, all := olderCommits(t)
	for _, old := range all {
		t.Run(fmt.Sprintf("from version %d", old.version), func(t *testing.T) {
			before := buildOlder(t, root, old.commit)
			server := own(t)
			tables := func() (n int) {
				t.Helper()
				if err := ask(t.Context(), server.DSN(), "SELECT max(version) FROM memkernel_state.versions", &n); err != nil {
					t.Fatal(err)
				}
				return n
			}
			f, err := fleet.Mixed(t.TempDir(), server.DSN(), time.Second)
			if err != nil {
				t.Fatal(err)
			}
			s := &soak{t: t, f: f, refusals: map[string]int{}, public: true}
			start := func(bin string) *fleet.Machine {
				t.Helper()
				m, err := f.Of(bin)
				if err == nil {
					err = m.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { m.End(syscall.SIGKILL) })
				s.mu.Lock()
				defer s.mu.Unlock()
				s.machines = append(s.machines, m)
				return m
			}
			drain := func(m *fleet.Machine) {
				m.End(syscall.SIGTERM)
				s.mu.Lock()
				defer s.mu.Unlock()
				for i, o := range s.machines {
					if o == m {
						s.machines = append(s.machines[:i:i], s.machines[i+1:]...)
					}
				}
			}
			a, b := start(before), start(before)
			if n := tables(); n != old.version {
				t.Fatalf("the older program made tables of version %d", n)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var talking sync.WaitGroup
			defer talking.Wait()
			defer cancel()
			for i := range soakSessions {
				talking.Go(func() { s.talk(ctx, i) })
			}
			s.more(ctx, 2)
			c := start(bin)
			if n := tables(); n <= old.version {
				t.Fatalf("the newer program left the tables at version %d", n)
			}
			s.more(ctx, 3) // on old ones and the new one, whichever takes the call

			// A session that nobody else writes to: both plan the same bytes.
			still := &still{t: t}
			for i, m := range []*fleet.Machine{a, c, b, c, a} {
				still.turn(i)
				was := ""
				for _, by := range []*fleet.Machine{a, b, c} {
					got := still.peek(by)
					if was == "" {
						was = got
					}
					if got != was {
						t.Errorf("turn %d: two versions plan different bytes:\n%.2000s\n%.2000s", i, was, got)
					}
				}
				still.observe(m)
			}

			// Under load still: one that is started again is refused, and the others go on.
			want := fmt.Sprintf("the tables are of version %d, and this program knows %d; upgrade memkernel on this machine, or name another database", tables(), old.version)
			drain(a)
			if err := a.Start(); err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("an older program on newer tables: %v", err)
			}
			s.more(ctx, 2)
			start(bin)
			s.more(ctx, 2)
			drain(b)
			s.more(ctx, 2)
			cancel()
			talking.Wait()
			for _, m := range s.machines {
				m.End(syscall.SIGTERM)
			}
			s.settle()
			t.Logf("from version %d (%.9s) to %d: %d turns acknowledged, %d delivered again: %v; %d lost, %d doubled", old.version, old.commit, tables(), s.total(), s.again.Load(), s.refusals, s.lost, s.doubled)
		})
	}
}

// still is a session whose turns are not delivered by several at once, and which is shown no
// file that others write.
type still struct {
	t        *testing.T
	results  int // bytes of a tool's result that each turn has, 0 for none
	messages []json.RawMessage
	turns    int64
}

func (s *still) client(m *fleet.Machine) *client.Client {
	s.t.Helper()
	c, err := client.Connect(s.t.Context(), m.Client())
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *still) turn(n int) {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	s.messages = append(s.messages, said("user", fmt.Sprintf("question %d: we decided that port %d stays. %s", n, 8000+n, strings.Repeat(fmt.Sprintf("word %x ", rng.Uint64()), 2000))))
}

// peek is what a machine would have sent, as it says that.
func (s *still) peek(m *fleet.Machine) string {
	s.t.Helper()
	c := s.client(m)
	defer c.Close()
	var all []any
	for _, m := range s.messages {
		all = append(all, m)
	}
	p, err := c.Peek(s.t.Context(), &protocol.PlanParams{SessionKey: "still", Model: model, Now: time.Date(2026, 11, 24, 12, len(s.messages), 0, 0, time.UTC),
		Conversation: &protocol.Conversation{Dialect: "anthropic", Messages: all}})
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := json.Marshal([]any{p.Items, p.Markers, p.Params, p.Budgets, p.Regions, p.Cut})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(out)
}

// observe commits the turn by a machine, after a plan of it.
func (s *still) observe(m *fleet.Machine) {
	s.t.Helper()
	c := s.client(m)
	defer c.Close()
	now := time.Date(2026, 11, 24, 12, len(s.messages), 0, 0, time.UTC)
	session := c.Session("still", client.SessionOptions{Model: model})
	p, err := session.Plan(s.t.Context(), s.messages, &protocol.PlanParams{Now: now})
	if err != nil {
		s.t.Fatal(err)
	}
	turn := len(s.messages)
	if s.results > 0 {
		s.messages = append(s.messages, called(rand.New(rand.NewPCG(uint64(turn), 9)), fmt.Sprint("s", turn), s.results)...)
	}
	s.messages = append(s.messages, said("assistant", fmt.Sprintf("answer to %d", turn)))
	o, err := session.ObserveTurn(s.t.Context(), s.messages, &protocol.TurnParams{PlanID: p.PlanID, Now: now})
	s.turns++
	if err != nil || o.Outcome != "committed" || o.Turns != s.turns {
		s.t.Fatalf("turn %d: %+v, %v", s.turns, o, err)
	}
}
