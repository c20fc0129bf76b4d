//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Start makes a database in a temporary folder and serves it on a socket
// there. The server refuses to be root, so root starts it as nobody else's user.
// It waits for no disk, unless settings, such as fsync=on, say otherwise.
func Start(settings ...string) (dsn string, stop func(), err error) {
	initdb, server, err := programs()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "mkpg")
	if err != nil {
		return "", nil, err
	}
	attr, err := asUser(dir)
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	data := filepath.Join(dir, "data")
	make := exec.Command(initdb, "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
	make.Dir, make.SysProcAttr = dir, attr
	if out, err := make.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return "", nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	args := []string{"-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off"}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	run := exec.Command(server, args...)
	run.Dir, run.SysProcAttr = dir, attr
	if err := run.Start(); err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	stop = func() {
		run.Process.Signal(syscall.SIGQUIT)
		run.Wait()
		os.RemoveAll(dir)
	}
	dsn = "host=" + dir + " user=postgres dbname=postgres sslmode=disable"
	if err := answers(dsn); err != nil {
		stop()
		return "", nil, err
	}
	return dsn, stop, nil
}

// programs finds initdb and postgres.
func programs() (initdb, server string, err error) {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	more, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	for _, d := range append(dirs, more...) {
		initdb, server = filepath.Join(d, "initdb"), filepath.Join(d, "postgres")
		_, err1 := os.Stat(initdb)
		_, err2 := os.Stat(server)
		if errors.Join(err1, err2) == nil {
			return initdb, server, nil
		}
	}
	return "", "", errors.New("this machine has no initdb and postgres")
}

// asUser hands the folder to the user postgres, or nobody, if we are root.
func asUser(dir string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return nil, errors.New("root can't run a server, and there is no user postgres or nobody")
}

// answers waits until the server can be asked.
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
