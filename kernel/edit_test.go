package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/hostile"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

var ctxb = context.Background()

// editor is a kernel whose agents edit memory by a rule.
func editor(t testing.TB, dir string, rule api.EditRule) *kernel.Kernel {
	t.Helper()
	now := func() time.Time { return nightAt }
	k, err := kernel.Open(ctxb, dir, &kernel.Options{Now: now, Memory: kernel.MemoryOptions{Edits: rule, Store: markdownstore.Options{Timezone: time.UTC, Now: now}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

// made is a file that an agent makes.
func made(t testing.TB, k *kernel.Kernel, path, text string) *api.Edited {
	t.Helper()
	e, err := k.Editor().Rewrite(ctxb, api.EditRequest{SessionKey: "s", Private: true, Files: []api.EditFile{{Path: path, Text: text}}})
	if err != nil {
		t.Fatalf("make %s: %v", path, err)
	}
	return e
}

func passage(path, old, text string) api.PassageRequest {
	return api.PassageRequest{SessionKey: "s", Path: path, Old: old, Text: text, Delete: text == "", Private: true}
}

const port = "memory/ports.md"

func TestEditPassage(t *testing.T) {
	dir := t.TempDir()
	k := editor(t, dir, "")
	first := made(t, k, port, "# Ports\n\n- The sweeper listens on port 9100.\n- The crane listens on port 9200.\n")
	e, err := k.Editor().Passage(ctxb, passage(port, "- The sweeper listens on port 9100.", "- The sweeper listens on port 9111."))
	if err != nil || e.Edit == "" || e.Edit == first.Edit || e.Files[0].StartLine != 3 || e.Files[0].EndLine != 3 {
		t.Fatalf("%+v, %v", e, err)
	}
	want := "# Ports\n\n- The sweeper listens on port 9111.\n- The crane listens on port 9200.\n"
	if got := readFile(t, dir, port); got != want {
		t.Errorf("%q", got)
	}
	again, err := k.Editor().Passage(ctxb, passage(port, "- The sweeper listens on port 9100.", "- The sweeper listens on port 9111."))
	if err != nil || !again.Duplicate || again.Edit != e.Edit {
		t.Errorf("the same once more: %+v, %v", again, err)
	}
	// By version and line, a part of a line, several lines, all of it.
	at := e.Files[0].Version
	for _, c := range []struct {
		req  api.PassageRequest
		want string
	}{
		{api.PassageRequest{Version: at, From: 4, Text: "- The crane is gone."}, "# Ports\n\n- The sweeper listens on port 9111.\n- The crane is gone.\n"},
		{api.PassageRequest{Old: "9111", Text: "9112"}, "# Ports\n\n- The sweeper listens on port 9112.\n- The crane is gone.\n"},
		{api.PassageRequest{Old: "- The sweeper listens on port 9112.\n- The crane is gone.\n", Text: "- All is on port 1.\n"}, "# Ports\n\n- All is on port 1.\n"},
		{api.PassageRequest{Old: "port", From: 3, Text: "gate"}, "# Ports\n\n- All is on gate 1.\n"},
		{api.PassageRequest{Text: "# Ports\n\none\ntwo\nthree\n"}, "# Ports\n\none\ntwo\nthree\n"},
		{api.PassageRequest{From: 3, Lines: 2, Delete: true}, "# Ports\n\nthree\n"},
	} {
		c.req.Path, c.req.SessionKey, c.req.Private = port, "s", true
		if c.req.Old == "" {
			c.req.Version = at
		}
		e, err := k.Editor().Passage(ctxb, c.req)
		if err != nil {
			t.Fatalf("%+v: %v", c.req, err)
		}
		at = e.Files[0].Version
		if got := readFile(t, dir, port); got != c.want {
			t.Errorf("%+v: %q, want %q", c.req, got, c.want)
		}
	}
	if _, err := k.Editor().Passage(ctxb, api.PassageRequest{SessionKey: "s", Path: port, Version: at, Delete: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, port)); !os.IsNotExist(err) {
		t.Error("a file that nothing is left of is there")
	}
	if findings, err := k.Check(ctxb); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
}

// A stale request is refused with what stands there now.
func TestEditStale(t *testing.T) {
	dir := t.TempDir()
	k := editor(t, dir, "")
	v := made(t, k, port, "# Ports\n\n- The sweeper listens on port 9100.\n- The crane listens on port 9200.\n").Files[0].Version
	put(t, dir, port, "# Ports\n\n- The sweeper listens on port 7000.\n- The crane listens on port 9200.\n- twice\n- twice\n")
	before := readFile(t, dir, port)
	for name, c := range map[string]struct {
		req   api.PassageRequest
		why   string
		shows string
	}{
		"old":        {passage(port, "- The sweeper listens on port 9100.", "x"), "old does not stand there", "port 7000"},
		"version":    {api.PassageRequest{Path: port, Version: v, From: 3, Text: "x"}, "not the version that was read", "port 7000"},
		"twice":      {passage(port, "- twice", "x"), "2 times, on lines 5, 6", "- twice"},
		"other line": {api.PassageRequest{Path: port, Old: "9200", From: 3, Text: "x"}, "stands on line 4, not on line 3", "7000"},
		"beyond":     {api.PassageRequest{Path: port, Old: "9200", From: 300, Text: "x"}, "no line 300", "- twice"},
		"no file":    {passage("memory/none.md", "x", "y"), "there is no such file", ""},
	} {
		c.req.Private, c.req.SessionKey = true, "s"
		var stale *api.StaleError
		if _, err := k.Editor().Passage(ctxb, c.req); !errors.As(err, &stale) || !strings.Contains(stale.Why, c.why) || !strings.Contains(stale.Text, c.shows) {
			t.Errorf("%s: %v, shows %+v", name, err, stale)
		} else if c.shows != "" && (len(stale.Version) != 64 || stale.Lines != 6) {
			t.Errorf("%s: %+v", name, stale)
		}
	}
	var refused *api.EditError
	for _, req := range []api.PassageRequest{{Path: port, Text: "x"}, {Path: port, Old: "9200"}, {Path: port, Old: "9200", Text: " \n"}} {
		if req.SessionKey, req.Private = "s", true; true {
			if _, err := k.Editor().Passage(ctxb, req); !errors.As(err, &refused) {
				t.Errorf("%+v: %v", req, err)
			}
		}
	}
	if readFile(t, dir, port) != before {
		t.Error("a refused edit changed the file")
	}
}

// What a person wrote stays as it stands, reads and counts, however it is gone about.
func TestEditLeavesPeopleAlone(t *testing.T) {
	dir := t.TempDir()
	k := editor(t, dir, "")
	const own = "- The agent's own line about the sweeper."
	fill := func() {
		t.Helper()
		put(t, dir, "memory/shed.md", "---\nowner: Mika\n---\n# Shed\n\nThe shed is Mika's,\nand she has the key.\n\n- Mika likes tea.\n\n```\ncode\n```\n\n[key]: https://a.example\n\nSee the [key].\n")
		if _, err := k.Remember(ctxb, api.RememberRequest{SessionKey: "s", Path: "memory/shed.md", Text: own, Private: true}); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	now := readFile(t, dir, "memory/shed.md")
	whole := func(old, new string) api.PassageRequest {
		c, err := k.Editor().Content(ctxb, "memory/shed.md", true)
		if err != nil || !strings.Contains(c.Text, old) {
			t.Fatalf("%q: %+v, %v", old, c, err)
		}
		return api.PassageRequest{SessionKey: "s", Path: "memory/shed.md", Version: c.Version, Text: strings.Replace(c.Text, old, new, 1), Private: true}
	}
	for name, req := range map[string]api.PassageRequest{
		"a line":                   passage("memory/shed.md", "- Mika likes tea.", "- Mika likes coffee."),
		"taken out":                passage("memory/shed.md", "- Mika likes tea.", ""),
		"a part":                   passage("memory/shed.md", "Mika's", "mine"),
		"the heading":              passage("memory/shed.md", "# Shed", "# Barn"),
		"code":                     passage("memory/shed.md", "code", "rm -rf"),
		"a fence":                  passage("memory/shed.md", "```\ncode\n```", "code"),
		"in a paragraph":           whole("The shed is Mika's,\n", "The shed is Mika's,\nor mine,\n"),
		"behind a paragraph":       whole("and she has the key.\n", "and she has the key.\nOr not.\n"),
		"underlined":               whole("and she has the key.\n", "and she has the key.\n---\n"),
		"in a fence":               whole("# Shed\n\n", "# Shed\n\n```\n"),
		"in a comment":             whole("# Shed\n\n", "# Shed\n\n<!--\n"),
		"below another heading":    whole("- Mika likes tea.", "## What is wrong\n\n- Mika likes tea."),
		"another address":          whole("# Shed\n\n", "# Shed\n\n[key]: https://b.example\n\n"),
		"in front matter":          whole("owner: Mika\n", "owner: Mika\ntitle: x\n"),
		"other front matter":       whole("owner: Mika\n", "owner: me\n"),
		"moved":                    whole("\n\n- Mika likes tea.\n\n```\ncode\n```\n", "\n\n```\ncode\n```\n\n- Mika likes tea.\n"),
		"all":                      whole(now, "# Mine\n"),
		"its own and more":         passage("memory/shed.md", "See the [key].\n\n"+own, own),
		"everything":               {SessionKey: "s", Path: "memory/shed.md", Version: whole("code", "code").Version, Delete: true, Private: true},
		"by line, the person's":    {SessionKey: "s", Path: "memory/shed.md", Version: whole("code", "code").Version, From: 6, Text: "x", Private: true},
		"a marker for the persons": whole("- Mika likes tea.\n", "- Mika likes tea.\n\n"+own+"\n"),
	} {
		_, err := k.Editor().Passage(ctxb, req)
		if name == "a marker for the persons" {
			if err != nil {
				t.Errorf("%s: a line of its own beside a person's: %v", name, err)
			}
			put(t, dir, "memory/shed.md", now)
			continue
		}
		var p *api.PersonError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), "memory_append") || p.Path != "memory/shed.md" || p.StartLine == 0 || p.Text == "" {
			t.Errorf("%s: %v", name, err)
		}
		if got := readFile(t, dir, "memory/shed.md"); got != now {
			t.Fatalf("%s changed it to\n%s", name, got)
		}
	}
	for name, files := range map[string][]api.EditFile{
		"removed": {{Path: "memory/shed.md", Version: whole("code", "code").Version, Remove: true}},
		"moved":   {{Path: "memory/barn.md", Text: now}, {Path: "memory/shed.md", Version: whole("code", "code").Version, Remove: true}},
	} {
		var p *api.PersonError
		if _, err := k.Editor().Rewrite(ctxb, api.EditRequest{SessionKey: "s", Private: true, Files: files}); !errors.As(err, &p) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "memory/barn.md")); err == nil {
		t.Error("a part of what was refused was done")
	}
	// Its own line it may change, and take out with its mark.
	if _, err := k.Editor().Passage(ctxb, passage("memory/shed.md", own, own+" It is green.")); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Editor().Passage(ctxb, passage("memory/shed.md", own+" It is green.", "")); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, dir, "memory/shed.md"); got != strings.Split(now, "\n"+own)[0] {
		t.Errorf("%q", got)
	}
	// Repeating a person's line does not make it the agent's.
	fill()
	if _, err := k.Remember(ctxb, api.RememberRequest{SessionKey: "s", Path: "memory/shed.md", Text: "- Mika likes tea.", Private: true}); err != nil {
		t.Fatal(err)
	}
	var p *api.PersonError
	if _, err := k.Editor().Passage(ctxb, api.PassageRequest{SessionKey: "s", Path: "memory/shed.md", Old: "- Mika likes tea.", From: 9, Delete: true, Private: true}); !errors.As(err, &p) {
		t.Errorf("a person's line that was repeated: %v", err)
	}
}

// A person's line in today's log is not drawn above an agent's mark.
func TestEditKeepsMarksApart(t *testing.T) {
	dir := t.TempDir()
	k := editor(t, dir, "")
	put(t, dir, "memory/2026-03-09.md", "# 2026-03-09\n\n- Mika came.\n")
	if _, err := k.Remember(ctxb, api.RememberRequest{SessionKey: "s", Text: "- agent: The agent worked.\n- agent: It went on."}); err != nil {
		t.Fatal(err)
	}
	log := "memory/2026-03-09.md"
	req := passage(log, "- Mika came.\n\n- agent: The agent worked.", "- Mika came.\n- agent: The agent worked.")
	if _, err := k.Editor().Passage(ctxb, req); err == nil {
		t.Errorf("a person's line became the agent's:\n%s", readFile(t, dir, log))
	}
	c, err := k.Editor().Content(ctxb, log, true)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"drawn near": strings.Replace(c.Text, "- Mika came.\n\n", "- Mika came.\n", 1),
		"marked":     strings.Replace(c.Text, "- Mika came.\n", "- Mika came.\n<!-- mk:me-00 -->\n", 1),
	} {
		if _, err := k.Editor().Passage(ctxb, api.PassageRequest{SessionKey: "s", Path: log, Version: c.Version, Text: text, Private: true}); err == nil {
			if by := writtenBy(t, k, log, 3); by == api.ByAgent || by == api.ByUpkeep {
				t.Errorf("%s: by %q\n%s", name, by, readFile(t, dir, log))
			}
			put(t, dir, log, c.Text)
		}
	}
	if _, err := k.Editor().Passage(ctxb, passage(log, "- agent: The agent worked.\n- agent: It went on.", "")); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, dir, log); got != "# 2026-03-09\n\n- Mika came.\n" {
		t.Errorf("%q", got)
	}
}

