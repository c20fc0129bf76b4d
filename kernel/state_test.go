package kernel_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
)

// sessionFile is the path of a file of session "s".
func sessionFile(dir, name string) string {
	return filepath.Join(dir, ".memkernel", "sessions", "s", name)
}

// readOnlyDisk lets every write fail as on a read-only file system.
func readOnlyDisk(string, string) error { return syscall.EROFS }

// TestReadOnlyDisk: while nothing can be written, plans go on from what was
// recorded last and say so; observing is an error; later everything goes on.
func TestReadOnlyDisk(t *testing.T) {
	for name, reopen := range map[string]bool{"open": false, "reopened": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			k := openKernel(t, dir)
			defer func() { k.Close() }()
			c := session(31, 8, 3, 9000)
			p := planned(t, k, request(c))
			if p.Layout.Made == nil {
				t.Fatal("the window is too large for this test: nothing was cut")
			}
			c.say()
			c.user()
			restore := atomicfile.SetHook(readOnlyDisk)
			defer restore()
			if reopen {
				k.Close()
				k = openKernel(t, dir)
			}
			q := planned(t, k, request(c))
			if !hasFault(q, fault.NotRecorded) || !strings.HasPrefix(stream(q), stream(p)) {
				t.Fatalf("faults %v; the plan must extend the one before", q.Faults)
			}
			if _, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: "s", Model: model, Messages: c.msgs}); !errors.Is(err, syscall.EROFS) {
				t.Errorf("observe: got %v", err)
			}
			restore()
			r := planned(t, k, request(c))
			if hasFault(r, fault.NotRecorded) || stream(r) != stream(q) {
				t.Errorf("faults %v; the plan must be the same once it can be recorded", r.Faults)
			}
			clean(t, k)
		})
	}
}

// TestReadOnlyStateDir is TestReadOnlyDisk with real permissions.
func TestReadOnlyStateDir(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("permissions don't bind root")
	}
	for _, what := range []string{".memkernel/sessions/s", ".memkernel", "."} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			k := openKernel(t, dir)
			c := session(32, 2, 2, 3000)
			if what != "." {
				mustPlan(t, k, request(c))
			}
			k.Close()
			os.Remove(sessionFile(dir, "lock"))
			for _, path := range append(tree(t, dir), filepath.Join(dir, what)) {
				if err := os.Chmod(path, 0o500); err != nil {
					t.Fatal(err)
				}
			}
			defer os.Chmod(filepath.Join(dir, what), 0o700)
			c.say()
			c.user()
			k = openKernel(t, dir)
			defer k.Close()
			if p := planned(t, k, request(c)); !hasFault(p, fault.NotRecorded) {
				t.Errorf("faults are %v", p.Faults)
			}
			if _, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: "s", Model: model, Messages: c.msgs}); err == nil {
				t.Error("a turn was observed and can't have been written")
			}
		})
	}
}

// TestTornJournals: what a kill left half written at the end of a journal is
// dropped, and all that stands before it stays.
func TestTornJournals(t *testing.T) {
	for _, name := range []string{"journal.jsonl", "projection.jsonl"} {
		for _, tail := range []string{`{"v":1,"n":99,"crc":"0000`, "\x00\x00\x00\x00", "{\"v\":1,\"n\":2,\"crc\":\"00000000\",\"rec\":{}}\n"} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				k := openKernel(t, dir)
				c := session(33, 2, 2, 3000)
				p := planned(t, k, request(c))
				k.Close()
				f, err := os.OpenFile(sessionFile(dir, name), os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				f.WriteString(tail)
				f.Close()
				k = openKernel(t, dir)
				defer k.Close()
				clean(t, k)
				c.say()
				c.user()
				q := planned(t, k, request(c))
				if !strings.HasPrefix(stream(q), stream(p)) || hasFault(q, "projection_lost") {
					t.Errorf("the torn tail changed the prompt; faults %v", q.Faults)
				}
				clean(t, k)
			})
		}
	}
}

