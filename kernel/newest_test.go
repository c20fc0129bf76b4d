package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
)

// A statement that takes the place of another is what MEMORY.md, the audit, a search
// and a recall go by from then on; the older line stays, as what it was.
func TestAllFollowTheNewest(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "MEMORY.md", "# Memory\n\n## Machines\n\n- The harbour sweeper listens on port 9100.\n")
	put(t, dir, "memory/2026-03-09.md", "# 2026-03-09\n\n- 10:00 [decision] The harbour sweeper listens on port 9200.\n")
	k := nightKernel(t, dir)
	defer k.Close()
	told := func() int {
		r, err := k.Maintenance().Audit(context.Background(), api.AuditOptions{Only: []health.Code{health.Contradictions}, Now: nightAt})
		if err != nil {
			t.Fatal(err)
		}
		return len(r.Findings)
	}
	if told() != 1 {
		t.Error("before the night the two are not told")
	}
	curated(t, k, true)
	memory, err := os.ReadFile(filepath.Join(dir, "MEMORY.md"))
	if err != nil {
		t.Fatal(err)
	}
	if s := string(memory); !strings.Contains(s, "port 9200") || !strings.Contains(s, "<!-- supersedes ") || !strings.Contains(s, "port 9100.\n") {
		t.Errorf("MEMORY.md is\n%s", s)
	}
	if told() != 0 {
		t.Error("what was superseded is still told")
	}
	reindex(t, k)
	res, err := k.Search(context.Background(), api.SearchRequest{Query: "which port does the harbour sweeper listen on", Private: true, Now: nightAt})
	if err != nil || len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, "9200") {
		t.Fatalf("a search finds %+v, %v", res, err)
	}
	for _, h := range res.Hits {
		if marked := h.SupersededBy != ""; marked != (strings.Contains(h.Snippet, "9100") && !strings.Contains(h.Snippet, "9200")) {
			t.Errorf("%s, %q, is superseded by %q", h.Citation, h.Snippet, h.SupersededBy)
		}
	}
	c := newConversation(7)
	c.add(memkernel.RoleUser, words("Which port does the harbour sweeper listen on?"))
	p := mustPlan(t, k, private(c))
	if block := shown(p, "memkernel:rt"); !strings.Contains(block, "port 9200") || strings.Contains(block, "port 9100") {
		t.Errorf("recalled is\n%s", block)
	}
}
