// Package pgtest starts a PostgreSQL server for tests, of the programs that this machine
// has, in a temporary folder.
package pgtest
