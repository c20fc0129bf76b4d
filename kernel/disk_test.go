package kernel_test

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
)

// TestFullDiskAtEveryWrite lets the Nth write operation fail as a full disk does,
// for every N: the plan is still made and says that it was not recorded, and once
// there is room again everything goes on.
func TestFullDiskAtEveryWrite(t *testing.T) {
	c := session(13, 2, 2, 3000)
	for n := 1; ; n++ {
		dir, ops := t.TempDir(), 0
		restore := atomicfile.SetHook(func(op, path string) error {
			if ops++; ops >= n {
				return syscall.ENOSPC
			}
			return nil
		})
		k := openKernel(t, dir)
		p := mustPlan(t, k, request(c))
		checkPlan(t, p, c.msgs)
		restore()
		if ops < n {
			k.Close()
			return
		}
		if !hasFault(p, fault.NotRecorded) && !hasFault(p, "not_traced") {
			t.Fatalf("write %d failed and the plan does not say so: %v", n, p.Faults)
		}
		q := mustPlan(t, k, request(c))
		if hasFault(q, fault.NotRecorded) || hasFault(q, "not_traced") {
			t.Fatalf("write %d failed once and the next plan is not recorded either: %v", n, q.Faults)
		}
		if stream(q) != stream(p) {
			t.Fatalf("write %d: the plan after the failure sends other bytes", n)
		}
		if findings, err := k.Check(context.Background()); err != nil || len(findings) > 0 {
			t.Fatalf("write %d: check says %v, %v", n, findings, err)
		}
		k.Close()
	}
}

func hasFault(p *api.ContextPlan, code fault.Code) bool {
	for _, f := range p.Faults {
		if f.Code == code {
			return true
		}
	}
	return false
}

// TestNewerStateIsRefused: a state directory written by a newer version is an
// error that names the file and the way out, and is left as it is.
func TestNewerStateIsRefused(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(14, 1, 1, 500)
	mustPlan(t, k, request(c))
	k.Close()
	rewriteFirst(t, dir, `{"v":2,`, `{"v":99,`)
	k = openKernel(t, dir)
	defer k.Close()
	_, err := k.PlanContext(context.Background(), request(c))
	if err == nil || !strings.Contains(err.Error(), "journal.jsonl") || !strings.Contains(err.Error(), "newer") {
		t.Errorf("got %v", err)
	}
}
