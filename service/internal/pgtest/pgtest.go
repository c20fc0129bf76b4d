package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Start makes a database in a temporary folder and serves it on a socket there. The server
// refuses to run as root, so root starts it as another user. It does not wait for the disk,
// unless settings such as fsync=on make it.
func Start(settings ...string) (dsn string, stop func(), err error) {
	s, err := newServer(0, settings)
	if err != nil {
		return "", nil, err
	}
	return s.DSN(), s.Close, nil
}

// Server is a server that one test owns.
type Server struct {
	dir, data string
	port      int // 0 serves on a socket only
	settings  []string
	attr      *syscall.SysProcAttr
	run       *exec.Cmd
	held      *os.Process // the server's process that writes the log, while it is stopped
}

// New is Start for tests that kill or copy the server. It listens on a port of this machine.
func New(settings ...string) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	return newServer(port, settings)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// inFolder begins a server in a temporary folder of its own.
func inFolder(port int, settings []string) (*Server, error) {
	dir, err := os.MkdirTemp("", "mkpg")
	if err != nil {
		return nil, err
	}
	attr, err := asUser(dir)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return &Server{dir: dir, data: filepath.Join(dir, "data"), port: port, settings: settings, attr: attr}, nil
}

func newServer(port int, settings []string) (*Server, error) {
	if _, err := Program("postgres"); err != nil {
		return nil, err
	}
	s, err := inFolder(port, settings)
	if err != nil {
		return nil, err
	}
	err = s.tool("initdb", "-D", s.data, "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// tool runs one of PostgreSQL's programs in the server's folder.
func (s *Server) tool(name string, args ...string) error {
	path, err := Program(name)
	if err != nil {
		return err
	}
	run := exec.Command(path, args...)
	run.Dir, run.SysProcAttr = s.dir, s.attr
	if out, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// Start starts the server, and returns when it answers. Settings in more override earlier
// settings.
func (s *Server) Start(more ...string) error {
	path, err := Program("postgres")
	if err != nil {
		return err
	}
	s.settings = append(s.settings, more...)
	args := []string{"-D", s.data, "-k", s.dir, "-c", "fsync=off"}
	if s.port == 0 {
		args = append(args, "-c", "listen_addresses=")
	} else {
		args = append(args, "-c", "listen_addresses=127.0.0.1", "-c", "port="+strconv.Itoa(s.port))
	}
	for _, set := range s.settings {
		args = append(args, "-c", set)
	}
	s.run = exec.Command(path, args...)
	s.run.Dir, s.run.SysProcAttr = s.dir, s.attr
	if err := s.run.Start(); err != nil {
		s.run = nil
		return err
	}
	return answers(s.DSN())
}

// DSN is the server's address.
func (s *Server) DSN() string {
	host := "host=" + s.dir
	if s.port > 0 {
		host = "host=127.0.0.1 port=" + strconv.Itoa(s.port)
	}
	return host + " user=postgres dbname=postgres sslmode=disable"
}

// Either returns an address that reaches the one of several servers that accepts writes.
func Either(servers ...*Server) string {
	var hosts, ports []string
	for _, s := range servers {
		hosts, ports = append(hosts, "127.0.0.1"), append(ports, strconv.Itoa(s.port))
	}
	return "host=" + strings.Join(hosts, ",") + " port=" + strings.Join(ports, ",") + " user=postgres dbname=postgres sslmode=disable target_session_attrs=read-write"
}

// PID is the parent of all processes of the server.
func (s *Server) PID() int { return s.run.Process.Pid }

// Data is the server's folder.
func (s *Server) Data() string { return s.data }

// Own makes the server's user the owner of a folder.
func (s *Server) Own(dir string) error {
	_, err := asUser(dir)
	return err
}

// Crash ends the server at once. As in a power cut, data that was not written is lost. Unlike in
// a power cut, the disk keeps everything that was written.
func (s *Server) Crash() {
	if s.run == nil {
		return
	}
	s.run.Process.Signal(syscall.SIGQUIT)
	if s.held != nil {
		s.held.Kill() // the server would wait for a stopped process
	}
	s.run.Wait() // returns an error, because the process was killed
	s.run, s.held = nil, nil
}

// Forgetful stops the process that writes the log in the background. So unless a commit waits for
// the disk, its data stays in the server's memory and is lost in a crash.
func (s *Server) Forgetful(ctx context.Context) error {
	c, err := pgx.Connect(ctx, s.DSN())
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	var pid int
	if err := c.QueryRow(ctx, `SELECT pid FROM pg_stat_activity WHERE backend_type='walwriter'`).Scan(&pid); err != nil {
		return fmt.Errorf("find the writer of the log: %w", err)
	}
	p, err := os.FindProcess(pid)
	if err == nil {
		err = stop(p)
	}
	if err != nil {
		return fmt.Errorf("have the writer of the log stand still: %w", err)
	}
	s.held = p
	return nil
}

// Close ends the server and removes its files.
func (s *Server) Close() {
	s.Crash()
	os.RemoveAll(s.dir)
}

// Standby makes a server that follows this one under the name standby. The settings, such as
// fsync=on, are those of the standby.
func (s *Server) Standby(settings ...string) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	b, err := inFolder(port, settings)
	if err != nil {
		return nil, err
	}
	err = b.tool("pg_basebackup", "-D", b.data, "-d", s.DSN()+" application_name=standby", "-R", "-X", "stream", "-c", "fast", "--no-sync")
	if err == nil {
		err = b.Start()
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Promote makes a standby accept writes.
func (s *Server) Promote(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	// The statement must not wait for the promotion: replayed records may end the statement.
	asked, standby := false, true
	for err := error(nil); standby; {
		if ctx.Err() != nil {
			return fmt.Errorf("the standby was not promoted: %w", errors.Join(ctx.Err(), err))
		}
		var c *pgx.Conn
		if c, err = pgx.Connect(ctx, s.DSN()); err != nil {
			return err
		}
		if !asked {
			err = c.QueryRow(ctx, `SELECT pg_promote(false)`).Scan(&asked)
		} else {
			err = c.QueryRow(ctx, `SELECT pg_is_in_recovery()`).Scan(&standby)
		}
		c.Close(ctx)
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// Program returns the path of one of PostgreSQL's programs, such as initdb.
func Program(name string) (string, error) {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	more, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	for _, d := range append(more, dirs...) { // Debian has wrappers of some programs in PATH
		path := filepath.Join(d, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", errors.New("this machine has no " + name + " of PostgreSQL")
}

// answers waits until the server answers queries.
func answers(dsn string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		var c *pgx.Conn
		if c, err = pgx.Connect(ctx, dsn); err == nil {
			return c.Close(ctx)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return fmt.Errorf("the server does not answer: %w", err)
}
