package kernel_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// scoped is a folder of notes about several projects.
func scoped(t *testing.T) string {
	return putAll(t, filepath.Join(t.TempDir(), "vault"), map[string]string{
		"MEMORY.md":            "marmots in general\n",
		"memory/alpha.md":      "---\nproject: Alpha Site\ntags: [ops]\n---\nmarmots of alpha\n",
		"memory/beta.md":       "---\nproject: [beta, gamma]\n---\nmarmots of beta #ops/night\n\n```\n#define marmots\n```\n",
		"memory/code.md":       "---\nscope: domain:code\n---\nmarmots in code\n",
		"memory/archive/a.md":  "marmots of old\n",
		"memory/archivist.md":  "marmots of the archivist\n",
		"memory/archive-2.md":  "marmots of other years\n",
		"memory/2026/ops/n.md": "marmots in a folder\n",
	})
}

// A search looks in the files that its scope names by folder, tag or front matter, and in no
// others.
func TestSearchScopes(t *testing.T) {
	k, err := kernel.Open(context.Background(), scoped(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	for names, want := range map[string][]string{
		"archive":        {"memory/archive/a.md"},
		"memory/archive": {"memory/archive/a.md"},
		"alpha site":     {"memory/alpha.md"},
		"GAMMA":          {"memory/beta.md"},
		"domain:code":    {"memory/code.md"},
		"ops":            {"memory/2026/ops/n.md", "memory/alpha.md", "memory/beta.md"},
		"#ops/night":     {"memory/beta.md"},
		"ops,-beta":      {"memory/2026/ops/n.md", "memory/alpha.md"},
		"define":         {},
		"-memory":        {"MEMORY.md"},
		"-ops,-archive":  {"MEMORY.md", "memory/archive-2.md", "memory/archivist.md", "memory/code.md"},
	} {
		res, err := k.Search(context.Background(), api.SearchRequest{Query: "marmots", Private: true, Scope: strings.Split(names, ",")})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, pathsOf(res)); diff != "" {
			t.Errorf("%s: %s", names, diff)
		}
		if len(want) == 0 && !strings.Contains(res.Detail, names) {
			t.Errorf("%s: nothing found, and the reason does not name the scope: %q", names, res.Detail)
		}
	}
	for names, want := range map[string]string{
		"Nope":       "no folder, tag or project is called Nope; there are memory, #ops, #ops/night, 2026, alpha site, archive, beta, domain:code, gamma, ops",
		"archiv":     "no folder, tag or project is called archiv; there are archive, memory, #ops, ",
		"ops,-nowhe": "no folder, tag or project is called -nowhe; there are memory, ",
		"ops":        "",
	} {
		res, err := k.Search(context.Background(), api.SearchRequest{Query: "marmots", Private: true, Scope: strings.Split(names, ",")})
		said := res.Note
		if len(res.Hits) == 0 {
			said = res.Detail
		}
		if err != nil || !strings.HasPrefix(said, want) || want == "" && said != "" {
			t.Errorf("%s: %q, want %q; %v", names, said, want, err)
		}
	}
	if _, err := k.Search(context.Background(), api.SearchRequest{Query: "marmots", Private: true, Scope: []string{"-"}}); err == nil {
		t.Error("a scope without a name is taken")
	}
}

// Front matter that changes alone changes the scope of its file.
func TestScopeChanges(t *testing.T) {
	dir := scoped(t)
	k, err := kernel.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	in := func() []string {
		res, err := k.Search(context.Background(), api.SearchRequest{Query: "marmots", Private: true, Scope: []string{"delta"}})
		if err != nil {
			t.Fatal(err)
		}
		return pathsOf(res)
	}
	if got := in(); len(got) > 0 {
		t.Errorf("%v", got)
	}
	putAll(t, dir, map[string]string{"memory/code.md": "---\nscope: [delta, domain:code]\n---\nmarmots in code\n"})
	if got := in(); !cmp.Equal(got, []string{"memory/code.md"}) {
		t.Errorf("%v", got)
	}
}

// A session in a project's folder is not shown notes of other projects. In the root of a
// workspace whose notes name no project of that root, all notes are shown.
func TestProjectOfTheFolder(t *testing.T) {
	dir := scoped(t)
	repo := putAll(t, t.TempDir(), map[string]string{".git/config": "[remote \"origin\"]\n\turl = git@example.org:us/gamma.git\n", "x/y": ""})
	k, err := kernel.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	rest := []string{"MEMORY.md", "memory/2026/ops/n.md", "memory/archive-2.md", "memory/archive/a.md", "memory/archivist.md", "memory/code.md"}
	for folder, more := range map[string][]string{
		filepath.Join(dir, "alpha_site", "src"): {"memory/alpha.md"},
		filepath.Join(dir, "omega"):             nil,
		filepath.Join(repo, "x"):                {"memory/beta.md"},
		dir:                                     {"memory/alpha.md", "memory/beta.md"},
	} {
		res, err := k.Search(context.Background(), api.SearchRequest{Query: "marmots", Private: true, MaxResults: 20, Folder: folder})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{}
		for _, p := range append(more, rest...) {
			want[p] = true
		}
		for _, p := range pathsOf(res) {
			if !want[p] {
				t.Errorf("%s: %s is shown", folder, p)
			}
			delete(want, p)
		}
		for p := range want {
			t.Errorf("%s: %s is not shown", folder, p)
		}
	}
}

// A plan recalls what belongs to the workspace's project or to none.
func TestPlansLeaveOutOtherProjects(t *testing.T) {
	dir := putAll(t, filepath.Join(t.TempDir(), "this"), map[string]string{
		"memory/this.md":  "---\nproject: this\n---\nThe retry test of the queue worker needs a fake clock.\n",
		"memory/other.md": "---\nproject: other\n---\nThe retry test of the queue worker needs a real clock.\n",
		"memory/none.md":  "The retry test of the queue worker runs on Mondays.\n",
	})
	k, err := kernel.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	c := newConversation(5)
	c.add(memkernel.RoleUser, words("What does the retry test of the queue worker need?"))
	got := shown(mustPlan(t, k, private(c)), "memkernel:rt")
	if !strings.Contains(got, "fake clock") || !strings.Contains(got, "Mondays") || strings.Contains(got, "real clock") {
		t.Errorf("recalled:\n%s", got)
	}
}
