//go:build unix

package fleet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/memkernel/memkernel/client"
	"github.com/memkernel/memkernel/service/postgres"
	"github.com/memkernel/memkernel/service/token"
)

// Build builds the program from its package's folder.
func Build(pkg, to string) (bin string, err error) {
	bin = filepath.Join(to, "memkernel")
	if out, err := exec.Command("go", "build", "-o", bin, pkg).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return bin, nil
}

// Fleet is a workspace that machines share. Dir is the folder of all their files.
type Fleet struct {
	Bin, Dir string
	DSN      string
	token    string
	machines int
}

// New makes a workspace, and a token for its machines.
func New(bin, dir, dsn string, lease time.Duration) (*Fleet, error) {
	f := &Fleet{Bin: bin, Dir: dir, DSN: dsn}
	if err := os.MkdirAll(f.Workspace(), 0o700); err != nil {
		return nil, err
	}
	conf := fmt.Sprintf("store:\n  backend: postgres\n  postgres:\n    dsn_env: STATE_DSN\n    root: shop\nexperimental:\n  store:\n    postgres:\n      lease: %s\n", lease)
	if err := os.WriteFile(f.config(), []byte(conf), 0o600); err != nil {
		return nil, err
	}
	state, err := postgres.Open(context.Background(), postgres.Options{DSN: dsn, Root: "shop"})
	if err != nil {
		return nil, err
	}
	defer state.Close()
	_, f.token, err = token.In(state.State()).Create(token.Rights{Access: token.Write}, time.Now())
	return f, err
}

// Workspace is the folder that all machines share.
func (f *Fleet) Workspace() string { return filepath.Join(f.Dir, "workspace") }

// config is the file of settings.
func (f *Fleet) config() string { return filepath.Join(f.Dir, "team.yaml") }

// Run runs the program as if on another machine.
func (f *Fleet) Run(args ...string) (string, error) {
	cmd := exec.Command(f.Bin, append(args, "--workspace", f.Workspace(), "--state-dir", filepath.Join(f.Dir, "desk"), "--config", f.config())...)
	cmd.Env = append(os.Environ(), "STATE_DSN="+f.DSN)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s", args, err, &stderr)
	}
	return string(out), err
}

// Machine is one machine of a fleet.
type Machine struct {
	f    *Fleet
	n    int
	more []string

	mu     sync.Mutex
	url    string
	cmd    *exec.Cmd
	ended  chan struct{}
	stderr bytes.Buffer
}

// Machine makes a machine, which does not run yet. Args are further arguments of serve.
func (f *Fleet) Machine(args ...string) *Machine {
	f.machines++
	return &Machine{f: f, n: f.machines - 1, more: args}
}

func (m *Machine) state() string { return filepath.Join(m.f.Dir, fmt.Sprint("state", m.n)) }

// Start runs the machine's program, and returns when it listens. A machine that ran before
// listens at the same port.
func (m *Machine) Start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := "127.0.0.1:0"
	if m.url != "" {
		at = strings.TrimPrefix(m.url, "http://")
	}
	m.cmd = exec.Command(m.f.Bin, append([]string{"serve", "--listen", at, "--quiet", "--workspace", m.f.Workspace(), "--state-dir", m.state(), "--config", m.f.config()}, m.more...)...)
	m.cmd.Env = append(os.Environ(), "STATE_DSN="+m.f.DSN)
	m.cmd.Stderr = &m.stderr
	out, err := m.cmd.StdoutPipe()
	if err == nil {
		err = m.cmd.Start()
	}
	if err != nil {
		m.cmd = nil
		return err
	}
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	ended := make(chan struct{})
	m.ended = ended
	go func(cmd *exec.Cmd) {
		io.Copy(io.Discard, r) // reads until the program ends
		cmd.Wait()             // returns an error for every killed process
		close(ended)
	}(m.cmd)
	if err != nil {
		<-ended
		m.cmd = nil
		return fmt.Errorf("serve ended: %s", &m.stderr)
	}
	m.url = strings.TrimSpace(line)
	return nil
}

// URL is the address at which the machine listens, or will listen again.
func (m *Machine) URL() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.url
}

// PID is the machine's process, 0 if it does not run.
func (m *Machine) PID() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd == nil {
		return 0
	}
	return m.cmd.Process.Pid
}

// Signal sends a signal to the machine's process.
func (m *Machine) Signal(s syscall.Signal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd == nil {
		return errors.New("it does not run")
	}
	return m.cmd.Process.Signal(s)
}

// End sends the machine's process a signal that ends it, and waits for its end. End does nothing
// if the machine does not run.
func (m *Machine) End(s syscall.Signal) {
	if m.Signal(s) != nil {
		return
	}
	m.Signal(syscall.SIGCONT)
	<-m.ended
	m.mu.Lock()
	m.cmd = nil
	m.mu.Unlock()
}

// Client returns the options of a client of the machine.
func (m *Machine) Client() client.Options { return m.f.Client(m.URL()) }

// Client returns the options of a client of a URL.
func (f *Fleet) Client(url string) client.Options {
	return client.Options{URL: url, Token: f.token, Timeout: 30 * time.Second}
}