func TestEditRules(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "MEMORY.md", "# Memory\n\n- Mika likes tea.\n")
	none := editor(t, dir, api.EditNone)
	if _, err := none.Editor().Passage(ctxb, passage("MEMORY.md", "tea", "coffee")); !errors.Is(err, api.ErrEditsOff) || none.Editor().Rule() != api.EditNone {
		t.Errorf("none: %v", err)
	}
	if _, err := none.Editor().Undo(ctxb, api.UndoRequest{}); !errors.Is(err, api.ErrEditsOff) {
		t.Errorf("none: %v", err)
	}
	all := editor(t, dir, api.EditAny)
	req := passage("MEMORY.md", "tea", "coffee")
	req.Private = false
	if _, err := all.Editor().Passage(ctxb, req); !errors.Is(err, markdownstore.ErrDenied) {
		t.Errorf("a shared session: %v", err)
	}
	if _, err := all.Editor().Passage(ctxb, passage("MEMORY.md", "tea", "coffee")); err != nil {
		t.Errorf("any: %v", err)
	}
	if _, err := kernel.Open(ctxb, dir, &kernel.Options{Memory: kernel.MemoryOptions{Edits: "all"}}); err == nil {
		t.Error("an unknown rule is taken")
	}
	if _, err := all.Editor().Undo(ctxb, api.UndoRequest{SessionKey: "s", Private: true}); err != nil {
		t.Error(err)
	}
	if got := readFile(t, dir, "MEMORY.md"); !strings.Contains(got, "tea") {
		t.Errorf("%q", got)
	}
}

