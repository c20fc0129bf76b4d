package kernel_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/kernel"
)

type inStore struct{ store.Store }

func (s inStore) State() store.Store { return s.Store }

// The target of a move that was cut short is opened by no kernel.
func TestHalfMoved(t *testing.T) {
	mark, err := store.NewMoveMark("elsewhere", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ mark, want string }{{string(mark), "has a part of what elsewhere has"}, {"{", "writes it anew"}} {
		s := storetest.New()
		if _, err := s.Put(store.Synced, store.Doc{Name: store.MoveMark, Data: []byte(c.mark)}); err != nil {
			t.Fatal(err)
		}
		if k, err := kernel.Open(context.Background(), t.TempDir(), &kernel.Options{Store: inStore{s}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v", c.mark, k, err)
		}
	}
}
