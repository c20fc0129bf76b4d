// Package serve puts a kernel behind JSON-RPC 2.0, one message per line, on standard
// streams and on a unix socket. doc/rpc.md is the protocol.
//
// One daemon serves one state directory. The process that holds serve.lock in the directory is
// the daemon. The operating system releases the lock when the process ends. So a client can tell
// a socket without a daemon from a slow daemon. A second instance joins the first: it relays its
// streams to the socket.
//
//	 stdin ──► conn ─┐                    ┌─► lane "a" ─► kernel
//	socket ──► conn ─┼─► Server: methods ─┼─► lane "b" ─► kernel
//	socket ──► conn ─┘                    └─► (no session) ─► kernel
//
// A conn reads lines and writes answers, in the order in which calls end. A call that names a
// session waits for the earlier calls of the same session from all connections. All other calls
// run in parallel. In addition to the kernel, a server holds the conversation of every session in
// its host's bytes. A host hands in only its new messages. The answer says which messages are
// unchanged. Unchanged messages keep their bytes, because they are not sent back. The held
// conversation is a cache. If the daemon has lost it, the answer says so and the host must hand
// in all messages.
//
// The package plans nothing, decides nothing and writes no memory. The kernel does all of that.
// Sizes are bytes, times are RFC 3339. Only the user may open the socket, and a second instance
// does not join a socket of another user. A session is shared unless the caller says that it is
// private.
package serve
