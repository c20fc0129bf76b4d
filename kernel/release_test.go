package kernel_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
)

// TestRelease: a session that was let go goes on as if it had not been.
func TestRelease(t *testing.T) {
	ctx := context.Background()
	k := memoryKernel(t)
	defer k.Close()
	c := session(7, 3, 2, 900)
	before, err := k.PlanContext(ctx, request(c))
	if err != nil {
		t.Fatal(err)
	}
	if n := k.ReleaseIdle(time.Hour); n != 0 {
		t.Errorf("%d sessions were released that had just been used", n)
	}
	if n := k.ReleaseIdle(0); n != 1 {
		t.Errorf("%d sessions were released, want 1", n)
	}
	if n := k.ReleaseIdle(0); n != 0 {
		t.Errorf("%d sessions were released again", n)
	}
	again, err := k.PlanContext(ctx, request(c))
	if err != nil {
		t.Fatal(err)
	}
	if again.Stats.Ingested != 0 || again.Generation != before.Generation || len(again.Messages) != len(before.Messages) {
		t.Errorf("after the release: %d ingested, generation %d of %d, %d messages of %d", again.Stats.Ingested, again.Generation, before.Generation, len(again.Messages), len(before.Messages))
	}
	k.Release(request(c).SessionKey)
	k.Release("never seen")
	o, err := k.ObserveTurn(ctx, api.Turn{SessionKey: request(c).SessionKey, Model: model, Messages: c.msgs})
	if err != nil || o.Ingested != 0 {
		t.Errorf("observe after the release: %+v, %v", o, err)
	}
}

// TestGiveBack: memory that a large piece of work left unneeded goes back to the system.
func TestGiveBack(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	large := make([]byte, 160<<20)
	for i := 0; i < len(large); i += 4096 {
		large[i] = 1
	}
	runtime.KeepAlive(large)
	large = nil
	k.ReleaseIdle(time.Hour)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if held := m.HeapAlloc + m.HeapIdle - m.HeapReleased; held > 128<<20 {
		t.Errorf("%d MiB are still held", held>>20)
	}
}
