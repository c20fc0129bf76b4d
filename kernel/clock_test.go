package kernel_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// Options.Now is the clock of everything that is written down without a time of its own:
// which day's log is today's, journal, checkpoints, tombstones, the record of the index.
func TestClockReachesEverything(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	at := time.Date(2031, 5, 5, 12, 0, 0, 0, time.UTC)
	k, err := kernel.Open(ctx, dir, &kernel.Options{Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	r, err := k.Remember(ctx, api.RememberRequest{SessionKey: "s", Text: "The ferry leaves at nine."})
	if err != nil || r.Late != "" || r.Ref.Path != "memory/2031-05-05.md" {
		t.Fatalf("%+v %v", r, err)
	}
	c := ruledWork(0)
	c.add(memkernel.RoleUser, words("Remember that the depot closes at six."))
	c.say()
	for i := range c.msgs {
		c.msgs[i].Time = at
	}
	o, err := k.ObserveTurn(ctx, api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, Private: true})
	if err != nil || o.Outcome != api.Committed {
		t.Fatalf("%+v %v", o, err)
	}
	for _, pass := range []func(context.Context, api.Boundary) (*api.Passed, error){k.Flush, k.Compact, k.EndSession, k.Reset} {
		if p, err := pass(ctx, api.Boundary{SessionKey: "s", Model: model, Messages: c.msgs, Private: true}); err != nil {
			t.Fatalf("%+v %v", p, err)
		}
	}
	if _, err := k.Reindex(ctx, nil); err != nil {
		t.Fatal(err)
	}
	pages, err := k.Forget(ctx, api.ForgetRequest{SessionKey: "s", Session: true, Apply: true})
	if err != nil {
		t.Fatalf("%+v %v", pages, err)
	}
	// The next day a late entry goes to that day's log.
	at = at.AddDate(0, 0, 1)
	late, err := k.Remember(ctx, api.RememberRequest{SessionKey: "t", Path: "memory/2031-05-05.md", Text: "It left at ten."})
	if err != nil || late.Ref.Path != "memory/2031-05-06.md" || late.Late != "memory/2031-05-05.md" {
		t.Errorf("%+v %v", late, err)
	}
	today := []string{time.Now().Format(time.DateOnly), time.Now().UTC().Format(time.DateOnly)}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "index.sqlite") {
			return err
		}
		data, err := os.ReadFile(path)
		for _, day := range today {
			if strings.Contains(path, day) || strings.Contains(string(data), day) {
				t.Errorf("%s is of %s by the machine's clock", path, day)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if len(logs(t, dir)) == 0 {
		t.Error("nothing is in the logs")
	}
}
