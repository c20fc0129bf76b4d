package pgtest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Shared is the server that the tests of a package share. It is started when the first test needs
// it. If MEMKERNEL_POSTGRES_DSN is set, it is the server that the variable names. If
// MEMKERNEL_PGLITE=1 is set, it is PGlite (PostgreSQL and pgvector as WebAssembly), in the folder
// that MEMKERNEL_PGLITE_DIR names or npm installs. Otherwise the programs installed on this
// machine serve. If there is no server, the tests are skipped.
type Shared struct {
	once        sync.Once
	dsn         string
	err         error
	stop        func()
	own, single bool
}

// DSN returns the server's address.
func (s *Shared) DSN(t testing.TB) string {
	t.Helper()
	s.once.Do(s.start)
	if s.err != nil {
		t.Skipf("no PostgreSQL: %v; name one by MEMKERNEL_POSTGRES_DSN, or set MEMKERNEL_PGLITE=1", s.err)
	}
	return s.dsn
}

func (s *Shared) start() {
	switch s.dsn = os.Getenv("MEMKERNEL_POSTGRES_DSN"); {
	case s.dsn != "":
	case os.Getenv("MEMKERNEL_PGLITE") != "":
		s.single = true
		s.dsn, s.stop, s.err = startPGlite()
	default:
		s.own = true
		s.dsn, s.stop, s.err = Start()
	}
}

// Owned skips a test, such as one that ends sessions or makes users, unless the tests own the
// server.
func (s *Shared) Owned(t testing.TB) {
	t.Helper()
	if s.DSN(t); !s.own {
		t.Skip("this is for a server of the tests' own")
	}
}

// Sessions skips a test on PGlite. There all connections share one session, so that no connection
// can wait for another or be ended alone.
func (s *Shared) Sessions(t testing.TB) {
	t.Helper()
	if s.DSN(t); s.single {
		t.Skip("PGlite has one session for all connections")
	}
}

// Close ends the server.
func (s *Shared) Close() {
	if s.stop != nil {
		s.stop()
	}
}

// pgliteScript serves a database in memory, with pgvector, on a given port.
const pgliteScript = `
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
const db = await PGlite.create({ extensions: { vector } })
const server = new PGLiteSocketServer({ db, port: +process.argv[2], host: '127.0.0.1', maxConnections: 64 })
await server.start()
console.log('ready')
process.stdin.on('end', () => process.exit(0)).resume()
`

// startPGlite serves an empty database with Node.js.
func startPGlite() (dsn string, stop func(), err error) {
	dir, clean := os.Getenv("MEMKERNEL_PGLITE_DIR"), func() {}
	defer func() {
		if err != nil {
			clean()
		}
	}()
	if dir == "" {
		if dir, err = os.MkdirTemp("", "pglite"); err != nil {
			return "", nil, err
		}
		clean = func() { os.RemoveAll(dir) }
		npm := exec.Command("npm", "install", "--no-audit", "--no-fund", "--prefix", dir,
			"@electric-sql/pglite@0.5.14", "@electric-sql/pglite-socket@0.2.17", "@electric-sql/pglite-pgvector@0.0.15")
		npm.Dir = dir
		if out, err := npm.CombinedOutput(); err != nil {
			return "", nil, fmt.Errorf("npm can't install PGlite: %w: %s", err, out)
		}
	}
	port, err := freePort()
	if err != nil {
		return "", nil, err
	}
	script := filepath.Join(dir, fmt.Sprintf("serve-%d.mjs", os.Getpid()))
	if err := os.WriteFile(script, []byte(pgliteScript), 0o600); err != nil {
		return "", nil, err
	}
	node := exec.Command("node", script, strconv.Itoa(port))
	node.Dir, node.Stderr = dir, os.Stderr
	in, err := node.StdinPipe() // the pipe closes when this process ends, which ends the script
	if err != nil {
		return "", nil, err
	}
	out, err := node.StdoutPipe()
	if err == nil {
		err = node.Start()
	}
	if err != nil {
		return "", nil, err
	}
	stop = func() {
		in.Close()
		node.Wait()
		os.Remove(script)
		clean()
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != "ready" {
		stop()
		return "", nil, fmt.Errorf("PGlite did not start: %q, %v", line, err)
	}
	// Its connections share one session, so statements must have no names.
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable&default_query_exec_mode=exec", port), stop, nil
}
