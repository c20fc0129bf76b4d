package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
)

// Where the file can't be written, what is to be remembered is answered with that, kept
// by the journal over a restart, and written once when the file can be; the turn stands.
func TestRememberWhereNothingCanBeWritten(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	open := func() *kernel.Kernel {
		t.Helper()
		k, err := kernel.Open(ctx, dir, &kernel.Options{Now: func() time.Time { return noon }})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	path := "memory/" + noon.Format(time.DateOnly) + ".md"
	put(t, dir, path, "# Today\n")
	log := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.Chmod(log, 0o444); err != nil { // which the store keeps to, whoever runs it
		t.Fatal(err)
	}
	kept := func(what, detail string) {
		t.Helper()
		if !strings.Contains(detail, "journal keeps it") || !strings.Contains(detail, path) || !strings.Contains(detail, "chmod u+w") {
			t.Errorf("%s says %q", what, detail)
		}
	}
	k := open()
	r, err := k.Remember(ctx, api.RememberRequest{SessionKey: "s", Text: "The ferry leaves at nine."})
	if err != nil || r.ID == "" || r.Ref.StartLine != 0 {
		t.Fatalf("%+v %v", r, err)
	}
	kept("Remember", r.Unwritten)
	again, err := k.Remember(ctx, api.RememberRequest{SessionKey: "s", Text: "The ferry leaves at nine."})
	if err != nil || again.ID != r.ID {
		t.Errorf("again: %+v %v", again, err)
	}
	c := newConversation(3)
	c.add(memkernel.RoleUser, words("Merk dir, dass das Depot um sechs schließt."))
	c.say()
	o := observe(t, k, api.Turn{Messages: c.msgs, Private: true})
	if o.Outcome != api.Committed {
		t.Errorf("%+v", o)
	}
	told := 0
	for _, f := range o.Faults {
		if f.Code == fault.FlushSkipped {
			told++
			kept("ObserveTurn", f.Detail)
		}
	}
	if told != 1 {
		t.Errorf("told %d times: %+v", told, o.Faults)
	}
	f, err := k.ObserveFlush(ctx, api.FlushReply{SessionKey: "s", Text: "- [lesson] The pier is slippery."})
	if err != nil || f.Items != 1 {
		t.Fatalf("%+v %v", f, err)
	}
	kept("ObserveFlush", f.Unwritten)
	if got := read(t, dir, path); got != "# Today\n" {
		t.Errorf("it was written: %q", got)
	}
	k.Close()
	k = open()
	if err := os.Chmod(log, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if o := observe(t, k, api.Turn{Messages: c.msgs, Private: true}); o.Outcome != api.Duplicate {
			t.Errorf("%+v", o)
		}
	}
	k.Close()
	text := read(t, dir, path)
	for _, want := range []string{"The ferry leaves at nine.", "dass das Depot um sechs schließt", "The pier is slippery."} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q stands %d times in\n%s", want, strings.Count(text, want), text)
		}
	}
}
