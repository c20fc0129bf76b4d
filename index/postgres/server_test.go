//go:build unix

package postgres

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/internal/pgtest"
)

// The tests need a server: the one that MEMKERNEL_POSTGRES_DSN names; else PGlite
// (PostgreSQL and pgvector as WebAssembly) under MEMKERNEL_PGLITE=1, which names
// with MEMKERNEL_PGLITE_DIR the folder that npm installed it in or installs it by
// itself; else the programs initdb and postgres of this machine. Without any they
// are skipped.

// server is what the tests of this package share.
var server struct {
	once sync.Once
	dsn  string
	skip string
	stop func()
	// local is a server of our own, single one that has a single session.
	local, single bool
}

func TestMain(m *testing.M) {
	code := m.Run()
	if server.stop != nil {
		server.stop()
	}
	os.Exit(code)
}

func startServer() {
	server.stop = func() {}
	if dsn := os.Getenv("MEMKERNEL_POSTGRES_DSN"); dsn != "" {
		server.dsn = dsn
		return
	}
	var err error
	if os.Getenv("MEMKERNEL_PGLITE") != "" {
		server.single = true
		server.dsn, server.stop, err = startPGlite()
	} else {
		server.local = true
		server.dsn, server.stop, err = pgtest.Start()
	}
	if err != nil {
		server.skip = err.Error()
		server.stop = func() {}
	}
}

// freshSchema gives a test a schema of its own on the server.
func freshSchema(t testing.TB) Options {
	t.Helper()
	server.once.Do(startServer)
	if server.skip != "" {
		t.Skip("no PostgreSQL: " + server.skip + "; name one by MEMKERNEL_POSTGRES_DSN, or set MEMKERNEL_PGLITE=1")
	}
	schema := fmt.Sprintf("mk_%d_%d", os.Getpid(), time.Now().UnixNano())
	t.Cleanup(func() {
		c, err := pgx.Connect(context.Background(), server.dsn)
		if err != nil {
			return
		}
		defer c.Close(context.Background())
		c.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
	})
	return Options{DSN: server.dsn, Schema: schema, Workspace: "project", Agent: "ann",
		Private: func(path string) bool { return path == "MEMORY.md" || path == "USER.md" }}
}

// pgliteScript serves an in-memory PGlite with pgvector on a free port.
const pgliteScript = `
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
const db = await PGlite.create({ extensions: { vector } })
const server = new PGLiteSocketServer({ db, port: +process.argv[2], host: '127.0.0.1', maxConnections: 32 })
await server.start()
console.log('ready')
process.stdin.on('end', () => process.exit(0)).resume()
`

func startPGlite() (dsn string, stop func(), err error) {
	dir, clean := os.Getenv("MEMKERNEL_PGLITE_DIR"), func() {}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "pglite"); err != nil {
			return "", nil, err
		}
		clean = func() { os.RemoveAll(dir) }
		npm := exec.Command("npm", "install", "--no-audit", "--no-fund", "--prefix", dir,
			"@electric-sql/pglite@0.5.14", "@electric-sql/pglite-socket@0.2.17", "@electric-sql/pglite-pgvector@0.0.15")
		npm.Dir = dir
		if out, err := npm.CombinedOutput(); err != nil {
			clean()
			return "", nil, fmt.Errorf("npm can't install PGlite: %w: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		clean()
		return "", nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	script := filepath.Join(dir, "serve.mjs")
	if err := os.WriteFile(script, []byte(pgliteScript), 0o600); err != nil {
		clean()
		return "", nil, err
	}
	node := exec.Command("node", script, strconv.Itoa(port))
	node.Dir, node.Stderr = dir, os.Stderr
	in, err := node.StdinPipe() // closed with us, which ends it
	if err != nil {
		clean()
		return "", nil, err
	}
	out, err := node.StdoutPipe()
	if err == nil {
		err = node.Start()
	}
	if err != nil {
		clean()
		return "", nil, err
	}
	stop = func() {
		in.Close()
		node.Wait()
		clean()
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != "ready" {
		stop()
		return "", nil, fmt.Errorf("PGlite did not start: %q, %v", line, err)
	}
	// Its connections share one session, so statements must have no names.
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable&default_query_exec_mode=exec", port), stop, nil
}
