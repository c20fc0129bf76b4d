// Package protocol has the parameters and the answers of the methods of memkernel serve, as
// doc/rpc.md describes them. It is data, made of the daemon's own source.
package protocol
