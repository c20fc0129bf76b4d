// Package serve puts a kernel behind JSON-RPC 2.0, one message per line, on standard
// streams and on a unix socket. doc/rpc.md is the protocol.
//
// One daemon serves one state directory. Whoever holds serve.lock there is it; the
// lock is the operating system's, so that it ends with the process that holds it, and
// a socket that nobody listens at is told from a daemon that is slow. A second
// instance joins the first: it relays its streams to the socket.
//
//	 stdin ──► conn ─┐                    ┌─► lane "a" ─► kernel
//	socket ──► conn ─┼─► Server: methods ─┼─► lane "b" ─► kernel
//	socket ──► conn ─┘                    └─► (no session) ─► kernel
//
// A conn reads lines and writes answers, in the order in which calls end. A call that names a
// session waits for those of the same session that came before it, whichever connection they came
// by; all others run in parallel. In addition to the kernel, a server holds the conversation of
// every session in its host's bytes. A host hands in only its new messages, and the answer says
// which messages are unchanged, so that these keep their bytes because they never travel. The
// held conversation is a cache. A daemon that doesn't have it answers so, and the host must hand
// in everything.
//
// The package plans nothing, decides nothing and writes no memory; the kernel does.
// Sizes are bytes, times are RFC 3339. The socket is the user's own: nobody else may
// open it, and one that is not theirs is not joined. A caller that doesn't say that a
// session is private gets a shared one.
package serve