// TestDamagedJournal: damage before the end is an error that names file, line and
// the way out, from every door; nothing is changed.
func TestDamagedJournal(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(34, 1, 1, 500)
	planned(t, k, request(c))
	c.say()
	c.user()
	planned(t, k, request(c))
	k.Close()
	path := sessionFile(dir, "journal.jsonl")
	damaged := flip(t, path, 100)
	k = openKernel(t, dir)
	defer k.Close()
	ctx := context.Background()
	turn := api.Turn{SessionKey: "s", Model: model, Messages: c.msgs}
	for name, call := range map[string]func() error{
		"plan":    func() error { _, err := k.PlanContext(ctx, request(c)); return err },
		"peek":    func() error { _, err := k.Peek(ctx, request(c)); return err },
		"observe": func() error { _, err := k.ObserveTurn(ctx, turn); return err },
		"result":  func() error { _, err := k.ObserveToolResult(ctx, turn); return err },
		"get":     func() error { _, err := k.Get(ctx, "s", "ev-1"); return err },
	} {
		err := call()
		var d *store.LogError
		if !errors.As(err, &d) || d.Line != 1 || d.Hint == "" || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), d.Hint) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if findings, err := k.Check(ctx); err != nil || len(findings) != 1 || findings[0].Hint == "" {
		t.Errorf("check: %v, %v", findings, err)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, damaged) {
		t.Error("the damaged journal was changed")
	}
}

// flip changes a byte of a file and gives what the file holds now.
func flip(t *testing.T, path string, at int) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 4
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestProjectionLost: a projection that is damaged or gone costs a cache miss. It is
// named once, a damaged file is kept, and every page and turn still stands.
func TestProjectionLost(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"damaged": func(t *testing.T, path string) { flip(t, path, 200) },
		"deleted": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"cut short": func(t *testing.T, path string) { os.Truncate(path, 100) },
		"not ours": func(t *testing.T, path string) {
			os.WriteFile(path, []byte("x\n{\"v\":1,\"n\":2,\"crc\":\"99f8b879\",\"rec\":{}}\n"), 0o600)
		},
	} {
		for how, reopen := range map[string]bool{"open": false, "reopened": true} {
			if name == "damaged" && !reopen {
				continue // what a process has read it does not read again
			}
			if reopen != (name == "damaged" || name == "not ours") && !suite.Long() {
				continue
			}
			t.Run(name+" "+how, func(t *testing.T) { loseProjection(t, spoil, reopen) })
		}
	}
}

func loseProjection(t *testing.T, spoil func(*testing.T, string), reopen bool) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer func() { k.Close() }()
	c := session(35, 5, 2, 7_500)
	p := planned(t, k, narrow(c))
	c.say()
	observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID})
	c.user()
	p = planned(t, k, narrow(c))
	if reopen {
		k.Close()
	}
	spoil(t, sessionFile(dir, "projection.jsonl"))
	if reopen {
		k = openKernel(t, dir)
	}
	peeked, err := k.Peek(context.Background(), narrow(c))
	if err != nil || !hasFault(peeked, "projection_lost") {
		t.Fatalf("peek: %v, %v", peeked, err)
	}
	q := planned(t, k, narrow(c))
	if !hasFault(q, "projection_lost") {
		t.Fatalf("faults are %v", q.Faults)
	}
	for _, r := range p.Reduced {
		get(t, k, r.Handle)
		get(t, k, r.Page)
	}
	if o := observe(t, k, api.Turn{Messages: c.msgs[:len(c.msgs)-1]}); o.Outcome != api.Duplicate {
		t.Errorf("the observed turn is %s", o.Outcome)
	}
	clean(t, k)
	k.Close()
	k = openKernel(t, dir)
	c.say()
	c.user()
	r := planned(t, k, narrow(c))
	if hasFault(r, "projection_lost") || r.Layout.Made == nil && !strings.HasPrefix(stream(r), stream(q)) {
		t.Errorf("the next plan does not go on: faults %v", r.Faults)
	}
	clean(t, k)
}

