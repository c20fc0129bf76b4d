// Command memkernel plans what a language model gets to see: it turns an agent
// session into a prompt that fits its budget and keeps the provider's cache, and
// says why.
//
// It is a thin skin over package kernel: one file per verb, flags in, text or
// JSON out. It decides nothing itself, calls no language model of its own accord, and
// opens no network connection but to a provider that a configuration names, and as a
// proxy to the upstream that its flag names.
// The rules of its output stand in ui.go, its JSON in doc/json.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
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
	u := &ui{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	go func() { done <- run(ctx, u, os.Args[1:]) }()
	select {
	case code := <-done:
		return code
	case s := <-signals:
		cancel()
		select {
		case <-done:
		case <-signals:
		case <-time.After(u.graceTime()):
		}
		return signalCode(s)
	}
}

func signalCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return exitSignal + int(n)
	}
	return exitError
}
