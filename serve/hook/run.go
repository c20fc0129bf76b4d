package hook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// DefaultDeadline is how long a hook takes at most. Hosts would wait longer, but a person waits
// too.
const DefaultDeadline = 5 * time.Second

// Setup is a workspace opened with its settings.
type Setup struct {
	Kernel *kernel.Kernel
	// Store is the workspace's Markdown as a private session sees it. It is nil if memory is off.
	// Run closes the kernel and the store.
	Store *markdownstore.Store
	// Private: see [api.Turn.Private].
	Private bool
	// RecallTokens bounds the recalled text. 0 is the kernel's default. A negative number recalls
	// nothing.
	RecallTokens int
	// Prices have the models' windows. Window, if not 0, replaces all of these windows.
	Prices *cachelayout.Book
	Window int
	// Thresholds are the gauge's.
	Thresholds checkpoint.Thresholds
	// Mask masks secrets in the files that are shown when a session starts.
	Mask *mask.Masker
}

// Options are the settings of [Run].
type Options struct {
	Host Host
	// Workspace and StateDir are the user's choice. If they are "", the event decides.
	Workspace, StateDir string
	// Extension means that the hook belongs to an extension of the host, which the host runs in
	// every folder. It does nothing if the workspace's own settings have hooks.
	Extension bool
	// Open opens a workspace. It is called at most once, and only if the event needs it.
	Open func(ctx context.Context, workspace, stateDir string) (*Setup, error)
	// Behind, if not nil, gets the end of a turn as an event of its own. It must arrange that
	// another process handles the event, with Behind nil. So the host need not wait for the
	// commit, which takes longer the larger the session is. If Behind fails, the turn is
	// committed at once.
	Behind func(event []byte) error
	// Deadline is DefaultDeadline by default.
	Deadline time.Duration
	Now      func() time.Time
	Getenv   func(string) string
	// Problems gets the lines that could not be written to the log. A nil Problems discards them.
	Problems io.Writer
}

func (o *Options) setDefaults() {
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Problems == nil {
		o.Problems = io.Discard
	}
}

// Run answers one event. It returns an error only if the answer could not be written. Any other
// error is a line in the log, and the host gets the part of the answer that was made, which may
// be empty.
func Run(ctx context.Context, opts Options, in io.Reader, out io.Writer) error {
	opts.setDefaults()
	e, err := readEvent(in)
	h := &handler{Options: opts, e: e}
	if e == nil {
		h.e = &event{}
	}
	h.at = opts.Host.row().moments[h.e.Name]
	h.find()
	var a answer
	if err == nil && h.workspace != "" && h.at != otherMoment && !h.handOver() {
		a, err = h.within(ctx)
	}
	if err != nil {
		h.logError(err)
	}
	_, err = out.Write(a.render(h.Host, h.e))
	return err
}

// handOver hands a turn's end to Behind, and reports whether Behind succeeded. It passes on only
// the members that the commit needs, which are small.
func (h *handler) handOver() bool {
	if h.Behind == nil || h.at != turnEnd {
		return false
	}
	slim, err := json.Marshal(map[string]string{"hook_event_name": h.e.Name, "session_id": h.e.SessionID,
		"transcript_path": h.e.Transcript, "cwd": h.e.Cwd, "model": h.e.Model, "agent_type": h.e.AgentType})
	if err == nil {
		err = h.Behind(slim)
	}
	if err != nil {
		h.logError(fmt.Errorf("commit behind the host's back: %w; it is committed at once", err))
	}
	return err == nil
}

// handler answers one event.
type handler struct {
	Options
	e                   *event
	at                  moment // of the event
	workspace, stateDir string
	key                 string
	// carried means that another part of memkernel plans the session's calls.
	carried bool
	setup   *Setup
	// lines are the lines of files that the answer quotes.
	lines []Lines
	// errs are the errors because of which parts of the answer are missing. Nil errors are ignored.
	errs []error
}

func (h *handler) fail(err error) { h.errs = append(h.errs, err) }

// find finds the workspace of the event.
func (h *handler) find() {
	h.workspace, h.stateDir = h.Workspace, h.StateDir
	if h.workspace == "" {
		h.workspace = findWorkspace(h.e.Cwd)
	}
	if h.stateDir == "" && h.workspace != "" {
		h.stateDir = filepath.Join(h.workspace, kernel.DefaultStateDir)
	}
	if h.Extension && h.carriesOwn() || h.Workspace == "" && !setUp(h.stateDir, h.Host) {
		h.workspace, h.stateDir = "", h.StateDir // the hooks would run twice, or nobody installed them
	}
	h.key = h.Host.Key(h.e.SessionID)
}

