package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/kernel/api"
)

// The rules of this program's output:
//
//   - Standard output is only data. With --json it is one document.
//   - Everything else goes to standard error with a "memkernel:" prefix, without
//     capitals at the start and periods at the end. An error comes first, and
//     then a hint for its solution.
//   - Progress is shown only if standard error is a terminal and a verb takes over a
//     second. It takes one line, which is wiped at the end. --quiet turns off progress
//     and the hints after a success. --progress overrides these rules.
//   - Colour is used only if standard output is a terminal and NO_COLOR is not
//     set. --color overrides this rule. No information is in colour alone.
//   - Text fits 80 columns, and up to 140 where the terminal has them.
//   - Text from others can't control the terminal: text is printed through a screen
//     (internal/display). Data that a script reads is exact, and shown like text on a terminal.
//   - The exit code is one of the constants that begin with Exit.

// graceAfterSignal is the time in which a verb must stop after a signal. A kill at any point
// loses nothing, so a short time is enough.
const graceAfterSignal = 2 * time.Second

// UI is the input and the output of a verb. run wraps Out and Err in screens.
type UI struct {
	// Name is the program's name. Lines on standard error begin with it.
	Name     string
	In       io.Reader
	Out, Err io.Writer // text
	Quiet    bool
	All      bool   // print every row of a table
	color    string // auto, always or never, as progress
	progress string
	meter    *meter
	given    string // the shared flags that were given, for commands that hints name
	// grace is the time that the verb may take in addition to graceAfterSignal, in nanoseconds.
	grace atomic.Int64
	// interrupts reports that interrupts are for a command that the verb runs.
	interrupts atomic.Bool
	// serves reports that a signal is the normal end of the verb.
	serves atomic.Bool
}

// Serve marks a verb that runs until a signal stops it. The parameter grace is the additional
// time that the verb may take to stop. If the verb stops without an error, the program's exit
// code is 0 and not the signal's code.
func (u *UI) Serve(grace time.Duration) {
	u.serves.Store(true)
	u.AllowGrace(grace)
}

// LeaveInterrupts leaves the interrupts of the terminal to a command that the verb runs.
func (u *UI) LeaveInterrupts() { u.interrupts.Store(true) }

// AllowGrace lets the verb take d longer to stop after a signal.
func (u *UI) AllowGrace(d time.Duration) { u.grace.Store(int64(d)) }

// errorf, hintf and warn are the only functions that write to standard error, except for
// progress.
func (u *UI) errorf(format string, args ...any) {
	fmt.Fprintf(u.Err, "%s: error: %s\n", u.Name, oneLine(fmt.Sprintf(format, args...)))
}

func (u *UI) hintf(format string, args ...any) {
	fmt.Fprintf(u.Err, "%s: hint: %s\n", u.Name, oneLine(u.Commands(fmt.Sprintf(format, args...))))
}

func (u *UI) warn(text string) {
	if !u.Quiet {
		fmt.Fprintf(u.Err, "%s: warning: %s\n", u.Name, oneLine(text))
	}
}

// Tip prints a hint after a success.
func (u *UI) Tip(format string, args ...any) {
	if !u.Quiet {
		u.hintf(format, args...)
	}
}

// oneLine keeps a message that quotes input on one line.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// Step shows progress if the verb is slow. The parameter what names the work. done is the number
// of finished units, and all is the number of all units.
func (u *UI) Step(what string, done, all int, unit string) { u.line().Show(what, done, all, unit) }

// Work shows progress without a count if the verb is slow. The parameter what names the work.
func (u *UI) Work(what string) { u.line().Work(what) }

// Counted shows progress if the verb is slow. The parameter what names the work. Work in the
// returned context reports its counts. Without a count, Counted shows the elapsed time.
func (u *UI) Counted(ctx context.Context, what string) context.Context {
	u.Work(what)
	return longwork.WithProgress(ctx, func(unit string, done, all int) { u.Step(what, done, all, unit) })
}

