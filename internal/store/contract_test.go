package store_test

import (
	"errors"
	"maps"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
)

var errDead = errors.New("dead")

var kinds = map[string]storetest.Kind{
	"files": {
		Open: func(t *rapid.T) store.Disk {
			dir, err := os.MkdirTemp("", "store")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			return store.Files(dir + "/state")
		},
		Kill: func(s store.Disk, n, part int, refused bool) (func() bool, func() store.Disk) {
			step := 0
			restore := atomicfile.SetHook(func(op, _ string) error {
				switch step++; {
				case step == n && op == atomicfile.OpWrite:
					return &atomicfile.PartialWrite{N: part, Err: errDead}
				case step == n || step > n && !refused:
					return errDead
				}
				return nil
			})
			return func() bool { restore(); return step >= n }, func() store.Disk { return store.Files(s.Where("")) }
		},
	},
	"memory": {
		Open: func(*rapid.T) store.Disk { return storetest.New() },
		Kill: func(s store.Disk, n, part int, refused bool) (func() bool, func() store.Disk) {
			m, step, err := s.(*storetest.Store), 0, storetest.ErrCrash
			if refused {
				err = errDead
			}
			m.SetFault(func(op storetest.Op, _ string) error {
				switch step++; {
				case step == n && (op == storetest.Write || op == storetest.Patch):
					return &storetest.Partial{N: part, Err: err}
				case step == n || step > n && !refused:
					return err
				}
				return nil
			})
			return func() bool { died := step >= n; m.SetFault(nil); return died }, func() store.Disk { return m.Restart(nil) }
		},
	},
}

func TestContract(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		t.Run(name, func(t *testing.T) { storetest.Contract(t, kinds[name]) })
	}
}

func TestPowerCut(t *testing.T) {
	storetest.PowerCut(t, func() store.Disk { return storetest.New() },
		func(s store.Disk, pick func(n int) int) store.Disk { return s.(*storetest.Store).Restart(pick) })
}