// carriesOwn reports whether the settings file that the host reads has the same hooks. The file
// belongs to the project that the host names, or else to the workspace. The workspace may be a
// folder above the project.
func (h *handler) carriesOwn() bool {
	read := h.workspace
	if name := h.Host.row().project; name != "" {
		read = cmp.Or(h.Getenv(name), read)
	}
	return Settings{Host: h.Host, Dir: read}.Installed()
}

// logError writes an error to the log.
func (h *handler) logError(err error) { h.logText(err.Error()) }

// logText writes a line to the log.
func (h *handler) logText(text string) {
	text = fmt.Sprintf("%s %s %s: %s", h.Host, h.e.Name, h.e.SessionID, text)
	lerr := errors.New("no workspace")
	if h.stateDir != "" {
		lerr = logLine(h.stateDir, h.Now(), text)
	}
	if lerr != nil {
		fmt.Fprintf(h.Problems, "memkernel: error: %s (%v)\n", text, lerr)
	}
}

// within handles the event and always returns before the deadline. At the deadline it abandons
// unfinished work as a kill would, and the next event completes that work.
func (h *handler) within(ctx context.Context) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, h.Deadline)
	defer cancel()
	type result struct {
		a   answer
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				// A panic would end the process with the exit code that tells hosts to block.
				r = result{err: fmt.Errorf("panic: %v %s", p, bytes.ReplaceAll(debug.Stack(), []byte("\n"), []byte(" ")))}
			}
			done <- r
		}()
		r.a, r.err = h.handle(ctx)
	}()
	select {
	case r := <-done:
		return r.a, r.err
	case <-ctx.Done():
		return answer{}, fmt.Errorf("it took more than %v; the next event goes on", h.Deadline)
	}
}

// findWorkspace returns the workspace of an event in dir, "" if there is none: the folder with a
// state directory that [kernel.FindWorkspace] finds.
func findWorkspace(dir string) string {
	if filepath.IsAbs(dir) {
		if found, set := kernel.FindWorkspace(filepath.Clean(dir)); set {
			return found
		}
	}
	return ""
}

// setUp reports whether the hooks of a host may use a state directory. The directory must exist and
// must not note that the host's hooks were removed, because a running host continues to run hooks
// that were removed. A directory that has only a configuration does not count.
func setUp(stateDir string, h Host) bool {
	entries, err := os.ReadDir(stateDir)
	if err != nil || len(entries) == 1 && entries[0].Name() == "config.yaml" {
		return false
	}
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == h.OffName() })
}

// OffName returns the name of a file in a state directory which says that a host's hooks were taken
// out of the workspace's settings.
func (h Host) OffName() string { return "hook.off-" + string(h) }

// logFile is the file in the state directory in which the hooks record failures and the model's
// memories.
const logFile = "hook.log"

// maxLog is the size in bytes at which the log is renamed to hook.log.1. Both files together stay
// below twice maxLog and a line.
const maxLog = 256 << 10 // 256 KiB

// maxLogLine bounds a line, in bytes.
const maxLogLine = 2 << 10 // 2 KiB

// logLine appends a line to the log, with secrets masked. It does not create a missing state
// directory.
func logLine(stateDir string, now time.Time, text string) error {
	dir := store.Files(stateDir)
	if _, err := dir.Stat(""); err != nil {
		return err
	}
	if st, err := dir.Stat(logFile); err == nil && st.Size >= maxLog {
		if err := dir.Move(store.Unsynced, logFile, logFile+".1"); err != nil {
			return err
		}
	}
	masked, _ := new(mask.Masker).Mask(text)
	text = strings.Join(strings.Fields(masked), " ")
	if len(text) > maxLogLine {
		text = strings.ToValidUTF8(text[:maxLogLine], "") + "…"
	}
	log, err := dir.Journal(logFile) // several processes append: a failed write may lose a line of another process
	if err != nil {
		return err
	}
	defer log.Close()
	size, err := log.Size()
	if err == nil {
		_, err = log.Append(size, fmt.Appendf(nil, "%s %s\n", now.UTC().Format(time.RFC3339), text), false)
	}
	return err
}
