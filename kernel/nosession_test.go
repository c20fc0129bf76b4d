package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// TestNoSession: a call that reads or acts on a session that is not there says so and what
// there is, the most alike first, and makes nothing, whatever the call.
func TestNoSession(t *testing.T) {
	ctx := context.Background()
	calls := map[string]func(k *kernel.Kernel, key string) error{
		"restore": func(k *kernel.Kernel, key string) error {
			_, err := k.Restore(ctx, api.RestoreRequest{SessionKey: key})
			return err
		},
		"compact": func(k *kernel.Kernel, key string) error {
			_, err := k.Compact(ctx, api.Boundary{SessionKey: key})
			return err
		},
		"flush": func(k *kernel.Kernel, key string) error {
			_, err := k.Flush(ctx, api.Boundary{SessionKey: key})
			return err
		},
		"reset": func(k *kernel.Kernel, key string) error {
			_, err := k.Reset(ctx, api.Boundary{SessionKey: key})
			return err
		},
		"end": func(k *kernel.Kernel, key string) error {
			_, err := k.EndSession(ctx, api.Boundary{SessionKey: key})
			return err
		},
		"checkpoint": func(k *kernel.Kernel, key string) error {
			_, err := k.Checkpoint(ctx, api.Boundary{SessionKey: key})
			return err
		},
		"forget": func(k *kernel.Kernel, key string) error {
			_, err := k.Forget(ctx, api.ForgetRequest{SessionKey: key, Session: true, Apply: true})
			return err
		},
		"salvage": func(k *kernel.Kernel, key string) error {
			_, err := k.Salvage(ctx, api.SalvageRequest{SessionKey: key, Apply: true})
			return err
		},
		"status": func(k *kernel.Kernel, key string) error {
			_, err := k.Status(ctx, &api.StatusOptions{Session: key})
			return err
		},
		"stats": func(k *kernel.Kernel, key string) error {
			_, err := k.Usage(ctx, billing.Options{Session: key})
			return err
		},
	}
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	for name, call := range calls {
		var none *api.NoSessionError
		if err := call(k, "nobody"); !errors.As(err, &none) || !errors.Is(err, api.ErrNoSession) || none.Count != 0 || len(none.Near) != 0 {
			t.Errorf("%s without sessions: %v", name, err)
		}
		if entries, _ := os.ReadDir(filepath.Join(dir, ".memkernel")); len(entries) != 0 {
			t.Errorf("%s made %v", name, entries)
		}
	}
	there := []string{"build-42", "telegram:Ünï 7", "build-41", "x", "agent:main:Bau", "構築", "deploy"}
	for i, key := range there {
		c := newConversation(int64(i))
		c.user()
		c.say()
		if _, err := k.ObserveTurn(ctx, api.Turn{SessionKey: key, Messages: c.msgs, Model: model, Now: c.now}); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, dir)
	for name, call := range calls {
		for key, want := range map[string]string{"buidl-42": "build-42", "Build-41": "build-41", "Ünï 7": "telegram:Ünï 7", "構": "構築", "main": "agent:main:Bau", "deploys": "deploy", strings.Repeat("é", 4000): "", "../x": "x"} {
			var none *api.NoSessionError
			err := call(k, key)
			if !errors.As(err, &none) || none.Key != key || none.Count != len(there) || len(none.Near) != 5 {
				t.Errorf("%s %.20q: %v", name, key, err)
				continue
			}
			if want != "" && none.Near[0] != want {
				t.Errorf("%s %q: nearest %q, want %q", name, key, none.Near, want)
			}
			if h := none.Hint("list them all"); !strings.Contains(h, fmt.Sprintf("%q", none.Near[0])) || !strings.Contains(h, "list them all") {
				t.Errorf("hint: %s", h)
			}
		}
	}
	if c, err := k.Get(ctx, "buidl-42", "cp_001"); err != nil || c.Reason != api.GetNoMatch || !strings.Contains(c.Detail, `"buidl-42"`) {
		t.Errorf("get: %+v, %v", c, err)
	}
	if c, err := k.Get(ctx, "build-42", "cp_009"); err != nil || c.Reason != api.GetNoMatch || c.Detail != "" {
		t.Errorf("get of a session that is there: %+v, %v", c, err)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("written:\n%s", diff)
	}
}

// TestSessionsBegin: what a host says or writes begins a session, with a boundary too; and
// one that is there is acted on, whatever was kept of it.
func TestSessionsBegin(t *testing.T) {
	ctx := context.Background()
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(3)
	c.user()
	c.say()
	for key, begin := range map[string]func(key string) error{
		"started": func(key string) error { _, err := k.StartSession(ctx, api.Boundary{SessionKey: key}); return err },
		"reasoned": func(key string) error {
			_, err := k.StartSession(ctx, api.Boundary{SessionKey: key, Reason: "resume"})
			return err
		},
		"compacted": func(key string) error {
			_, err := k.Compact(ctx, api.Boundary{SessionKey: key, Messages: c.msgs})
			return err
		},
		"checkpoint": func(key string) error {
			_, err := k.Checkpoint(ctx, api.Boundary{SessionKey: key, Messages: c.msgs})
			return err
		},
		"written": func(key string) error {
			_, err := k.Flush(ctx, api.Boundary{SessionKey: key, Updates: []journal.Update{pin("r", "Never push.")}})
			return err
		},
	} {
		if err := begin(key); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		if _, err := k.Restore(ctx, api.RestoreRequest{SessionKey: key}); err != nil {
			t.Errorf("%s: restore: %v", key, err)
		}
		if _, err := k.Flush(ctx, api.Boundary{SessionKey: key}); err != nil {
			t.Errorf("%s: flush: %v", key, err)
		}
	}
}
