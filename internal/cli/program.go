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
	// Name is the name of the program. Short is its purpose in a line.
	Name, Short string
	// Opening returns the first text of the help. It should name verbs through [Step].
	Opening func(root *cobra.Command) string
	// Groups are all verbs of the program, in the order in which help lists them. Help
	// and completion are made from Groups. Root adds the verb help to the first group and the verb
	// completion to the last.
	Groups []Group
	// Databases opens stores in databases. It is nil in a program without them.
	Databases databases
	// Elsewhere maps verbs that only other programs have, separated by blanks, to a hint that
	// names the program or the way.
	Elsewhere map[string]string
}

// Group is a part of the help with related verbs.
type Group struct {
	ID, Title string
	Verbs     []Verb
}

// Verb is a row of the table: the verb's usage, its purpose in a line, the function that makes
// its command, and the other words that people use for it.
type Verb struct {
	Use, Summary string
	Command      func(*App) *cobra.Command
	Alike        []string
}

// NewVerb makes a row. The parameter alike holds words separated by spaces.
func NewVerb(use, summary string, command func(*App) *cobra.Command, alike string) Verb {
	return Verb{use, summary, command, strings.Fields(alike)}
}

// Main runs the program on the process's streams and returns the exit code. A signal makes the
// program end early.
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
			if s == os.Interrupt && u.interrupts.Load() {
				continue
			}
			cancel()
			select {
			case code := <-done:
				if code == ExitOK && u.serves.Load() {
					return code
				}
			case <-signals:
			case <-time.After(graceAfterSignal + time.Duration(u.grace.Load())):
			}
			return ExitSignal + int(s.(syscall.Signal))
		}
	}
}
