package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// A kernel that may hold two sessions serves seven, one after the other and all at
// once: each goes on from the bytes that it had.
func TestManySessions(t *testing.T) {
	k, err := kernel.Open(t.Context(), t.TempDir(), &kernel.Options{KeepSessions: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	talks := make([]*conversation, 7)
	before := make([]string, len(talks))
	for i := range talks {
		talks[i] = newConversation(int64(100 + i))
	}
	step := func(i int) error {
		c := talks[i]
		c.user()
		req := request(c)
		req.SessionKey = fmt.Sprint("s", i)
		p, err := k.PlanContext(context.Background(), req)
		if err != nil {
			return err
		}
		if text := stream(p); !strings.HasPrefix(text, before[i]) {
			return fmt.Errorf("session %d: what stood was changed", i)
		} else {
			before[i] = text
		}
		c.loop(1, 300)
		c.say()
		o, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: req.SessionKey, Model: model, Messages: c.msgs, PlanID: p.ID, Now: c.now})
		if err == nil && o.Outcome != api.Committed {
			err = fmt.Errorf("session %d: %s", i, o.Outcome)
		}
		return err
	}
	for range 3 {
		for i := range talks {
			if err := step(i); err != nil {
				t.Fatal(err)
			}
			if n := k.Held(); n > 2 {
				t.Fatalf("%d sessions are held", n)
			}
		}
	}
	var wg sync.WaitGroup
	for i := range talks {
		wg.Go(func() {
			for range 3 {
				if err := step(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	st, err := k.Status(t.Context(), nil)
	if err != nil || len(st.Sessions) != len(talks) {
		t.Fatalf("%d sessions, %v", len(st.Sessions), err)
	}
	for _, s := range st.Sessions {
		if s.Turns != 6 {
			t.Errorf("%s has %d turns", s.Key, s.Turns)
		}
	}
}
