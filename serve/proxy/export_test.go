package proxy

import "time"

// Adopt lets a proxy know the conversations of another one, as if it had not been
// started anew.
func Adopt(x, of *Proxy) {
	x.lines.known, x.lines.mains = of.lines.known, of.lines.mains
}

// Release lets a proxy go of conversations that had no request for so long.
func Release(x *Proxy, idle time.Duration) { x.forget(idle) }