func TestEditSecrets(t *testing.T) {
	dir := t.TempDir()
	k := editor(t, dir, api.EditAny)
	secret := "AKIA" + "IOSFODNN7EXAMPLE"
	e := made(t, k, "memory/keys.md", "The key is "+secret+" today.\n")
	if got := readFile(t, dir, "memory/keys.md"); strings.Contains(got, secret) || e.Masked != 1 {
		t.Errorf("%+v: %q", e, got)
	}
	put(t, dir, "memory/theirs.md", "The key is "+secret+" today.\nNothing else.\n")
	var held *api.SecretError
	if _, err := k.Editor().Passage(ctxb, passage("memory/theirs.md", "Nothing else.", "More.")); !errors.As(err, &held) || strings.Contains(err.Error(), secret) {
		t.Errorf("a file with a secret: %v", err)
	}
	c, err := k.Editor().Content(ctxb, "memory/theirs.md", true)
	if err != nil || strings.Contains(c.Text, secret) || !c.Secrets {
		t.Errorf("%+v, %v", c, err)
	}
	var stale *api.StaleError
	if _, err := k.Editor().Rewrite(ctxb, api.EditRequest{SessionKey: "s", Private: true, Files: []api.EditFile{{Path: "memory/theirs.md", Version: strings.Repeat("0", 64), Text: "x"}}}); !errors.As(err, &stale) || strings.Contains(stale.Text, secret) {
		t.Errorf("%+v, %v", stale, err)
	}
	if at := holding(t, dir, secret); len(at) > 0 {
		t.Errorf("the secret is in %v", at)
	}
}

