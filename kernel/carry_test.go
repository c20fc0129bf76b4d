package kernel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
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
				stand[toolcall.Read(part.Call.Name, part.Call.Input).Path()] = true
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

// workedOn are the files that the carry block lists.
func workedOn(p *api.ContextPlan) (listed []string) {
	for _, m := range p.Messages {
		for _, part := range m.Parts {
			_, list, _ := strings.Cut(part.Text, "\nfiles (* edited, with names in the edits):\n")
			for _, line := range strings.Split(list, "\n") {
				folder, isFolder := strings.CutPrefix(line, "  - ")
				if !isFolder {
					break
				}
				dir, names, _ := strings.Cut(folder, " ")
				for _, name := range strings.Split(names, ", ") {
					name, _, _ = strings.Cut(name, " (")
					listed = append(listed, dir+strings.TrimSuffix(name, "*"))
				}
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
				in.Input = `const r = await tools.exec_command({cmd:"cat ` + toolcall.Read(in.Name, in.Input).Path() + `", yield_time_ms:1000}); text(r.output);`
				in.Name, in.Custom = "exec", true
			}
		}
	}
	listed := workedOn(planned(t, k, narrow(c)))
	if len(listed) == 0 || slices.ContainsFunc(listed, func(p string) bool { return !strings.HasPrefix(p, "pkg/queue/worker_") }) {
		t.Errorf("listed are %q", listed)
	}
}

// What a person typed stays in the prompt word for word after it left as a message, once each and
// in order. If there is no room, pastes and long paragraphs are shown by their beginnings, and a
// statement stays with its correction. What hosts and other agents wrote is nobody's word.
func TestWordsOfPersonsStay(t *testing.T) {
	facts := []string{"The box staging_1 listens on port 54331.", "Marit owns the exporter until 14 March.", "The box staging_1 listens on port 54400.", "The import takes 47 minutes."}
	log := strings.TrimSpace(strings.Repeat("worker 17 waits for the tide to turn; ", 60))
	told := newConversation(91)
	for i, f := range facts {
		told.add(memkernel.RoleUser, words(f+"\n\n<teammate-message>nobody said this</teammate-message>"))
		if i == 1 {
			told.add(memkernel.RoleUser, words("This is what it prints:\n\n"+log+"\n\n```\n"+log+"\n```"))
		}
		told.loop(2, 6000)
		told.say()
	}
	for range 8 {
		told.user()
		told.loop(3, 6000)
		told.say()
	}
	told.user()
	for window, whole := range map[int]bool{64_000: true, 24_000: false} {
		k := openKernel(t, t.TempDir())
		req := request(told)
		req.ContextWindow, req.Resolver = window, "memory_get"
		mustPlan(t, k, req)
		covers := slices.IndexFunc(told.msgs, func(m memkernel.Message) bool { return strings.HasPrefix(m.Parts[0].Text, "Please look at") })
		pass(t, k.Compact, api.Boundary{Messages: told.msgs, Compact: &api.CompactWish{Provider: &api.ProviderCompaction{Blocks: []string{`{"type":"compaction","content":"It went on."}`}, Covers: covers}}})
		p := mustPlan(t, k, req)
		k.Close()
		text := stream(p)
		for i := range facts {
			if key := told.msgs[slices.IndexFunc(told.msgs, func(m memkernel.Message) bool { return strings.HasPrefix(m.Parts[0].Text, facts[i]) })].Key; goneKeys(p)[key] == "" {
				t.Fatalf("window %d: the message with fact %d stands: the test shows nothing", window, i)
			}
		}
		at := -1
		for _, f := range []int{0, 2, 1, 3} { // a correction stands with what it corrects
			if n := strings.Count(text, facts[f]); n != 1 {
				t.Errorf("window %d: %q stands %d times", window, facts[f], n)
			}
			if f != 0 && f != 2 {
				if i := strings.Index(text, facts[f]); i < at {
					t.Errorf("window %d: %q is out of order", window, facts[f])
				} else {
					at = i
				}
			}
		}
		if got := strings.Contains(text, log); got != whole || !strings.Contains(text, "This is what it prints:") || !whole && !strings.Contains(text, " bytes more: cv-") {
			t.Errorf("window %d: the log stands: %v\n%.3000s", window, got, text)
		}
		if _, block, _ := strings.Cut(text, "[SESSION_SUMMARY"); strings.Contains(block[:strings.Index(block, "left the prompt")], "nobody said") {
			t.Errorf("window %d: an agent's words are a person's", window)
		}
	}
}
