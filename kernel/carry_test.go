package kernel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// The carry block lists files that left the prompt with their contents, none that a call
// which stands names, and keeps its list when the process begins anew.
func TestCarryListsWhatWasWorkedOn(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c, p := cutSession(t, k, 70)
	stand := map[string]bool{}
	for _, m := range p.Messages {
		for _, part := range m.Parts {
			if part.Call != nil {
				stand[toolcall.Path(part.Call.Name, part.Call.Input)] = true
			}
		}
	}
	listed := workedOn(p)
	if len(listed) == 0 {
		t.Fatal("nothing is listed")
	}
	for _, path := range listed {
		if stand[path] {
			t.Errorf("%s is listed, though a call that stands names it", path)
		}
	}
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	c.grow()
	if q := planned(t, k, narrow(c)); q.Layout.Made == nil && !strings.HasPrefix(stream(q), stream(p)) {
		t.Error("a new process tells it in other words")
	}
}

// workedOn are the files and commands that the carry block lists.
func workedOn(p *api.ContextPlan) (listed []string) {
	for _, m := range p.Messages {
		for _, part := range m.Parts {
			_, list, _ := strings.Cut(part.Text, "that nothing below names:\n")
			for _, line := range strings.Split(list, "\n") {
				path, isPath := strings.CutPrefix(line, "- ")
				if !isPath {
					break
				}
				listed = append(listed, strings.TrimSuffix(path, " (edited)"))
			}
		}
	}
	return listed
}

// An agent that reads its files by scripts finds them in the carry block, too.
func TestCarryListsTheFilesOfScripts(t *testing.T) {
	k := openKernel(t, t.TempDir())
	defer k.Close()
	c := session(70, 12, 6, 2500)
	for _, m := range c.msgs {
		for _, part := range m.Parts {
			if in := part.Call; in != nil {
				in.Input = `const r = await tools.exec_command({cmd:"cat ` + toolcall.Path(in.Name, in.Input) + `", yield_time_ms:1000}); text(r.output);`
				in.Name, in.Custom = "exec", true
			}
		}
	}
	listed := workedOn(planned(t, k, narrow(c)))
	if len(listed) == 0 || slices.ContainsFunc(listed, func(p string) bool { return !strings.HasPrefix(p, "pkg/queue/worker_") }) {
		t.Errorf("listed are %q", listed)
	}
}
