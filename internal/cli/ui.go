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
//   - Standard output is data and nothing else. With --json it is one document.
//   - Everything else goes to standard error with a "memkernel:" prefix, without
//     capitals at the start and periods at the end: an error, then what can be
//     done about it as a hint.
//   - Progress is shown only if standard error is a terminal and a verb takes over a
//     second, in one line that is wiped at the end, and never with --quiet, which
//     silences hints that follow a success as well; --progress decides otherwise.
//     Without a terminal an index alone prints a line every ten seconds.
//   - Colour is used only if standard output is a terminal and NO_COLOR is not
//     set; --color decides otherwise. Nothing is said by colour alone.
//   - Text fits 80 columns, and up to 140 where the terminal has them.
//   - What others wrote can't speak to the terminal: text is printed through a screen
//     (internal/display). Data that a script reads is exact, and shown like text on a terminal.
//   - The exit code is one of ExitOK and its kin.

// graceAfterSignal is how long a verb may take to stop when it is told to. A
// kill at any point loses nothing, so it need not be long.
const graceAfterSignal = 2 * time.Second

// UI is where a verb writes. run puts screens before out and err.
type UI struct {
	// Name is the program's, which lines on standard error begin with.
	Name     string
	In       io.Reader
	Out, Err io.Writer // text
	Quiet    bool
	color    string // auto, always or never, as progress
	progress string
	meter    *display.Meter
	given    string // the shared flags that were given, for commands that hints name
	// grace is how long the verb may take beyond graceAfterSignal, in nanoseconds.
	grace atomic.Int64
	// interrupts: they are for a command that the verb runs.
	interrupts atomic.Bool
	// serves: a signal is how the verb ends.
	serves atomic.Bool
}

// Serve marks a verb that runs until it is told to stop, and lets it take so long for that.
// If it stops without an error, the program ends with 0 in place of the signal's code.
func (u *UI) Serve(grace time.Duration) {
	u.serves.Store(true)
	u.AllowGrace(grace)
}

// IsServing reports whether Serve was called.
func (u *UI) IsServing() bool { return u.serves.Load() }

// LeaveInterrupts leaves the interrupts of the terminal to a command that the verb runs.
func (u *UI) LeaveInterrupts() { u.interrupts.Store(true) }

// LeavesInterrupts reports whether it does.
func (u *UI) LeavesInterrupts() bool { return u.interrupts.Load() }

// AllowGrace lets the verb take so long to stop what it has begun.
func (u *UI) AllowGrace(d time.Duration) { u.grace.Store(int64(d)) }

// GraceTime is how long the verb may take to stop when it is told to.
func (u *UI) GraceTime() time.Duration { return graceAfterSignal + time.Duration(u.grace.Load()) }

// errorf, hintf and warn are the only ways to standard error, but for progress.
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

// Tip is a hint after a success.
func (u *UI) Tip(format string, args ...any) {
	if !u.Quiet {
		u.hintf(format, args...)
	}
}

// oneLine keeps a message that quotes input on one line.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// Step shows how many of all are done of what, in units, once the verb is slow.
func (u *UI) Step(what string, done, all int, unit string) { u.line().Show(what, done, all, unit) }

// Work shows that the verb is at what can't be counted, once it is slow.
func (u *UI) Work(what string) { u.line().Work(what) }

// Counted shows how far the verb is with what, once it is slow: what is counted in the
// work of the context that it gives, and for how long it takes where nothing is.
func (u *UI) Counted(ctx context.Context, what string) context.Context {
	u.Work(what)
	return longwork.WithProgress(ctx, func(unit string, done, all int) { u.Step(what, done, all, unit) })
}

// ProgressDone wipes the line of progress.
func (u *UI) ProgressDone() { u.line().Done() }

// slow is from when on progress is shown.
const slow = time.Second

// line is the line of progress, nil if none is shown.
func (u *UI) line() *display.Meter {
	if u.meter == nil && u.showsProgress() {
		patience := slow
		if u.progress == "always" {
			patience = 0
		}
		u.meter = display.NewMeter(u.Err, patience, time.Now)
	}
	return u.meter
}

// showsProgress decides about progress: on a terminal that can go back in a line, but with
// --quiet, or as --progress has it.
func (u *UI) showsProgress() bool {
	switch {
	case u.Quiet || u.progress == "never":
		return false
	case u.progress == "always":
		return true
	}
	return os.Getenv("TERM") != "dumb" && isTerminal(u.Err)
}

// Interactive tells whether a person can be asked: input and standard error are a
// terminal.
func (u *UI) Interactive() bool {
	f, ok := u.In.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && isTerminal(u.Err)
}

// Ask asks for a yes or no. An empty line is yes, the end of the input no.
func (u *UI) Ask(question string) bool {
	in := bufio.NewReader(u.In)
	for {
		fmt.Fprintf(u.Err, "%s [Y/n] ", question)
		line, err := in.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true
		case "n", "no":
			return false
		case "":
			return err == nil
		}
		if err != nil {
			return false
		}
	}
}

// Style decides about colour and width of standard output, in this one place.
func (u *UI) Style() display.Style {
	p := display.Style{Width: u.width(), Command: u.Commands}
	switch u.color {
	case "always":
		p.Color = true
	case "never":
	default:
		p.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(u.Out)
	}
	return p
}

// width is how many columns text may take: the terminal's within bounds, and those of the
// rules where it goes elsewhere.
func (u *UI) width() int {
	if f, ok := display.Bare(u.Out).(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return min(max(w, display.MinWidth), display.MaxColumns)
		}
	}
	return display.Columns
}

func isTerminal(w io.Writer) bool {
	f, ok := display.Bare(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Report prints how a verb ended and returns the exit code.
func (u *UI) Report(err error) int {
	var usage *UsageError
	var some *findings
	var ended *Ended
	u.ProgressDone()
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &ended):
		return ended.Code
	case errors.As(err, &some):
		return ExitFindings
	case errors.As(err, &usage):
		u.errorf("%s", usage.Error())
		u.hintf("%s", usage.Hint)
		return ExitUsage
	case errors.Is(err, syscall.EPIPE):
		return ExitError // the reader went away; nobody is left to tell
	}
	u.errorf("%s", PlainError(err))
	if h := HintFor(err); h != "" {
		u.hintf("%s", h)
	}
	return ExitError
}

// Data is standard output for what is read byte for byte: exact, but on a terminal.
func (u *UI) Data() io.Writer {
	if isTerminal(u.Out) {
		return u.Out
	}
	return display.Bare(u.Out)
}

// document is standard output for JSON, which stays JSON on a terminal too.
func (u *UI) document() io.Writer { return display.DocumentScreen(u.Out) }

// IndexProgress returns a function that shows how far an index is: on the line of progress on a
// terminal, and as a line every ten seconds elsewhere. It is nil with --quiet.
func (u *UI) IndexProgress() func(api.ReindexProgress) {
	switch {
	case u.showsProgress():
		return func(p api.ReindexProgress) { u.Step(display.ReindexStep(p)) }
	case u.Quiet || u.progress == "never":
		return nil
	}
	return display.ReindexLines(u.Err, time.Now)
}
