//go:build unix

package pgindex

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/service/internal/pgtest"
)

// server is what the tests of this package share.
var server pgtest.Shared

func TestMain(m *testing.M) {
	code := m.Run()
	server.Close()
	os.Exit(code)
}

// freshSchema gives a test a schema of its own on the server.
func freshSchema(t testing.TB) Options {
	t.Helper()
	dsn := server.DSN(t)
	schema := fmt.Sprintf("mk_%d_%d", os.Getpid(), time.Now().UnixNano())
	t.Cleanup(func() {
		c, err := pgx.Connect(context.Background(), dsn)
		if err != nil {
			return
		}
		defer c.Close(context.Background())
		c.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
	})
	return Options{DSN: dsn, Schema: schema, Workspace: "project", Agent: "ann",
		Private: func(path string) bool { return path == "MEMORY.md" || path == "USER.md" }}
}
