package kernel_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

// sampleWorkspace is a small workspace that has something to say on what the
// invented conversations ask for.
var sampleWorkspace = map[string]string{
	"AGENTS.md":                "# Rules\n\n## Red Lines\n\n- Never push to main.\n\n## Style\n\nTabs, not spaces.\n",
	"SOUL.md":                  "# Soul\n\nCalm and exact.\n",
	"USER.md":                  "# User\n\nKim likes short answers.\n",
	"MEMORY.md":                "# Memory\n\n- The staging cluster is called heron.\n",
	"SESSION-STATE.md":         "# State\n\nGoal: make the retry tests pass\nCurrent step: the retry test of the queue worker\n",
	"memory/2026-11-03.md":     "# 2026-11-03\n\nBegan with the queue this morning.\n",
	"memory/2026-11-02.md":     "# 2026-11-02\n\nYesterday the deploy was rolled back.\n",
	"memory/2026-01-15.md":     "# 2026-01-15\n\nThe retry test of the queue worker fails when the clock jumps.\n",
	"memory/queue.md":          "# Queue\n\nA worker retries a job five times, then parks it.\n",
	"memory/working-buffer.md": "retry retry retry worker test\n",
}

func put(t fataler, dir, path, text string) {
	t.Helper()
	path = filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatalf("%v", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatalf("%v", err)
	}
}

func fillWorkspace(t fataler, dir string, more map[string]string) {
	t.Helper()
	for path, text := range sampleWorkspace {
		put(t, dir, path, text)
	}
	for path, text := range more {
		put(t, dir, path, text)
	}
}

func reindex(t fataler, k *kernel.Kernel) *api.Reindexed {
	t.Helper()
	r, err := k.Reindex(context.Background(), nil)
	if err != nil {
		t.Fatalf("reindex: %v", err)
	}
	return r
}

// workspaceKernel opens a kernel over the sample workspace, indexed.
func workspaceKernel(t *testing.T, more map[string]string) (*kernel.Kernel, string) {
	t.Helper()
	dir := t.TempDir()
	fillWorkspace(t, dir, more)
	k := openKernel(t, dir)
	t.Cleanup(func() { k.Close() })
	reindex(t, k)
	return k, dir
}

func private(c *conversation) api.PlanRequest {
	req := request(c)
	req.Private = true
	return req
}

// shown is all text of a message that the kernel added.
func shown(p *api.ContextPlan, prefix string) string {
	var b strings.Builder
	for i := range p.Messages {
		if strings.HasPrefix(p.Messages[i].Key, prefix) {
			for j := range p.Messages[i].Parts {
				b.WriteString(p.Messages[i].Parts[j].Text + "\n")
			}
		}
	}
	return b.String()
}

func TestWorkspaceStandsInTheCarryBlock(t *testing.T) {
	k, _ := workspaceKernel(t, nil)
	c := newConversation(1)
	c.user()
	p := mustPlan(t, k, private(c))
	checkPlan(t, p, c.msgs)
	carry := shown(p, "memkernel:carry")
	for _, want := range []string{"Never push to main.", "Calm and exact.", "Kim likes short answers.", "called heron", "standing instructions"} {
		if !strings.Contains(carry, want) {
			t.Errorf("%q is not in the carry block:\n%s", want, carry)
		}
	}
	if p.Messages[0].Key != "memkernel:carry" {
		t.Errorf("the first message is %s", p.Messages[0].Key)
	}
	behind := shown(p, "memkernel:nt") + shown(p, "memkernel:rt")
	for _, want := range []string{"Began with the queue", "Yesterday the deploy", "when the clock jumps", "memory/2026-01-15.md"} {
		if !strings.Contains(behind, want) {
			t.Errorf("%q is not behind the newest message:\n%s", want, behind)
		}
	}
	for _, not := range []string{"retry retry", "Current step: the retry test"} {
		if strings.Contains(carry+behind, not) {
			t.Errorf("%q of a record of the program's own is in the prompt", not)
		}
	}
}