func TestEditUndo(t *testing.T) {
	dir := t.TempDir()
	k := editor(t, dir, "")
	made(t, k, port, "one is the first line\n")
	second, err := k.Editor().Passage(ctxb, passage(port, "first", "only"))
	if err != nil {
		t.Fatal(err)
	}
	moved, err := k.Editor().Rewrite(ctxb, api.EditRequest{SessionKey: "s", Private: true, Files: []api.EditFile{
		{Path: port, Version: second.Files[0].Version, Remove: true}, {Path: "memory/sub/gates.md", Text: "one is the only line\n"}}})
	if err != nil {
		t.Fatal(err)
	}
	if by := writtenBy(t, k, "memory/sub/gates.md", 1); by != api.ByAgent {
		t.Errorf("memory/sub/gates.md is by %q", by)
	}
	undo := func(edit, session string) (*api.EditUndone, error) {
		return k.Editor().Undo(ctxb, api.UndoRequest{SessionKey: session, Edit: edit, Private: true})
	}
	var stale *api.StaleError
	if _, err := undo(second.Edit, "s"); !errors.As(err, &stale) || !strings.Contains(stale.Why, moved.Edit+" back first") {
		t.Errorf("an older one: %v", err)
	}
	var refused *api.EditError
	if _, err := undo("", "other"); !errors.As(err, &refused) {
		t.Errorf("another session's: %v", err)
	}
	if _, err := undo("run-99", "s"); !errors.As(err, &refused) {
		t.Errorf("none: %v", err)
	}
	u, err := undo("", "s")
	if err != nil || u.Edit != moved.Edit || len(u.Files) != 2 {
		t.Fatalf("%+v, %v", u, err)
	}
	if got := readFile(t, dir, port); got != "one is the only line\n" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "memory/sub")); !os.IsNotExist(err) {
		t.Errorf("what the edit made is there: %v", err)
	}
	if _, err := undo(moved.Edit, "s"); !errors.As(err, &refused) || !strings.Contains(err.Error(), "before") {
		t.Errorf("twice: %v", err)
	}
	put(t, dir, port, "one is the person's line\n")
	if _, err := undo("", "s"); !errors.As(err, &stale) || !strings.Contains(stale.Text, "person's") {
		t.Errorf("changed since: %v", err)
	}
	put(t, dir, port, "one is the only line\n")
	for range 2 {
		if _, err := undo("", "s"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, port)); !os.IsNotExist(err) {
		t.Errorf("all was taken back: %v", err)
	}
	if _, err := k.Editor().Undo(ctxb, api.UndoRequest{Voice: api.VoicePerson, Now: nightAt}); err == nil {
		t.Error("an edit was taken for a pruning")
	}
}