// ProgressDone clears the line of progress.
func (u *UI) ProgressDone() { u.line().Done() }

// slow is the delay before progress is shown.
const slow = time.Second

// line is the line of progress, nil if none is shown.
func (u *UI) line() *meter {
	if u.meter == nil && u.showsProgress() {
		patience := slow
		if u.progress == "always" {
			patience = 0
		}
		u.meter = newMeter(u.Err, patience, time.Now)
	}
	return u.meter
}

// showsProgress reports whether to show progress. The default is yes on a terminal that can
// return to the start of a line, and no with --quiet. --progress overrides it.
func (u *UI) showsProgress() bool {
	switch {
	case u.Quiet || u.progress == "never":
		return false
	case u.progress == "always":
		return true
	}
	return os.Getenv("TERM") != "dumb" && isTerminal(u.Err)
}

// Interactive reports whether a person can answer questions: both input and standard error are a
// terminal.
func (u *UI) Interactive() bool {
	f, ok := u.In.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && isTerminal(u.Err)
}

// Ask asks for a yes or no. An empty line means usual. The end of the input means no.
func (u *UI) Ask(question string, usual bool) bool {
	in, choice := bufio.NewReader(u.In), "[y/N]"
	if usual {
		choice = "[Y/n]"
	}
	for {
		fmt.Fprintf(u.Err, "%s %s ", question, choice)
		line, err := in.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true
		case "n", "no":
			return false
		case "":
			return usual && err == nil
		}
		if err != nil {
			return false
		}
	}
}

// Style returns colour and width of standard output. No other code decides about them.
func (u *UI) Style() display.Style {
	p := display.Style{Command: u.Commands, All: u.All}
	p.Width, p.Rows = u.size()
	p.Color = u.color == "always" || u.color != "never" && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(u.Out)
	return p
}

// Text is never narrower than minColumns, because tables need them, and never wider than
// maxColumns, because longer lines are hard to read.
const minColumns, maxColumns = 44, 140

// size returns the number of columns for text and the number of the terminal's rows. The columns are
// those of the terminal, but at least minColumns and at most maxColumns. Without a terminal, columns
// is the default and rows is 0.
func (u *UI) size() (columns, rows int) {
	if f, ok := display.Bare(u.Out).(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return min(max(w, minColumns), maxColumns), h
		}
	}
	return display.Columns, 0
}

func isTerminal(w io.Writer) bool {
	f, ok := display.Bare(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Report prints the error with which a verb ended, and returns the exit code.
func (u *UI) Report(err error) int {
	var usage *UsageError
	var ended Exit
	u.ProgressDone()
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &ended):
		return int(ended)
	case errors.As(err, &usage):
		u.errorf("%s", usage.Error())
		u.hintf("%s", usage.Hint)
		return ExitUsage
	case errors.Is(err, syscall.EPIPE):
		return ExitError // the reader has closed the stream, so there is no output
	}
	u.errorf("%s", PlainError(err))
	if h := HintFor(err); h != "" {
		u.hintf("%s", h)
	}
	return ExitError
}

// Data returns standard output for data that is read byte for byte. On a terminal it goes through
// a screen.
func (u *UI) Data() io.Writer {
	if isTerminal(u.Out) {
		return u.Out
	}
	return display.Bare(u.Out)
}

// document returns standard output for JSON, which stays valid JSON on a terminal too.
func (u *UI) document() io.Writer { return display.DocumentScreen(u.Out) }

// IndexProgress returns a function that shows the progress of an index, nil if no progress is
// shown.
func (u *UI) IndexProgress() func(api.ReindexProgress) {
	if !u.showsProgress() {
		return nil
	}
	return func(p api.ReindexProgress) {
		if p.Stage == "index" {
			u.Step("reading files", p.Files, p.FilesTotal, "file")
		} else {
			u.Step("embedding", int(p.Done), int(p.Total), "text")
		}
	}
}