// TestNewerProjectionIsRefused: derived or not, what a newer version wrote is not
// put aside.
func TestNewerProjectionIsRefused(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(36, 1, 1, 500)
	planned(t, k, request(c))
	k.Close()
	path := sessionFile(dir, "projection.jsonl")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(path, bytes.Replace(b, []byte(`{"v":2,`), []byte(`{"v":99,`), 1), 0o600)
	k = openKernel(t, dir)
	defer k.Close()
	if _, err := k.PlanContext(context.Background(), request(c)); !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

// TestOddSessionKeys: any bytes name a session; two keys never share one, and none
// leaves the state directory.
func TestOddSessionKeys(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	keys := []string{"", "..", ".", "../../etc/passwd", "a/b", "a_b", "a\x00b", "a\xff\xfe", "käse", "KÄSE", " ", "-", strings.Repeat("x", 300), strings.Repeat("x", 299) + "y", strings.Repeat("é", 90)}
	plans := map[string]*api.ContextPlan{}
	for i, key := range keys {
		c := newConversation(int64(40 + i))
		c.user()
		c.loop(1, 6000)
		req := request(c)
		req.SessionKey = key
		plans[key] = planned(t, k, req)
	}
	k.Close()
	for _, f := range tree(t, dir) {
		if rel, _ := filepath.Rel(dir, f); !strings.HasPrefix(rel, ".memkernel") {
			t.Errorf("%s stands outside of the state directory", rel)
		}
	}
	k = openKernel(t, dir)
	defer k.Close()
	for i, key := range keys {
		c := newConversation(int64(40 + i))
		c.user()
		c.loop(1, 6000)
		req := request(c)
		req.SessionKey = key
		p := planned(t, k, req)
		if p.Stats.Ingested != 0 || stream(p) != stream(plans[key]) {
			t.Errorf("session %q is not the one that it was", key)
		}
	}
	st, err := k.Status(context.Background(), nil)
	if err != nil || len(st.Sessions) != len(keys) {
		t.Fatalf("%d sessions, want %d: %v", len(st.Sessions), len(keys), err)
	}
	for _, s := range st.Sessions {
		if s.Pages == 0 || len(s.Folder) > 120 || !slices.Contains(keys, s.Key) && s.Key != api.DefaultSession {
			t.Errorf("status does not see session %q", s.Key)
		}
	}
	clean(t, k)
}

// TestSecretsAreMasked: nothing below the state directory holds a secret, and no
// message to the provider lost one.
func TestSecretsAreMasked(t *testing.T) {
	const (
		token  = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
		aws    = "AKIA" + "Q3EGVZ7KTR2XLMNP"
		secret = "postgres://svc:Zk8qP2vN7xR4tW9b@db.internal/prod"
	)
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(60)
	c.add(memkernel.RoleUser, words("deploy with token "+token))
	c.add(memkernel.RoleAssistant, words("Decision: I will use "+token+" from now on."),
		call("call_1", "Bash", `{"command":"curl -H 'Authorization: Bearer `+token+`' https://api.example.com/`+strings.Repeat("a", 900)+`"}`))
	c.add(memkernel.RoleUser, result("call_1", words("AWS_ACCESS_KEY_ID="+aws+"\nDATABASE_URL="+secret+"\nerror: denied for "+token+"\n"+c.code(9000))))
	c.add(memkernel.RoleAssistant, call("call_2", "Bash", `{"command":"env TOKEN=`+token+` ./run"}`))
	c.add(memkernel.RoleUser, result("call_2", words("token="+token)), memkernel.Part{Kind: memkernel.PartDocument, Text: "keys: " + aws,
		Media: &memkernel.Media{Type: "text/plain"}}, memkernel.Part{Kind: memkernel.PartDocument, Media: &memkernel.Media{
		Type: "text/plain", Data: base64.StdEncoding.EncodeToString([]byte("key " + aws + " of the week"))}}, memkernel.Part{Kind: memkernel.PartOther, Raw: `{"type":"env","value":"` + token + `"}`})
	for i := range 14 {
		p := planned(t, k, request(c))
		if i == 0 && strings.Count(body(t, p), token) != 7 {
			t.Errorf("%d of 7 tokens stand in the request", strings.Count(body(t, p), token))
		}
		c.say()
		observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID})
		c.user()
		c.loop(2, 9000)
	}
	if p := planned(t, k, request(c)); len(p.Layout.Cuts) == 0 {
		t.Fatal("nothing was cut")
	}
	req := request(c)
	req.Prompt, req.Messages = "and now with "+token, append(c.msgs[:len(c.msgs):len(c.msgs)], memkernel.Message{Key: "end", Role: memkernel.RoleAssistant, Parts: []memkernel.Part{words("ok")}})
	mustPlan(t, k, req)
	for _, f := range tree(t, dir) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{token, aws, "Zk8qP2vN7xR4tW9b"} {
			if i := bytes.Index(b, []byte(s)); i >= 0 {
				t.Errorf("%s holds a secret: …%.160s", f, b[max(0, i-80):])
			}
		}
	}
	clean(t, k)
}

