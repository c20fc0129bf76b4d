package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/memkernel/memkernel/internal/rendezvous"
	"github.com/memkernel/memkernel/kernel"
)

// TestMain lets a test run a daemon as a process of its own, which can be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SERVE_TEST_DAEMON"); dir != "" {
		d := daemon(dir)
		d.Listening = func(socket string, joined bool) { fmt.Println(socket, joined) }
		if err := d.Run(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func daemon(workspace string) *Daemon {
	return &Daemon{StateDir: filepath.Join(workspace, kernel.DefaultStateDir), Open: func(ctx context.Context) (*kernel.Kernel, *Options, error) {
		k, err := kernel.Open(ctx, workspace, nil)
		return k, &Options{Workspace: workspace, Private: true}, err
	}}
}

// shortDir is a folder whose path has room for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// started runs a daemon until the test ends, and gives its socket.
func started(t *testing.T, d *Daemon) (socket string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	listening := make(chan string, 1)
	d.Listening = func(path string, joined bool) { listening <- path }
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	var once sync.Once
	var err error
	stop = func() error {
		once.Do(func() { cancel(); err = <-ended })
		return err
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	select {
	case socket = <-listening:
	case err := <-ended:
		ended <- err
		t.Fatalf("the daemon ended: %v", err)
	}
	return socket, stop
}

// client calls one after the other.
type client struct {
	t  *testing.T
	nc net.Conn
	r  *bufio.Scanner
	n  int
}

func connect(t *testing.T, workspace string) *client {
	t.Helper()
	nc, _, err := rendezvous.Find(filepath.Join(workspace, kernel.DefaultStateDir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return clientOf(t, nc)
}

func clientOf(t *testing.T, nc net.Conn) *client {
	c := &client{t: t, nc: nc, r: bufio.NewScanner(nc)}
	c.r.Buffer(nil, 16<<20)
	return c
}

type reply struct {
	ID     any
	Method string
	Result map[string]any
	Error  *Error
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.nc, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) receive() reply {
	c.t.Helper()
	var r reply
	if !c.r.Scan() {
		c.t.Fatalf("no answer: %v", c.r.Err())
	}
	if err := json.Unmarshal(c.r.Bytes(), &r); err != nil {
		c.t.Fatal(err)
	}
	return r
}

func (c *client) call(method, params string) reply {
	c.t.Helper()
	c.n++
	c.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.n, method, params)
	return c.receive()
}

// turn observes a turn of a session by its number.
func turn(session string, n int) string {
	return fmt.Sprintf(`{"session_key":%q,"private":true,"model":"claude-sonnet-4-6","advancement_key":"t%d","conversation":{"dialect":"anthropic","messages":[{"role":"user","content":"question %d"},{"role":"assistant","content":"answer %d"}]}}`, session, n, n, n)
}

// TestSocketIsTheUsersOwn, wherever it is, and is gone after a stop.
func TestSocketIsTheUsersOwn(t *testing.T) {
	long := filepath.Join(shortDir(t), strings.Repeat("a-long-name/", 12))
	runtime := shortDir(t)
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	for _, ws := range []string{shortDir(t), long} {
		if err := os.MkdirAll(ws, 0o700); err != nil {
			t.Fatal(err)
		}
		socket, stop := started(t, daemon(ws))
		fi, err := os.Lstat(socket)
		if err != nil || fi.Mode().Perm() != 0o600 || fi.Mode().Type() != os.ModeSocket {
			t.Errorf("socket %s: %v, %v", socket, fi, err)
		}
		if r := connect(t, ws).call("status", "{}"); r.Error != nil {
			t.Error(r.Error)
		}
		// The daemon is found where the runtime directory is another.
		t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
		if r := connect(t, ws).call("status", "{}"); r.Error != nil {
			t.Error(r.Error)
		}
		t.Setenv("XDG_RUNTIME_DIR", runtime)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(socket); !os.IsNotExist(err) {
			t.Errorf("the socket is still there: %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(ws, ".memkernel", ".serve-*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// TestStrangeSocketsAreRefused by who joins, and by who listens.
func TestStrangeSocketsAreRefused(t *testing.T) {
	ws := shortDir(t)
	state := filepath.Join(ws, kernel.DefaultStateDir)
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(state, "serve.sock")
	elsewhere := filepath.Join(shortDir(t), "s")
	l, err := net.Listen("unix", elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	hold := flock.New(filepath.Join(state, lockName))
	if ok, err := hold.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	strange := map[string]func() error{
		"link": func() error { return os.Symlink(elsewhere, path) },
		"file": func() error { return os.WriteFile(path, nil, 0o600) },
		"open to all": func() error {
			l, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { l.Close() })
				err = os.Chmod(path, 0o666)
			}
			return err
		},
	}
	for name, plant := range strange {
		if err := plant(); err != nil {
			t.Fatal(err)
		}
		var refused *rendezvous.Error
		if _, _, err := rendezvous.Find(state); !errors.As(err, &refused) {
			t.Errorf("%s: Find: %v", name, err)
		}
		if err := daemon(ws).Run(context.Background()); !errors.As(err, &refused) {
			t.Errorf("%s: Run: %v", name, err)
		}
		os.Remove(path)
	}
	hold.Unlock()
	if err := os.WriteFile(path, []byte("somebody's"), 0o600); err != nil {
		t.Fatal(err)
	}
	var refused *rendezvous.Error
	if err := daemon(ws).Run(context.Background()); !errors.As(err, &refused) {
		t.Errorf("listening over a file: %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "somebody's" {
		t.Error("the file was removed")
	}
}

// TestManyStartersOneDaemon: of processes that begin at once one serves, and all
// others join it.
func TestManyStartersOneDaemon(t *testing.T) {
	ws := shortDir(t)
	const n = 12
	var mu sync.Mutex
	var joined, serving int
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	all := make(chan struct{})
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			d := daemon(ws)
			d.Listening = func(_ string, j bool) {
				mu.Lock()
				defer mu.Unlock()
				if j {
					joined++
				} else {
					serving++
				}
				if joined+serving == n {
					close(all)
				}
			}
			if err := d.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	select {
	case <-all:
	case <-time.After(5 * time.Minute):
		t.Error("not all began")
	}
	cancel()
	wg.Wait()
	if serving != 1 || joined != n-1 {
		t.Errorf("%d serve and %d joined, want 1 and %d", serving, joined, n-1)
	}
}

// TestRelay: a stream of a second instance reaches the first.
func TestRelay(t *testing.T) {
	ws := shortDir(t)
	started(t, daemon(ws))
	var out strings.Builder
	d := daemon(ws)
	d.In, d.Out = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"observe_turn","params":`+turn("r", 1)+`}`), &out
	d.Open = func(context.Context) (*kernel.Kernel, *Options, error) { return nil, nil, errors.New("opened twice") }
	if err := d.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"outcome":"committed"`) {
		t.Errorf("got %s", out.String())
	}
	if r := connect(t, ws).call("observe_turn", turn("r", 1)); r.Result["outcome"] != "duplicate" {
		t.Errorf("the relayed turn is not there: %+v", r)
	}
}

// TestKilledDaemon leaves a socket behind, which holds nobody up; what it had answered
// is committed.
func TestKilledDaemon(t *testing.T) {
	ws := shortDir(t)
	for round := 1; round <= 3; round++ {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SERVE_TEST_DAEMON="+ws)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || !strings.HasSuffix(line, " false\n") {
			t.Fatalf("round %d: %q, %v", round, line, err)
		}
		c := connect(t, ws)
		if round > 1 {
			if r := c.call("observe_turn", turn("k", round-1)); r.Result["outcome"] != "duplicate" {
				t.Errorf("round %d: the turn before is lost: %+v", round, r)
			}
		}
		if r := c.call("observe_turn", turn("k", round)); r.Result["outcome"] != "committed" {
			t.Errorf("round %d: %+v", round, r)
		}
		c.send(`{"jsonrpc":"2.0","id":99,"method":"observe_turn","params":%s}`, turn("cut off", round))
		cmd.Process.Kill()
		cmd.Wait()
	}
	k, err := kernel.Open(context.Background(), ws, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if found, err := k.Check(context.Background()); err != nil || len(found) > 0 {
		t.Errorf("check: %v, %v", found, err)
	}
}

// TestIdleDaemonEnds once its first client has come and gone, and not before.
func TestIdleDaemonEnds(t *testing.T) {
	ws := shortDir(t)
	d := daemon(ws)
	d.Idle = time.Millisecond
	listening := make(chan struct{})
	d.Listening = func(string, bool) { close(listening) }
	ended := make(chan error, 1)
	go func() { ended <- d.Run(context.Background()) }()
	<-listening
	time.Sleep(300 * time.Millisecond) // a busy machine runs the client that started it late
	nc, _, err := rendezvous.Find(d.StateDir)
	if err != nil {
		t.Fatalf("it ended before anybody came: %v", err)
	}
	nc.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, _, err := rendezvous.Find(d.StateDir); err == nil {
		t.Error("it still listens")
	}
}

// TestStreamEnds: everything that was sent is answered before the end, though the
// input ended at once.
func TestStreamEnds(t *testing.T) {
	var in strings.Builder
	for i := range 40 {
		fmt.Fprintf(&in, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"observe_turn\",\"params\":%s}\n", i, turn(fmt.Sprint("s", i%3), i))
	}
	var out strings.Builder
	d := daemon(shortDir(t))
	d.In, d.Out = io.MultiReader(strings.NewReader(in.String())), &out
	if err := d.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"outcome":"committed"`); n != 40 {
		t.Errorf("%d of 40 are committed: %s", n, out.String())
	}
}
