package kernel_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// netsScript is a session at the ends of its turns.
func netsScript() []*conversation {
	first, second := ruledWork(0), ruledWork(0)
	second.add(memkernel.RoleUser, words("Never rename the parcel topic. And go on, please."))
	second.add(memkernel.RoleAssistant, words("The migration runs."))
	return []*conversation{first, second}
}

// fullTurn observes the turns of the script by what was billed for them: the first at
// 65 % of the window, the second over the share of the dump.
func fullTurn(t *testing.T, k *kernel.Kernel, turn int) {
	t.Helper()
	c := netsScript()[turn]
	_, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, Private: true, Now: c.now.Add(time.Second),
		Usage: &memkernel.Usage{InputTokens: 130_000 + 40_000*turn}})
	if err != nil {
		t.Fatal(err)
	}
}

const othersState = "# Somebody's\n\nText that is not the kernel's.\n"

// TestNetsCrashChild is the session that TestNetsKillAnywhere kills: another session's
// file is taken over, turns are buffered, all is dumped, and the session is reset.
func TestNetsCrashChild(t *testing.T) {
	dir := suite.Child(t)
	k := fallback{}.open(t, dir)
	speak(t, k, "old", said(1, "Please make the export of parcels faster."))
	f, err := os.OpenFile(filepath.Join(dir, "SESSION-STATE.md"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(othersState)
	f.Close()
	for i := range netsScript() {
		fullTurn(t, k, i)
		fmt.Printf("TURN %d\n", i+1)
	}
	pass(t, k.Reset, api.Boundary{Messages: netsScript()[1].msgs, Private: true})
	fmt.Println("RESET")
	k.Close()
}

// TestNetsKillAnywhere kills a session before each of its write operations. Whatever
// was acknowledged stands in every record by itself; what somebody else wrote is in the
// file; delivering the last turn again makes good what is
// missing, and no entry stands twice.
func TestNetsKillAnywhere(t *testing.T) {
	suite.EveryWrite(t, "TestNetsCrashChild", 60, func(dir string, n int, out []byte) {
		all := fallback{}
		k := all.open(t, dir)
		defer func() { k.Close() }()
		if findings, err := k.Check(context.Background()); err != nil || len(findings) > 0 {
			t.Fatalf("killed at %d: check says %v, %v", n, findings, err)
		}
		if bytes.Contains(out, []byte("TURN 1")) {
			for _, only := range fallbacks {
				alone, back := only.open(t, dir), only.aside(t, dir)
				r, err := alone.Restore(context.Background(), api.RestoreRequest{SessionKey: "s"})
				if err != nil || r.Net != only.name && only.name != api.NetCheckpoint {
					t.Fatalf("killed at %d: %s restores from %q, %v", n, only.name, r.Net, err)
				}
				if r.Net != "" {
					carries(t, fmt.Sprintf("killed at %d: %s", n, only.name), r.Text)
				}
				alone.Close()
				back()
			}
		}
		othersStand(t, dir, n, out)
		if !bytes.Contains(out, []byte("TURN 2")) {
			fullTurn(t, k, 0)
			fullTurn(t, k, 1)
		}
		entriesOnce(t, dir, n)
		if text := begin(t, k); bytes.Contains(out, []byte("RESET")) {
			carries(t, fmt.Sprintf("killed at %d, after the reset", n), text)
		}
	})
}

// othersStand looks for what somebody else wrote.
func othersStand(t *testing.T, dir string, n int, out []byte) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "SESSION-STATE.md"))
	if err != nil && bytes.Contains(out, []byte("TURN")) {
		t.Fatalf("killed at %d: %v", n, err)
	}
	text := string(b)
	if strings.Contains(text, "session=old") && !strings.Contains(text, othersState) {
		return // killed before anything was written there
	}
	if text != "" && !strings.Contains(text, othersState) {
		t.Fatalf("killed at %d: what somebody wrote is lost:\n%s", n, b)
	}
}

// entriesOnce checks that no entry of the buffer or a log stands twice.
func entriesOnce(t *testing.T, dir string, n int) {
	t.Helper()
	seen := map[string]bool{}
	for l := range strings.SplitSeq(logs(t, dir), "\n") {
		if strings.HasPrefix(l, "<!-- mk:") {
			if seen[l] {
				t.Fatalf("killed at %d: %s stands twice", n, l)
			}
			seen[l] = true
		}
	}
	if !strings.Contains(logs(t, dir), "Never rename the parcel topic") {
		t.Fatalf("killed at %d: the second turn is not in the buffer:\n%s", n, logs(t, dir))
	}
}
