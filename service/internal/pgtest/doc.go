// Package pgtest starts a PostgreSQL server for tests in a temporary folder, with the programs
// installed on this machine. It uses a running server only if MEMKERNEL_POSTGRES_DSN names that
// server.
package pgtest
