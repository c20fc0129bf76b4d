package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// chosen are a conversation in which a person picks one of several options in two words,
// and what has to stand of it wherever the working state does.
var chosen = struct {
	offers, picks string
	want          []string
}{
	"There are two ways to keep the parcels.\n\n**Option 1: A file per parcel** is simple and slow.\n**Option 2: One append-only log** needs a reader of its own.\n\nWhich one shall I build?",
	"let's try 2, but with a lock",
	[]string{"Which one shall I build? Option 1: A file per parcel is simple and slow; Option 2: One append-only log needs a reader of its own → let's try 2, but with a lock"},
}

// What was chosen stands with its text in each of the three records, in the day's log and
// in the summary, and each alone brings it over a restart.
func TestChoicesStandInEveryNet(t *testing.T) {
	for _, n := range fallbacks {
		t.Run(string(n.name), func(t *testing.T) {
			dir := t.TempDir()
			k := n.open(t, dir)
			c := ruledWork(0.65)
			c.add(memkernel.RoleUser, words("How shall they be kept?"))
			c.add(memkernel.RoleAssistant, words(chosen.offers))
			c.add(memkernel.RoleUser, words(chosen.picks))
			c.add(memkernel.RoleAssistant, words("We decided to name it parcels.log. I build it now."))
			if o := spoken(t, k, c); o.Outcome != api.Committed || len(o.Faults) > 0 {
				t.Fatalf("%+v", o)
			}
			pass(t, k.Compact, api.Boundary{Messages: c.msgs, Private: true, Now: c.now.Add(time.Minute)})
			k.Close()
			day := ""
			days, _ := filepath.Glob(filepath.Join(dir, "memory", "2*.md"))
			for _, f := range days {
				day += read(t, "/", f)
			}
			for _, want := range chosen.want {
				if !strings.Contains(day, "- [decision] "+want) {
					t.Errorf("the day's log lacks %q:\n%s", want, day)
				}
			}
			n.bare(t, dir)
			records := map[string]string{}
			for _, file := range []string{"SESSION-STATE.md", "memory/working-buffer.md"} {
				if _, err := os.Stat(dir + "/" + file); err == nil {
					records[file] = read(t, dir, file)
				}
			}
			for _, file := range checkpoints(t, dir) {
				records[file] = read(t, "/", file)
			}
			k = n.open(t, dir)
			defer k.Close()
			r, err := k.Restore(context.Background(), api.RestoreRequest{SessionKey: "s"})
			if err != nil {
				t.Fatal(err)
			}
			records["restore text"], records["the next conversation"] = r.Text, begin(t, k)
			if len(records) != 3 {
				t.Errorf("records %d", len(records))
			}
			for name, text := range records {
				for _, want := range chosen.want {
					if !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), want) {
						t.Errorf("%s lacks %q:\n%s", name, want, text)
					}
				}
			}
		})
	}
}
