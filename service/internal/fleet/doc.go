// Package fleet imitates several machines that run `memkernel serve --listen`, for tests and
// benchmarks. It runs real processes on this machine, with one database and one workspace.
package fleet
