package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/transcript"
)

// The rules of this program's output:
//
//   - Standard output is data and nothing else. With --json it is one document.
//   - Everything else goes to standard error with a "memkernel:" prefix, without
//     capitals at the start and periods at the end: an error, then what can be
//     done about it as a hint.
//   - Progress is shown only if standard error is a terminal, and never with
//     --quiet, which silences hints that follow a success as well.
//   - Colour is used only if standard output is a terminal and NO_COLOR is not
//     set; --color decides otherwise. Nothing is said by colour alone.
//   - Text fits 80 columns.
//   - What others wrote can't speak to the terminal: text is printed through a screen
//     (screen.go). Data that a script reads is exact, and shown like text on a terminal.
//   - The exit code is one of the following.
const (
	exitOK       = 0
	exitError    = 1
	exitUsage    = 2
	exitFindings = 3
	// A process that ends by a signal ends with 128 and its number.
	exitSignal = 128
)

// graceAfterSignal is how long a verb may take to stop when it is told to. A
// kill at any point loses nothing, so it need not be long.
const graceAfterSignal = 2 * time.Second

// usageError is a mistake in how the program was called.
type usageError struct{ msg, hint string }

func (e *usageError) Error() string { return e.msg }

// usagef makes a usage error whose hint is the verb's help.
func usagef(format string, args ...any) error {
	return &usageError{msg: fmt.Sprintf(format, args...)}
}

// hinted is an error with a way out.
type hinted struct {
	error
	hint string
}

func (e *hinted) Unwrap() error { return e.error }

// hint adds a way out to an error.
func hint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// findings tells that a check went well and found something.
type findings struct{ n int }

func (e *findings) Error() string { return fmt.Sprintf("%d findings", e.n) }

// ui is where a verb writes. run puts screens before out and err.
type ui struct {
	in       io.Reader
	out, err io.Writer // text
	quiet    bool
	color    string // auto, always or never
	// grace is how long the verb may take to stop, in nanoseconds; 0 is
	// graceAfterSignal.
	grace atomic.Int64
}

// errorf and hintf are the only ways to standard error, but for progress.
func (u *ui) errorf(format string, args ...any) {
	fmt.Fprintf(u.err, "memkernel: error: %s\n", oneLine(fmt.Sprintf(format, args...)))
}

func (u *ui) hintf(format string, args ...any) {
	fmt.Fprintf(u.err, "memkernel: hint: %s\n", oneLine(fmt.Sprintf(format, args...)))
}

// tip is a hint after a success.
func (u *ui) tip(format string, args ...any) {
	if !u.quiet {
		u.hintf(format, args...)
	}
}

// oneLine keeps a message that quotes input on one line.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// progress shows how far a slow verb is, on a terminal.
func (u *ui) progress(format string, args ...any) {
	if !u.quiet && isTerminal(u.err) {
		fmt.Fprintf(u.err, display.Ours("\r\x1b[K")+format, args...)
	}
}

// progressDone wipes the line of progress.
func (u *ui) progressDone() { u.progress("") }

// painter decides about colour and width of standard output, in this one place.
func (u *ui) painter() display.Style {
	p := display.Style{Width: u.width()}
	switch u.color {
	case "always":
		p.Color = true
	case "never":
	default:
		p.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(u.out)
	}
	return p
}

// width is how many columns text may take: the terminal's, and never more than
// the rules allow.
func (u *ui) width() int {
	if f, ok := display.Bare(u.out).(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return min(max(w, display.MinWidth), display.Columns)
		}
	}
	return display.Columns
}

func isTerminal(w io.Writer) bool {
	f, ok := display.Bare(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// report prints how a verb ended and returns the exit code.
func (u *ui) report(err error) int {
	var usage *usageError
	var found *findings
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &found):
		return exitFindings
	case errors.As(err, &usage):
		u.errorf("%s", usage.msg)
		u.hintf("%s", usage.hint)
		return exitUsage
	case errors.Is(err, syscall.EPIPE):
		return exitError // the reader went away; nobody is left to tell
	}
	u.errorf("%s", plainError(err))
	if h := hintFor(err); h != "" {
		u.hintf("%s", h)
	}
	return exitError
}

// plainError is an error without the hint that it carries.
func plainError(err error) string {
	var line *transcript.LineError
	if errors.As(err, &line) && line.Hint != "" {
		return strings.TrimSuffix(err.Error(), " ("+line.Hint+")")
	}
	return err.Error()
}

// hintFor finds the way out of an error.
func hintFor(err error) string {
	var h *hinted
	var line *transcript.LineError
	var window *kernel.WindowError
	var small *kernel.TooSmallError
	var none *kernel.NoSessionError
	switch {
	case errors.As(err, &h):
		return h.hint
	case errors.As(err, &none):
		return none.Hint("'memkernel status --all' lists all") + "; plan --commit and observe begin one, as does any verb with its --transcript"
	case errors.Is(err, transcript.ErrUnread):
		return fmt.Sprintf("check that it is the session's own file and whole; --dialect, one of %v, says how it is written", transcript.Dialects())
	case errors.As(err, &line):
		return "mend or remove that line, or pass --skip-broken to leave out what can't be read"
	case errors.As(err, &window):
		return "say how large it is with --context-window, such as --context-window 200k, or add the model with --prices"
	case errors.As(err, &small):
		return fmt.Sprintf("the window must hold the reserve (%d) and the fixed part (%d): use a larger --context-window, a smaller --reserve, or less in --system, --tools and --fixed-tokens", small.Reserve, small.Fixed)
	case errors.Is(err, kernel.ErrAnswered), errors.Is(err, kernel.ErrNoMessages):
		return "add a user prompt with --prompt, or choose an earlier call with --at"
	case errors.Is(err, transcript.ErrEmpty):
		return "a session that has not begun can be planned with --prompt alone, without --transcript"
	case errors.Is(err, transcript.ErrUnknownDialect):
		return fmt.Sprintf("name it with --dialect, one of %v", transcript.Dialects())
	case errors.Is(err, fs.ErrNotExist):
		return "check the path; it is taken relative to the current folder"
	case errors.Is(err, fs.ErrPermission):
		return "check who owns the file, or put the state elsewhere with --state-dir"
	}
	return ""
}

// mainWithSignals runs the program until it ends or is told to.
func mainWithSignals() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan int, 1)
	u := &ui{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	go func() { done <- run(ctx, u, os.Args[1:]) }()
	select {
	case code := <-done:
		return code
	case s := <-signals:
		cancel()
		select {
		case <-done:
		case <-signals:
		case <-time.After(max(graceAfterSignal, time.Duration(u.grace.Load()))):
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

// data is standard output for what is read byte for byte: exact, but on a terminal.
func (u *ui) data() io.Writer {
	if isTerminal(u.out) {
		return u.out
	}
	return display.Bare(u.out)
}

// document is standard output for JSON, which stays JSON on a terminal too.
func (u *ui) document() io.Writer { return display.DocumentScreen(u.out) }

// bars are there on a terminal that can go back in a line, and not with --quiet.
func (u *ui) bars() *display.Bars {
	if u.quiet || os.Getenv("TERM") == "dumb" || !isTerminal(u.err) {
		return nil
	}
	return display.NewBars(u.err)
}