// TestFullDiskInTheMiddle lets the Nth write of a plan in the middle of a session
// fail, for every N: the plan goes on from the one before, and so does the next.
func TestFullDiskInTheMiddle(t *testing.T) {
	for n := 1; ; n += suite.Pick(7, 1) {
		dir, ops := t.TempDir(), 0
		k := openKernel(t, dir)
		c := session(37, 8, 3, 5000)
		p := planned(t, k, request(c))
		c.say()
		observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID})
		c.user()
		c.loop(2, 5000)
		restore := atomicfile.SetHook(func(op, path string) error {
			if ops++; ops >= n {
				return &atomicfile.PartialWrite{N: 50, Err: syscall.ENOSPC}
			}
			return nil
		})
		q := planned(t, k, request(c))
		restore()
		if failed := ops >= n; failed != (hasFault(q, fault.NotRecorded) || hasFault(q, "not_traced")) {
			t.Fatalf("write %d: faults are %v", n, q.Faults)
		}
		if q.Layout.Made == nil && !strings.HasPrefix(stream(q), stream(p)) {
			t.Fatalf("write %d: the plan does not go on from the one before", n)
		}
		if r := planned(t, k, request(c)); stream(r) != stream(q) || hasFault(r, fault.NotRecorded) {
			t.Fatalf("write %d: the next plan differs, faults %v", n, r.Faults)
		}
		clean(t, k)
		k.Close()
		if ops < n {
			return
		}
	}
}

// TestDerivedFilesDoNotFailATurn: a turn is committed whatever stands in the files
// that only report or learn.
func TestDerivedFilesDoNotFailATurn(t *testing.T) {
	const newer = `{"version":9,"models":{"m":{"x":1}}}`
	for name, tt := range map[string]struct {
		file, content string
		fault         fault.Code
		usage         memkernel.Usage
	}{
		"damaged usage":       {"sessions/s/usage.jsonl", "x\n{\"v\":1,\"n\":2,\"crc\":\"99f8b879\",\"rec\":{}}\n", "", memkernel.Usage{InputTokens: 9000}},
		"usage is a folder":   {"sessions/s/usage.jsonl/x", "", fault.NotRecorded, memkernel.Usage{InputTokens: 9000}},
		"damaged calibration": {"calibration.json", "{", "", memkernel.Usage{InputTokens: 9000}},
		"empty calibration":   {"calibration.json", `{"version":1}`, "", memkernel.Usage{InputTokens: 9000}},
		"newer calibration":   {"calibration.json", newer, "", memkernel.Usage{InputTokens: 9000}},
		"part of the usage":   {"x", "", "usage_ignored", memkernel.Usage{InputTokens: 3}},
		"negative usage":      {"x", "", "usage_ignored", memkernel.Usage{InputTokens: -9000}},
		"absurd usage":        {"x", "", "usage_ignored", memkernel.Usage{InputTokens: 1 << 40}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, ".memkernel", tt.file)
			os.MkdirAll(filepath.Dir(path), 0o700)
			os.WriteFile(path, []byte(tt.content), 0o600)
			k := openKernel(t, dir)
			defer k.Close()
			c := session(38, 1, 2, 6000)
			for range 2 {
				p := planned(t, k, request(c))
				c.say()
				o := observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID, Usage: &tt.usage})
				if o.Outcome != api.Committed || (len(o.Faults) > 0) != (tt.fault != "") || len(o.Faults) > 0 && o.Faults[0].Code != tt.fault {
					t.Fatalf("observed: %+v", o)
				}
				c.user()
			}
			if q := planned(t, k, request(c)); q.Budgets.PlannedInputTokens < 5000 {
				t.Errorf("planned %d tokens", q.Budgets.PlannedInputTokens)
			}
			if b, _ := os.ReadFile(path); tt.content == newer && string(b) != newer {
				t.Error("the file of a newer version was changed")
			}
		})
	}
}

func TestStateDirIsIgnored(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	mustPlan(t, k, request(session(60, 1, 1, 300)))
	if b, err := os.ReadFile(filepath.Join(dir, ".memkernel", ".gitignore")); err != nil || string(b) != "*\n" {
		t.Errorf(".gitignore of the state directory: %q, %v", b, err)
	}
}
