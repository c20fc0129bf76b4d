package kernel_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// TestCheckpointsNameTheirSource: what any call says of where a session comes from stands
// in its next checkpoint and in the text to go on from, also by another process; where
// nobody names the agent, the key does.
func TestCheckpointsNameTheirSource(t *testing.T) {
	ctx := context.Background()
	from := checkpoint.Source{File: "/chats/Ünï 7.jsonl", Channel: "telegram", Agent: "main"}
	calls := map[string]func(k *kernel.Kernel, key string, c *conversation) error{
		"observe": func(k *kernel.Kernel, key string, c *conversation) error {
			_, err := k.ObserveTurn(ctx, api.Turn{SessionKey: key, Messages: c.msgs, Model: model, Now: c.now, Source: from})
			return err
		},
		"ingest": func(k *kernel.Kernel, key string, c *conversation) error {
			_, err := k.ObserveToolResult(ctx, api.Turn{SessionKey: key, Messages: c.msgs, Model: model, Now: c.now, Source: from})
			return err
		},
		"checkpoint": func(k *kernel.Kernel, key string, c *conversation) error {
			_, err := k.Checkpoint(ctx, api.Boundary{SessionKey: key, Messages: c.msgs, Now: c.now, Source: from})
			return err
		},
		"compact": func(k *kernel.Kernel, key string, c *conversation) error {
			_, err := k.Compact(ctx, api.Boundary{SessionKey: key, Messages: c.msgs, Now: c.now, Source: from})
			return err
		},
		"reset": func(k *kernel.Kernel, key string, c *conversation) error {
			_, err := k.Reset(ctx, api.Boundary{SessionKey: key, Messages: c.msgs, Now: c.now, Source: from})
			return err
		},
		"end": func(k *kernel.Kernel, key string, c *conversation) error {
			_, err := k.EndSession(ctx, api.Boundary{SessionKey: key, Messages: c.msgs, Now: c.now, Source: from})
			return err
		},
		"nobody": func(k *kernel.Kernel, key string, c *conversation) error {
			_, err := k.ObserveTurn(ctx, api.Turn{SessionKey: key, Messages: c.msgs, Model: model, Now: c.now})
			return err
		},
	}
	for name, call := range calls {
		dir, key := t.TempDir(), "agent:keyed:"+name
		open := func() *kernel.Kernel { return openKernel(t, dir) }
		c := newConversation(7)
		c.user()
		c.say()
		k := open()
		if err := call(k, key, c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		k.Close()
		k = open() // says nothing itself
		c.user()
		c.say()
		if _, err := k.ObserveTurn(ctx, api.Turn{SessionKey: key, Messages: c.msgs, Model: model, Now: c.now}); err != nil {
			t.Fatal(err)
		}
		cp, err := k.Checkpoint(ctx, api.Boundary{SessionKey: key, Now: c.now})
		if err != nil || cp == nil {
			t.Fatalf("%s: %v, %v", name, cp, err)
		}
		want := from
		if name == "nobody" {
			want = checkpoint.Source{Agent: "keyed"}
		}
		got := checkpoint.Source{File: string(cp.Meta.SessionFile), Channel: string(cp.Meta.Channel), Agent: string(cp.Meta.AgentID)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		r, err := k.Restore(ctx, api.RestoreRequest{SessionKey: key})
		if err != nil || !strings.Contains(r.Text, "agent "+want.Agent) || want.File != "" && !strings.Contains(r.Text, "transcript "+want.File) || want.Channel != "" && !strings.Contains(r.Text, "channel "+want.Channel) {
			t.Errorf("%s: %v\n%s", name, err, r.Text)
		}
		k.Close()
	}
}

// TestCheckpointsNameTheBill: the newest usage that a provider reported stands in the
// checkpoint, whether a message or the call says it, and says what it is; without one the
// estimate says that it is one.
func TestCheckpointsNameTheBill(t *testing.T) {
	ctx := context.Background()
	bill := func(n int) *memkernel.Usage {
		return &memkernel.Usage{InputTokens: n, CacheReadTokens: 1000, OutputTokens: 7}
	}
	for name, tt := range map[string]struct {
		message, call int           // tokens billed, 0 for none
		late          time.Duration // how long after the message the call was billed
		want          int
		source, named bool
	}{
		"nobody says":      {},
		"the message":      {message: 120_000, want: 121_000, source: true, named: true},
		"the call":         {call: 50_000, want: 51_000, source: true},
		"both, alike":      {message: 50_000, call: 50_000, want: 51_000, source: true, named: true},
		"the call's newer": {message: 50_000, call: 60_000, late: time.Minute, want: 61_000, source: true},
		"the call's older": {message: 50_000, call: 60_000, late: -time.Minute, want: 51_000, source: true, named: true},
	} {
		dir := t.TempDir()
		k := openKernel(t, dir)
		c := newConversation(11)
		c.user()
		c.say()
		turn := api.Turn{SessionKey: "s", Model: model, Now: c.now.Add(tt.late)}
		if tt.message > 0 {
			c.msgs[len(c.msgs)-1].Usage, c.msgs[len(c.msgs)-1].Model = bill(tt.message), model
		} else {
			c.msgs[len(c.msgs)-1].Usage = nil
		}
		if tt.call > 0 {
			turn.Usage = bill(tt.call)
		}
		turn.Messages = c.msgs
		if _, err := k.ObserveTurn(ctx, turn); err != nil {
			t.Fatal(err)
		}
		k.Close()
		k = openKernel(t, dir)
		cp, err := k.Checkpoint(ctx, api.Boundary{SessionKey: "s", Now: c.now})
		if err != nil {
			t.Fatal(err)
		}
		u := cp.Meta.TokenUsage
		if u.InputTokens != tt.want && tt.want > 0 || (u.Source == "provider") != tt.source || (u.Message != "") != tt.named || tt.source && (string(u.Model) != model || u.ObservedAt.IsZero() || u.ContextWindow == 0) {
			t.Errorf("%s: %+v", name, u)
		}
		r, err := k.Restore(ctx, api.RestoreRequest{SessionKey: "s"})
		if err != nil || strings.Contains(r.Text, "billed for "+model) != tt.source {
			t.Errorf("%s: %v\n%s", name, err, r.Text)
		}
		k.Close()
	}
}
