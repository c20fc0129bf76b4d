package watch

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

func TestPoll(t *testing.T) {
	var version atomic.Int64
	var down atomic.Bool
	tick, asked := make(chan time.Time), make(chan struct{})
	p := poll(func(context.Context) (int64, error) {
		defer func() { asked <- struct{}{} }()
		if down.Load() {
			return 0, errors.New("down")
		}
		return version.Load(), nil
	}, func() <-chan time.Time { return tick })
	look := func() {
		tick <- time.Time{}
		<-asked
	}
	wants := func(want bool) {
		t.Helper()
		look() // what the last look found is told by now
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
	<-asked
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
