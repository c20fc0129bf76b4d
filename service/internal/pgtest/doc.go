// Package pgtest starts a PostgreSQL server for tests from the programs of this machine, in
// a temporary folder. It never uses a server that runs already unless
// MEMKERNEL_POSTGRES_DSN names one.
package pgtest
