package watch

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPoll(t *testing.T) { synctest.Test(t, testPoll) }

func testPoll(t *testing.T) {
	var version atomic.Int64
	var down atomic.Bool
	p := Poll(time.Second, func(context.Context) (int64, error) {
		if down.Load() {
			return 0, errors.New("down")
		}
		return version.Load(), nil
	})
	look := func() {
		time.Sleep(time.Second)
		synctest.Wait()
	}
	wants := func(want bool) {
		t.Helper()
		select {
		case <-p.Changed():
			if !want {
				t.Error("told of a change")
			}
		default:
			if want {
				t.Error("a change was not told")
			}
		}
	}
	synctest.Wait()
	wants(false)
	look()
	wants(false)
	version.Store(7)
	look()
	wants(true)
	down.Store(true)
	look()
	wants(false)
	if _, err := p.State(); err == nil {
		t.Error("no error while nothing can be asked")
	}
	down.Store(false)
	version.Store(8)
	look()
	wants(true)
	if _, err := p.State(); err != nil {
		t.Error(err)
	}
	p.Close()
	p.Close()
}