// Of two writers who read the same one wins, and the other is shown what the first wrote.
func TestEditRaces(t *testing.T) {
	dir := t.TempDir()
	ks := []*kernel.Kernel{editor(t, dir, ""), editor(t, dir, "")} // as two processes
	made(t, ks[0], port, "count 0 of the sweeper\n")
	const rounds = 6
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := map[string]int{}
	for w := range 2 {
		wg.Go(func() {
			for range rounds {
				for {
					c, err := ks[w].Editor().Content(ctxb, port, true)
					if err != nil {
						t.Error(err)
						return
					}
					var n int
					if _, err := fmt.Sscanf(c.Text, "count %d of", &n); err != nil {
						t.Errorf("%q: %v", c.Text, err)
						return
					}
					_, err = ks[w].Editor().Passage(ctxb, api.PassageRequest{SessionKey: fmt.Sprint("w", w), Path: port, Version: c.Version, From: 1, Text: fmt.Sprintf("count %d of the sweeper", n+1), Private: true})
					var stale *api.StaleError
					if errors.As(err, &stale) {
						if stale.Text == "" || stale.Version == c.Version {
							t.Errorf("%+v", stale)
						}
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					won[c.Version]++
					mu.Unlock()
					break
				}
			}
		})
	}
	wg.Wait()
	if got := readFile(t, dir, port); got != fmt.Sprintf("count %d of the sweeper\n", 2*rounds) {
		t.Errorf("%q", got)
	}
	for v, n := range won {
		if n != 1 {
			t.Errorf("%d writers replaced the version %s", n, v)
		}
	}
}

func TestEditPaths(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	links := hostile.Plant(t, dir)
	put(t, dir, "AGENTS.md", "rules\n")
	put(t, dir, "memory/2026-03-01.md", "over\n")
	put(t, dir, "memory/working-buffer.md", "said\n")
	put(t, dir, "memory/SESSION-STATE.md", "state\n")
	put(t, dir, "memory/there.md", "there\n")
	if err := os.Symlink("there.md", filepath.Join(dir, "memory/alias.md")); err != nil {
		t.Skip(err)
	}
	k := editor(t, dir, api.EditAny)
	before := regular(t, dir)
	more := []string{"AGENTS.md", "memory/2026-03-01.md", "memory/working-buffer.md", "memory/SESSION-STATE.md", "memory/alias.md", "memory/.facts/x.md", "memory/there.md/x.md", "memory/THERE.md", "SOUL.md", "memory/x.txt", "memory/x"}
	for _, p := range append(append(hostile.Paths(), links...), more...) {
		if c := markdownstoreClean(p); c != "" {
			continue // it is a name like any other
		}
		if _, err := k.Editor().Rewrite(ctxb, api.EditRequest{SessionKey: "s", Private: true, Files: []api.EditFile{{Path: p, Text: "planted\n"}}}); err == nil {
			t.Errorf("%q was written", p)
		}
		for _, req := range []api.PassageRequest{passage(p, "outside", "x"), passage(p, hostile.Outside, "")} {
			if _, err := k.Editor().Passage(ctxb, req); err == nil {
				t.Errorf("%q was edited", p)
			} else if strings.Contains(err.Error(), hostile.Outside) {
				t.Errorf("%q: %v", p, err)
			}
		}
		if c, err := k.Editor().Content(ctxb, p, true); err == nil && strings.Contains(c.Text, hostile.Outside) {
			t.Errorf("%q was read", p)
		}
	}
	if after := regular(t, dir); !maps.Equal(before, after) {
		t.Errorf("files were changed: %v", after)
	}
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "outside.md")); err != nil || !bytes.Contains(b, []byte(hostile.Outside)) {
		t.Errorf("outside: %q, %v", b, err)
	}
}

