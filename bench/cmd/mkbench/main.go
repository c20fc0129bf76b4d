// Command mkbench measures the cost and the recall of context policies over recorded sessions,
// and the quality of search. It also runs the paging paper's workloads. It is built from the
// repository and never released:
//
//	go run -C bench ./cmd/mkbench --help
//
// With go run -C, relative paths are relative to the folder bench. `go build -C bench -o ../bin/
// ./cmd/mkbench` makes a program that can run anywhere.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/bench/economics"
	"github.com/memkernel/memkernel/bench/paging"
	"github.com/memkernel/memkernel/bench/predict"
	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/internal/cli"
	shared "github.com/memkernel/memkernel/internal/verbs"
)

func main() { os.Exit(command.Main()) }

var command = &cli.Program{
	Name: "mkbench", Short: "measure memkernel: policies, search, paging, predictions",
	Opening: func(*cobra.Command) string {
		return "mkbench measures memkernel on recorded sessions and on questions with known answers.\nNothing is sent anywhere but to an embedding provider that a configuration names."
	},
	Groups: []cli.Group{
		{ID: "sessions", Title: "Recorded sessions (policies, bills)", Verbs: []cli.Verb{
			cli.NewVerb("replay --transcript FILE", "compare context policies over a recorded session", shared.Replay, "simulate compare"),
			cli.NewVerb("economics --transcript FILE", "what context policies cost and show, over sessions, windows and prices", economics.Verb, "policies costs report"),
			cli.NewVerb("predict --transcript FILE...", "predict what recorded calls read and wrote, and compare with their bills", predict.Verb, "cache bills"),
		}},
		{ID: "memory", Title: "Memory and paging", Verbs: []cli.Verb{
			cli.NewVerb("eval --set DIR...", "measure search on questions with known answers", relevance.Verb, "evaluate score search"),
			cli.NewVerb("paging", "the evaluation of the ClawVM paper", paging.Verb, "clawvm paper workload"),
			cli.NewVerb("version", "print the version", cli.VersionVerb, "about"),
		}},
	},
}
