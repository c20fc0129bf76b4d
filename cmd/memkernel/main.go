// Command memkernel plans a language model's input: it turns an agent session into a prompt that
// fits its budget and keeps the provider's cache, and gives the reasons.
//
// It is a thin skin over package kernel: flags in, text or JSON out. The table of all verbs is in
// internal/verbs. The verbs share package internal/cli, which opens a configuration, and
// internal/display, which draws. The program decides nothing itself, and calls no language model of
// its own accord. It opens a network connection only to a provider that a configuration names and, as
// a proxy, to the upstream that its flag names. The rules of its output are in internal/cli/ui.go,
// its JSON is in doc/json.md.
package main

import (
	"os"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/verbs"
)

var command = &cli.Program{
	Name: "memkernel", Short: "plan what a model gets to see, within a budget and with a warm cache",
	Opening: verbs.Opening, Groups: verbs.Groups(verbs.Serve, verbs.Proxy(nil)),
	Elsewhere: map[string]string{
		"token":                  "memkernel-server has it, which serves over HTTP: see doc/service.md",
		"migrate":                "memkernel-server has it, which keeps state and memory in PostgreSQL: see doc/scaling.md",
		"eval":                   "mkbench in the repository's folder bench has it: go run -C bench ./cmd/mkbench eval --help",
		"bench":                  "mkbench in the repository's folder bench has its verbs: go run -C bench ./cmd/mkbench --help",
		"push publish upload":    "nothing leaves this machine: memory is Markdown in this folder, which git or any copy takes along",
		"mv move cp copy backup": "memory is Markdown in this folder: move or copy its files like any others",
		"upgrade self-update":    "install it again, as the README says; state is kept",
	},
}

func main() { os.Exit(command.Main()) }
