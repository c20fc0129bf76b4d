package wire

// Deferred reports whether a definition of a tool waits until the model searches for it: it is
// no part of the prompt.
func Deferred(raw string) bool { return MemberOf(raw, "defer_loading") == "true" }