// regular are the regular files of a workspace beside its state, links not followed.
func regular(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".memkernel" {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(p)
		out[p] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// markdownstoreClean is the path that a spelling which nothing is wrong with comes to: what
// acts elsewhere, and here is a name.
func markdownstoreClean(p string) string {
	c, ok := markdownstore.Classify(filepath.ToSlash(filepath.Clean(p)))
	if !ok || !c.Memory || !filepath.IsLocal(p) || strings.Contains(p, "..") || c.Kind == markdownstore.KindBuffer {
		return ""
	}
	for _, b := range []string{"．．", "\\"} {
		if strings.Contains(p, b) {
			return p
		}
	}
	if p == "nul.md" || p == "MEMORY.md" {
		return p
	}
	return ""
}

// Forgetting a session reaches what its edits left in the state folder, and tells what stands
// in files.
func TestForgetReachesEdits(t *testing.T) {
	dir := t.TempDir()
	k := editor(t, dir, "")
	first := made(t, k, port, "The harbour pays "+secretWord+" on every second Friday.\n")
	if _, err := k.Editor().Passage(ctxb, api.PassageRequest{SessionKey: "s", Path: port, Version: first.Files[0].Version, From: 1, Text: "It pays nobody now.", Private: true}); err != nil {
		t.Fatal(err)
	}
	made(t, k, "memory/still.md", "The harbour still asks "+secretWord+" for the ledger.\n")
	if len(holding(t, dir, secretWord)) == 0 {
		t.Fatal("no backup holds what was written: nothing is tested")
	}
	f, err := k.Forget(ctxb, api.ForgetRequest{SessionKey: "s", Session: true})
	if err != nil || len(f.Backups) < 2 || !strings.Contains(strings.Join(f.Elsewhere, "; "), "memory/still.md, which an agent edited") {
		t.Fatalf("a look: %+v, %v", f, err)
	}
	forget(t, k, true)
	if at := holding(t, dir, secretWord); len(at) > 0 {
		t.Errorf("it is in %v", at)
	}
	var refused *api.EditError
	if _, err := k.Editor().Undo(ctxb, api.UndoRequest{SessionKey: "s", Edit: "run-2", Private: true}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "no longer kept") {
		t.Errorf("undo: %v", err)
	}
}

func TestEditIsFound(t *testing.T) {
	dir := t.TempDir()
	k := editor(t, dir, "")
	made(t, k, port, "The sweeper listens on a gate of amber.\n")
	found := func(q string) bool {
		r, err := k.Search(ctxb, api.SearchRequest{Query: q, Private: true, Wait: -1})
		if err != nil {
			t.Fatal(err)
		}
		return len(r.Hits) > 0
	}
	if !found("amber gate sweeper") {
		t.Error("what was written is not found")
	}
	if _, err := k.Editor().Passage(ctxb, passage(port, "amber", "heather")); err != nil {
		t.Fatal(err)
	}
	if !found("heather") || found("amber") {
		t.Error("the index did not follow")
	}
}

// The author of a change by hand decides what may be changed, how it is marked and what an undo
// takes back.
func TestByHand(t *testing.T) {
	dir := t.TempDir()
	k := editor(t, dir, "")
	const path = "MEMORY.md"
	now := nightAt
	tick := func() time.Time { now = now.Add(time.Second); return now }
	say := func(v api.Voice, text string) *api.Remembered {
		t.Helper()
		r, err := k.Remember(ctxb, api.RememberRequest{Path: path, Text: text, Voice: v, Private: true, Now: tick()})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	edit := func(v api.Voice, line int, text string) error {
		_, err := k.Editor().Entry(ctxb, api.EntryRequest{Path: path, Line: line, Text: text, Delete: text == "", Voice: v, Private: true, Now: tick()})
		return err
	}
	say(api.VoicePerson, "the pump is green")
	if r := say(api.VoiceAgent, "[human] the valve is brass"); r.Text != "- agent: the valve is brass" || r.Ref.StartLine != 4 {
		t.Errorf("an agent's: %+v", r)
	}
	if r := say(api.VoicePerson, "1. one\n2. two"); r.Ref.StartLine != 5 || r.Text != "1. one" {
		t.Errorf("a list: %+v", r)
	}
	const all = "# Memory\n\n- the pump is green\n- agent: the valve is brass\n1. one\n2. two\n"
	if got := readFile(t, dir, path); got != all {
		t.Errorf("%q", got)
	}
	var person *api.PersonError
	if err := edit(api.VoiceAgent, 3, "the pump is red"); !errors.As(err, &person) {
		t.Errorf("an agent changed a person's line: %v", err)
	}
	if err := edit(api.VoiceAgent, 4, "the valve is steel"); err != nil {
		t.Error(err)
	}
	if err := edit(api.VoicePerson, 4, "the valve is tin"); err != nil || !strings.Contains(readFile(t, dir, path), "\n- the valve is tin\n") {
		t.Errorf("a person's: %v, %q", err, readFile(t, dir, path))
	}
	if err := edit(api.VoiceAgent, 4, ""); !errors.As(err, &person) {
		t.Errorf("an agent removed what a person changed: %v", err)
	}
	l, err := k.Editor().List(ctxb, api.ListRequest{Private: true})
	if err != nil || l.Total != 4 || l.Entries[0].Text != "the valve is tin" || l.Entries[0].By != api.ByPerson {
		t.Errorf("%v, %+v", err, l)
	}
	if l, err := k.Editor().List(ctxb, api.ListRequest{}); err != nil || l.Total != 0 {
		t.Errorf("a shared session's list: %v, %+v", err, l)
	}
	undo := func(v api.Voice, id string) error {
		_, err := k.Editor().Undo(ctxb, api.UndoRequest{Edit: id, Voice: v, Private: true})
		return err
	}
	if err := undo(api.VoiceAgent, ""); err == nil {
		t.Error("an agent took back what was changed since")
	}
	for range 5 {
		if err := undo(api.VoicePerson, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, path)); !os.IsNotExist(err) {
		t.Errorf("all was taken back: %v", err)
	}
	e := made(t, k, port, "a session's line\n")
	if err := undo(api.VoicePerson, ""); err == nil || !strings.Contains(err.Error(), "session is "+e.Edit) {
		t.Errorf("a session's edit was taken back without its name: %v", err)
	}
	if err := undo(api.VoicePerson, e.Edit); err != nil {
		t.Error(err)
	}
	if _, err := k.Status(ctxb, &api.StatusOptions{Session: api.DefaultSession}); err == nil {
		t.Error("an edit by hand began a session")
	}
}

// edits is what TestEditKillAnywhere kills: after every step it says how far it is.
var edits = []func(k *kernel.Kernel) error{
	func(k *kernel.Kernel) error {
		_, err := k.Editor().Rewrite(ctxb, api.EditRequest{SessionKey: "s", Private: true, Files: []api.EditFile{{Path: port, Text: "# Ports\n\n- The sweeper is on gate one.\n- The crane is on gate two.\n"}}})
		return err
	},
	func(k *kernel.Kernel) error {
		_, err := k.Editor().Passage(ctxb, passage(port, "gate one", "gate nine"))
		return err
	},
	func(k *kernel.Kernel) error {
		_, err := k.Editor().Passage(ctxb, passage(port, "- The crane is on gate two.", ""))
		return err
	},
	func(k *kernel.Kernel) error {
		c, err := k.Editor().Content(ctxb, port, true)
		if err == nil {
			_, err = k.Editor().Rewrite(ctxb, api.EditRequest{SessionKey: "s", Private: true, Files: []api.EditFile{{Path: port, Version: c.Version, Remove: true}, {Path: "memory/sub/gates.md", Text: c.Text}}})
		}
		return err
	},
	func(k *kernel.Kernel) error {
		_, err := k.Editor().Undo(ctxb, api.UndoRequest{SessionKey: "s", Private: true})
		return err
	},
	func(k *kernel.Kernel) error {
		_, err := k.Remember(ctxb, api.RememberRequest{Path: "memory/2026-01-02.md", Text: "the crane is red", Voice: api.VoicePerson, Private: true})
		return err
	},
	func(k *kernel.Kernel) error {
		_, err := k.Editor().Entry(ctxb, api.EntryRequest{Path: "memory/2026-01-02.md", Line: 3, Text: "the crane is blue", Voice: api.VoicePerson, Private: true})
		return err
	},
	func(k *kernel.Kernel) error {
		_, err := k.Editor().Entry(ctxb, api.EntryRequest{Path: "memory/2026-01-02.md", Line: 3, Delete: true, Voice: api.VoicePerson, Private: true})
		return err
	},
	func(k *kernel.Kernel) error {
		_, err := k.Editor().Undo(ctxb, api.UndoRequest{Voice: api.VoicePerson, Private: true})
		return err
	},
}

func TestEditCrashChild(t *testing.T) {
	k := editor(t, suite.Child(t), "")
	for i, step := range edits {
		if err := step(k); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		fmt.Println("ACK", i+1)
	}
}

// After a kill anywhere the files are what they were before the step, or after it, once the
// next edit was made; what was acknowledged stands.
func TestEditKillAnywhere(t *testing.T) {
	states := []map[string]string{{}}
	dir := t.TempDir()
	k := editor(t, dir, "")
	for i, step := range edits {
		if err := step(k); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		states = append(states, markdownOf(t, dir))
	}
	suite.EveryWrite(t, "TestEditCrashChild", 20, func(dir string, n int, out []byte) {
		acked := bytes.Count(out, []byte("ACK"))
		now := markdownOf(t, dir)
		if acked == 3 && now[port] == "" && now["memory/sub/gates.md"] == "" {
			t.Fatalf("killed at %d: what was moved is nowhere: %q", n, now)
		}
		k := editor(t, dir, "")
		made(t, k, "memory/after.md", "after the kill\n")
		now = markdownOf(t, dir)
		delete(now, "memory/after.md")
		if !maps.Equal(now, states[acked]) && (acked == len(edits) || !maps.Equal(now, states[acked+1])) {
			t.Fatalf("killed at %d, after step %d: %q", n, acked, now)
		}
		if findings, err := k.Check(ctxb); err != nil || len(findings) > 0 {
			t.Fatalf("killed at %d: check says %v, %v", n, findings, err)
		}
	})
}