// Shared sessions neither load, find nor read what is private, and a private
// conversation does not become shared.
func TestSharedSessionsDoNotSeePrivateFiles(t *testing.T) {
	k, _ := workspaceKernel(t, map[string]string{"USER.md": "# User\n\nKim's retry test worker notes.\n"})
	c := newConversation(1)
	c.user()
	p := mustPlan(t, k, request(c))
	for _, m := range p.Messages {
		for _, part := range m.Parts {
			if strings.Contains(part.Text, "Kim") || strings.Contains(part.Text, "heron") {
				t.Errorf("a shared prompt shows %q", part.Text)
			}
		}
	}
	if !strings.Contains(shown(p, "memkernel:carry"), "Never push") {
		t.Error("the rules are for everybody")
	}
	ctx := context.Background()
	for _, q := range []string{"staging cluster heron", "Kim"} {
		res, err := k.Search(ctx, api.SearchRequest{Query: q})
		if err != nil || res.Reason != retrieval.NoMatch {
			t.Errorf("%s: %v %+v", q, err, res)
		}
		if res, err = k.Search(ctx, api.SearchRequest{Query: q, Private: true}); err != nil || len(res.Hits) != 1 {
			t.Errorf("%s, private: %v %+v", q, err, res)
		}
	}
	var denied *markdownstore.DeniedError
	for _, path := range []string{"MEMORY.md", "USER.md", "memory/../MEMORY.md", "/etc/passwd", "../x.md", "AGENTS.md"} {
		if _, err := k.Read(ctx, api.ReadRequest{Path: path}); !errors.As(err, &denied) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got, err := k.Read(ctx, api.ReadRequest{Path: "MEMORY.md", From: 3, Private: true}); err != nil || !strings.Contains(got.Text, "heron") || strings.Contains(got.Text, "#") {
		t.Errorf("%+v, %v", got, err)
	}
	mustPlan(t, k, private(c))
	if _, err := k.PlanContext(ctx, request(c)); !errors.Is(err, api.ErrPrivate) {
		t.Errorf("a private conversation was planned as shared: %v", err)
	}
}

// What stands in front keeps its bytes when a file changes; the change is told
// once, behind the newest message of the next turn, and a cut brings the carry
// block up to date.
func TestWorkspaceChangesAreToldOnce(t *testing.T) {
	k, dir := workspaceKernel(t, nil)
	c := newConversation(2)
	c.user()
	last := stream(mustPlan(t, k, private(c)))
	plan := func() *api.ContextPlan {
		t.Helper()
		p := mustPlan(t, k, private(c))
		checkPlan(t, p, c.msgs)
		s := stream(p)
		if p.Layout.Made == nil && !strings.HasPrefix(s, last) {
			t.Fatalf("the request is no extension of the one before:\n%s", cmp.Diff(last, s))
		}
		last = s
		return p
	}
	put(t, dir, "AGENTS.md", "# Rules\n\n## Red Lines\n\n- Never push to main.\n\n## Style\n\nSpaces, not tabs.\n")
	put(t, dir, "TOOLS.md", "# Tools\n\nUse rg.\n")
	os.Remove(filepath.Join(dir, "SOUL.md"))
	c.loop(1, 400)
	if p := plan(); strings.Contains(stream(p), "Spaces") {
		t.Error("a change was told inside the loop")
	}
	c.say()
	c.user()
	p := plan()
	notes := shown(p, "memkernel:nt")
	for _, want := range []string{"Spaces, not tabs.", "Use rg.", "SOUL.md no longer exists"} {
		if strings.Count(notes, want) != 1 {
			t.Errorf("%q is told %d times:\n%s", want, strings.Count(notes, want), notes)
		}
	}
	for range 3 {
		c.loop(1, 400)
		plan()
		c.say()
		c.user()
		if got := shown(plan(), "memkernel:nt"); strings.Count(got, "Spaces, not tabs.") != 1 {
			t.Fatalf("told again:\n%s", got)
		}
	}
	put(t, dir, "AGENTS.md", sampleWorkspace["AGENTS.md"])
	c.loop(1, 400)
	c.say()
	c.user()
	if got := shown(plan(), "memkernel:nt"); !strings.Contains(got, "Tabs, not spaces.") {
		t.Errorf("that the file is as it was is not told:\n%s", got)
	}
	for range 40 {
		c.loop(2, 6000)
		c.say()
		c.user()
		if p = plan(); p.Layout.Made != nil {
			break
		}
	}
	carry := shown(p, "memkernel:carry")
	if p.Layout.Made == nil || !strings.Contains(carry, "Tabs, not spaces.") || !strings.Contains(carry, "Use rg.") || strings.Contains(carry, "Calm and exact") {
		t.Errorf("after the cut (%v) the carry block is\n%s", p.Layout.Made, carry)
	}
	if got := shown(p, "memkernel:nt"); strings.Contains(got, "AGENTS.md") {
		t.Errorf("the old notes stand:\n%s", got)
	}
}

// A file that the host shows itself is not carried; what the host cut off is.
func TestHostShowsTheFileItself(t *testing.T) {
	k, _ := workspaceKernel(t, nil)
	c := newConversation(3)
	c.user()
	req := private(c)
	req.System = []memkernel.Part{words("You are an agent.\n\n" + sampleWorkspace["AGENTS.md"])}
	if carry := shown(mustPlan(t, k, req), "memkernel:carry"); strings.Contains(carry, "AGENTS.md") || !strings.Contains(carry, "SOUL.md") {
		t.Errorf("the carry block is\n%s", carry)
	}
	req.SessionKey = "cut"
	req.System[0] = words("You are an agent.\n\n# Rules\n\n## Red Lines\n\n- Never push to main.\n\n[truncated]")
	p := mustPlan(t, k, req)
	carry := shown(p, "memkernel:carry")
	if strings.Contains(carry, "Never push") || !strings.Contains(carry, "Tabs, not spaces.") || !hasFault(p, "host_truncated") {
		t.Errorf("faults %+v, the carry block is\n%s", p.Faults, carry)
	}
}

// Files that take too much are reduced, the least important first, never below
// their floors.
func TestWorkspaceKeepsWithinItsBound(t *testing.T) {
	long := "# Long\n\n" + strings.Repeat("Prose that nobody needs to see in full, and yet here it stands.\n", 900) + "- Never delete the ledger.\n"
	k, _ := workspaceKernel(t, map[string]string{"MEMORY.md": long})
	c := newConversation(4)
	c.user()
	p := mustPlan(t, k, private(c))
	checkPlan(t, p, c.msgs)
	carry := shown(p, "memkernel:carry")
	if !strings.Contains(carry, "Tabs, not spaces.") || len(carry) > 30_000 {
		t.Errorf("%d bytes of carry block: %.2000s", len(carry), carry)
	}
	k, _ = workspaceKernel(t, map[string]string{"AGENTS.md": strings.ReplaceAll(long, "Prose", "- Never use prose")})
	if p = mustPlan(t, k, private(c)); !hasFault(p, "workspace_over_budget") || !strings.Contains(shown(p, "memkernel:carry"), "Never delete the ledger.") {
		t.Errorf("faults are %+v", p.Faults)
	}
}

// TestQuestionIsBounded: a question of a search may not be as long as a prompt.
func TestQuestionIsBounded(t *testing.T) {
	dir := t.TempDir()
	fillWorkspace(t, dir, nil)
	k, err := kernel.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	req := api.SearchRequest{Query: strings.Repeat("heron ", api.MaxQuestion/6+1), Private: true}
	if _, err := k.Search(t.Context(), req); !errors.Is(err, api.ErrQuestion) {
		t.Errorf("a question of %d bytes: %v", len(req.Query), err)
	}
	req.Prompt = true
	if r, err := k.Search(t.Context(), req); err != nil || len(r.Hits) == 0 {
		t.Errorf("a prompt of %d bytes: %+v, %v", len(req.Query), r, err)
	}
}
