package proxy

import "time"

// Adopt lets a proxy know the conversations of another one, as if it had not been
// started anew.
func Adopt(x, of *Proxy) {
	x.lines.known, x.lines.mains = of.lines.known, of.lines.mains
}

// Weigh returns what the proxy takes for the tokens of a text.
func Weigh(x *Proxy, model, text string) int { return x.account.scaleOf(model).text(text) }

// Release lets a proxy go of conversations that had no request for so long.
func Release(x *Proxy, idle time.Duration) { x.forget(idle) }
