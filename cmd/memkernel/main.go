// Command memkernel plans what a language model gets to see: it turns an agent
// session into a prompt that fits its budget and keeps the provider's cache, and
// says why.
//
// It is a thin skin over package kernel: flags in, text or JSON out. The table of all verbs
// is verbs.go; each is a function in a package of its family below internal/verbs, over what
// they share (internal/cli), what a configuration opens (internal/setup) and what is drawn
// (internal/display of the module). It decides nothing itself, calls no language model of its own accord, and
// opens no network connection but to a provider that a configuration names, and as a
// proxy to the upstream that its flag names.
// The rules of its output stand in internal/cli/ui.go, its JSON in doc/json.md.
package main

import "os"

func main() { os.Exit(command.Main()) }
