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

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/memkernel/memkernel/cmd/memkernel/internal/cli"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/fail"
)

func main() {
	os.Exit(mainWithSignals())
}

// mainWithSignals runs the program until it ends or is told to.
func mainWithSignals() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan int, 1)
	u := &cli.UI{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	go func() { done <- run(ctx, u, os.Args[1:]) }()
	for {
		select {
		case code := <-done:
			return code
		case s := <-signals:
			if s == os.Interrupt && u.LeavesInterrupts() {
				continue
			}
			cancel()
			select {
			case code := <-done:
				if code == fail.ExitOK && u.IsServing() {
					return code
				}
			case <-signals:
			case <-time.After(u.GraceTime()):
			}
			return signalCode(s)
		}
	}
}

func signalCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return fail.ExitSignal + int(n)
	}
	return fail.ExitError
}
