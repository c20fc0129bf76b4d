package cli

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// Program is a command line program.
type Program struct {
	// Name is what it is called by, Short what it does in a line.
	Name, Short string
	// Opening is what help prints first; it may call Root's verbs by [Step].
	Opening func(root *cobra.Command) string
	// Groups are all its verbs, in the order in which help lists them. Help, completion and man
	// pages are made from them. The first also gets the verb help, the last the verb completion.
	Groups []Group
	// Databases opens what is kept in databases, nil in a program without.
	Databases Databases
	// Elsewhere has, for verbs that another program has, the line that names that program.
	Elsewhere map[string]string
}

// Group is a part of the help: verbs that one looks for together.
type Group struct {
	ID, Title string
	Verbs     []Verb
}

// Verb is a row of the table: how the verb is called, what it does in a line, what makes its
// flags, its help and its run, and the words that others use for it.
type Verb struct {
	Use, Summary string
	Command      func(*App) *cobra.Command
	Alike        []string
}

// NewVerb makes a row; alike is split at spaces.
func NewVerb(use, summary string, command func(*App) *cobra.Command, alike string) Verb {
	return Verb{use, summary, command, strings.Fields(alike)}
}

// Main runs the program on the process's streams until it ends or is told to, and returns the
// exit code.
func (p *Program) Main() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan int, 1)
	u := &UI{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	go func() { done <- p.Run(ctx, u, os.Args[1:]) }()
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
				if code == ExitOK && u.IsServing() {
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
		return ExitSignal + int(n)
	}
	return ExitError
}
