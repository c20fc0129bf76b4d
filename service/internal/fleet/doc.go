// Package fleet runs several machines' worth of `memkernel serve --listen`, for tests and
// benchmarks: real processes on this machine, over one database and one workspace.
package fleet
