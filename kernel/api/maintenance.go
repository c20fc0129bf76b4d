package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/health"
)

// Keeper maintains the memory files of a workspace. It is safe for concurrent use. Runs that
// write take turns, also across processes.
type Keeper interface {
	// Audit looks for faults in the workspace's Markdown and in the kernel's stored state. It
	// opens the workspace and the state folder for reading only, changes nothing and takes no
	// lock.
	Audit(ctx context.Context, o AuditOptions) (*health.Report, error)
	// Curate copies the entries worth keeping from the day's log, the working buffer and the
	// checkpoints to MEMORY.md. Under the day's heading it appends a few entries that MEMORY.md
	// does not have yet. It rewrites nothing. If it finds no such entry, it writes nothing. It
	// leaves the working buffer as it is, but records how much of the buffer it has read. Pruning
	// may empty the part that was read.
	Curate(ctx context.Context, r CurateRequest) (*Curated, error)
	// Prune removes from memory's files the entries that are no longer true, and moves entries for
	// which MEMORY.md has no room to the files that own them. It removes only entries that the
	// kernel wrote and nobody changed since, and entries that Include names. Other candidates are
	// only reported. All files that it touches are backed up first. It removes no entry that is
	// less than a day old. In the working buffer it removes entries that the kernel wrote and a
	// committed curation has read.
	Prune(ctx context.Context, r PruneRequest) (*Pruned, error)
	// Why returns the evidence for an entry of memory: its origin, its author, the number of days
	// and sessions in which it came up, and how often it was recalled and named. It changes
	// nothing. It returns a [consolidation.NoEntryError] if no entry has the name, and a
	// [NoLineError] if no entry of a file is on the line.
	Why(ctx context.Context, r WhyRequest) (*Grounds, error)
	// History returns the earlier versions of a memory file, or of an entry in such a file. Each
	// version has its time, author and reason, as far as runs and marks record them. History
	// fails with [ErrNoHistory], [ErrNoText] or a [NoLineError]. It changes nothing.
	History(ctx context.Context, r HistoryRequest) (*History, error)
	// Guard returns the entries that MEMORY.md lost. An entry is lost if no owning file, topic or
	// archive holds it and no pruning removed it. Guard changes nothing.
	Guard(ctx context.Context, r GuardRequest) (*consolidation.Loss, error)
	// Nightly runs audit, curation and pruning in this order, one at a time. A step is skipped if
	// the previous step failed. An audit's findings are not a failure. A step may be killed at
	// any point, and the next run completes it. A second run in the same night finds nothing to
	// do. Nightly appends the outcome of the steps to [JobsFile].
	Nightly(ctx context.Context, r NightlyRequest) (*Nightly, error)
}

// AuditOptions select the checks of an audit. The zero value of each field means the default.
type AuditOptions struct {
	// Host is the host whose limits apply to the files that a session begins with; default
	// OpenClaw.
	Host consolidation.Host
	// Only names the checks to run, and Skip the checks to leave out.
	Only, Skip []health.Code
	// JobFiles are files of job records to read in addition to [JobsFile] in the state folder. See
	// [consolidation.ReadJobs].
	JobFiles []string
	// Now is the moment that ages are counted to; zero takes the kernel's clock.
	Now time.Time
}

// WhyRequest is a request for the evidence for an entry.
type WhyRequest struct {
	// Entry is the entry's place (FILE:LINE), its id or name, or words that no other entry holds.
	Entry string
	// Now is the moment that the entry's age is counted to; zero takes the kernel's clock.
	Now time.Time
}

// These values name the author of an entry. The author is "" if no mark and no record names one.
const (
	// ByUpkeep: a run of curation or pruning wrote the entry, and nobody changed the entry since.
	ByUpkeep = "upkeep"
	// BySession: the entry was written during a session.
	BySession = "session"
	// ByWords: a person said the text in a session.
	ByWords = "words"
	// ByPerson: a person wrote the entry by hand. ByAgent: an agent wrote it.
	ByPerson = "person"
	ByAgent  = "agent"
	// ByMark: the entry has a mark of the kernel, but the entry has no record or was changed.
	ByMark = "marked"
)

// Grounds is the evidence for an entry.
type Grounds struct {
	consolidation.Grounds
	// WrittenBy is the author.
	WrittenBy string `json:"written_by"`
	// Run names the curation that wrote the entry, if a record names it.
	Run string `json:"run"`
	// RunDay is the day of that curation.
	RunDay string `json:"run_day"`
	// Score is the entry's rank in that curation.
	Score float64 `json:"score"`
	// Why holds the reasons for the rank.
	Why []string `json:"why"`
	Use
}

// Use counts how often an entry was recalled for a turn, and how often the agent then named the
// entry. It covers only sessions that are still stored.
type Use struct {
	// Recalled is the number of turns for which the entry was recalled.
	Recalled int `json:"recalled"`
	// Named is the number of these turns in which the agent then named the entry.
	Named int `json:"named"`
	// Last is the time of the last recall, zero if the entry was never recalled.
	Last time.Time `json:"last_recalled,omitzero"`
}

// CurateRequest is a request to select the entries of a day that should be added to MEMORY.md.
type CurateRequest struct {
	// Day is the day whose log is read, YYYY-MM-DD in the user's time zone; "" is the day of Now.
	Day string
	// Apply writes the entries. Without it nothing is written.
	Apply bool
	Now   time.Time
}

// Curated is the outcome of a day's curation.
type Curated struct {
	consolidation.Curation
	// Applied reports whether the entries were written.
	Applied bool `json:"applied"`
	// Run names the run, for an undo.
	Run string `json:"run"`
	// BufferBytes is the size of the part of the working buffer that was read. Pruning removes
	// this part.
	BufferBytes int `json:"buffer_bytes"`
	// TakenBack counts the entries that were not chosen because a person took them back.
	TakenBack int `json:"taken_back"`
}

// PruneOptions are the thresholds of pruning. 0 takes the default of a threshold, and a negative
// value switches it off.
type PruneOptions struct {
	// MemoryLines is the most lines of MEMORY.md that machines wrote, default
	// [consolidation.MachineLines].
	MemoryLines int
	// OwnerChars is the size from which USER.md, TOOLS.md and IDENTITY.md receive no more stable
	// facts of MEMORY.md. Default 18,000, which is close to a host's limit.
	OwnerChars int
	// Include names entries of other authors that may leave as well, see
	// [consolidation.PruneOptions].
	Include []string
}

// PruneRequest is a request to select the entries that should leave the files of memory.
type PruneRequest struct {
	PruneOptions
	// Apply removes the entries. Without Apply nothing is written.
	Apply bool
	// QuietTime prunes only observations and the working buffer.
	QuietTime bool
	Now       time.Time
}

// Pruned lists the entries that left each file, or would leave it.
type Pruned struct {
	consolidation.Pruning
	// Applied reports whether the entries were removed.
	Applied bool `json:"applied"`
	// Run names the run, for an undo.
	Run string `json:"run"`
	// BufferBytes is the size of the removed part of the working buffer. It is the part that a
	// curation has read.
	BufferBytes int `json:"buffer_bytes"`
	// BufferLeft is the size of the part of the working buffer that stays. No curation has read
	// this part.
	BufferLeft int `json:"buffer_left"`
	// Kept are the files that were left unchanged, with the reason. Either somebody changed the
	// file meanwhile, or it holds a text that looks like a secret.
	Kept []string `json:"kept"`
}

// LossError is returned for a change that would remove too much from MEMORY.md.
type LossError struct{ *consolidation.Loss }

func (e *LossError) Error() string {
	first := []rune(strings.ToValidUTF8(e.Lost[0].Text, "\uFFFD"))
	return fmt.Sprintf("%s would lose %d of its %d lines, %.0f %%, and %.0f %% is the most: the first is line %d, %q", e.Path, len(e.Lost), e.Lines,
		100*e.Share, 100*e.Limit, e.Lost[0].Line, string(first[:min(len(first), 80)]))
}

// GuardRequest is a request to check whether MEMORY.md lost entries.
type GuardRequest struct {
	// Before is the earlier text, such as the version that version control holds. Nil takes the
	// text after the last run over memory's files.
	Before *string
	// After is the new text; nil takes the text of the file.
	After *string
}

// JobsFile is the file in the state folder to which recorded jobs append their outcome: lines of
// JSON, {"time":…,"job":…,"error":…}.
const JobsFile = "jobs.jsonl"

// The steps of a nightly run, by the names under which they are recorded.
const (
	StepAudit  = "audit"
	StepCurate = "curate"
	StepPrune  = "prune"
)

// ErrNightlyRuns is returned if another process is already doing a night's upkeep.
var ErrNightlyRuns = errors.New("another nightly run is under way in this workspace")

// NightlyRequest is a request for a night's upkeep.
type NightlyRequest struct {
	Audit AuditOptions
	Prune PruneOptions
	// QuietTime makes the run read today's log and the working buffer and trim observations. Such
	// a run neither audits nor changes MEMORY.md's older entries.
	QuietTime bool
	// Idle is the time without a write to any session that must have passed before upkeep runs; 0
	// runs it at any time.
	Idle time.Duration
	// Once skips the run if a run of the same kind succeeded within this time on any machine that
	// shares the state. 0 sets no such limit.
	Once time.Duration
	// DryRun makes the run show what each step would do now. It writes nothing.
	DryRun bool
	// Before, if not nil, is called as soon as it is certain that there is work to do. If Before
	// returns an error, the run ends.
	Before func(ctx context.Context) error
	Now    time.Time
}

// Nightly is the outcome of a night's upkeep.
type Nightly struct {
	Steps []NightlyStep `json:"steps"`
	// Skipped is why nothing was done, "" if something was.
	Skipped string `json:"skipped"`
	// Audit is the result of the audit, nil if it did not run.
	Audit *health.Report `json:"-"`
	// Curated is the result of the curation, nil if it did not run.
	Curated *Curated `json:"-"`
	// Pruned is the result of the pruning, nil if it did not run.
	Pruned *Pruned `json:"-"`
}

// NightlyStep is one step.
type NightlyStep struct {
	// Step is audit, curate or prune.
	Step string `json:"step"`
	// Outcome is ok, failed or skipped.
	Outcome string `json:"outcome"`
	// Error is why the step failed, or why it was skipped.
	Error string `json:"error"`
}

// Failed reports whether a step failed.
func (n *Nightly) Failed() bool {
	for _, s := range n.Steps {
		if s.Outcome == "failed" {
			return true
		}
	}
	return false
}

// HistoryRequest is a request for the earlier versions of a memory file, or of an entry in such a
// file.
type HistoryRequest struct {
	// Path is the file's path, relative to the workspace.
	Path string
	// Line is one of the entry's lines, counted from 1. With 0 the request is for the whole file.
	Line int
	// Limit is the number of newest versions to return; 0 returns all.
	Limit int
	// Diff adds to each version its difference from the previous version.
	Diff bool
}

// History lists the versions of a file or an entry, newest first.
type History struct {
	// Path is the file.
	Path string `json:"path"`
	// Line is the entry's first line, counted from 1, or 0 for a whole file.
	Line int `json:"line"`
	// EndLine is the entry's last line.
	EndLine int `json:"end_line"`
	// Text is the current text of the entry, "" for a whole file.
	Text     string           `json:"text"`
	Versions []HistoryVersion `json:"versions"`
	// Total counts the versions, including those that the limit left out.
	Total int `json:"total"`
	// Unkept counts the states of the file that are on record without their text.
	Unkept int `json:"unkept"`
}

// RunKind is the kind of the run that made or saw a version of a file.
type RunKind string

// The kinds. RunSeen is a run that only saw the file, and RunNow is the present file: somebody else
// made these versions. With the other kinds, the run made the version.
const (
	RunCurate RunKind = "curate"
	RunPrune  RunKind = "prune"
	RunEdit   RunKind = "edit"
	RunUndo   RunKind = "undo"
	RunSeen   RunKind = "seen"
	RunNow    RunKind = "now"
)

// HistoryEvent is a change of an entry or a file.
type HistoryEvent string

// The events. EventFirst marks the oldest known version. The entry itself may be older.
const (
	EventFirst    HistoryEvent = "first_known"
	EventWritten  HistoryEvent = "written"
	EventChanged  HistoryEvent = "changed"
	EventPromoted HistoryEvent = "promoted"
	EventMoved    HistoryEvent = "moved"
	EventRemoved  HistoryEvent = "removed"
	EventRestored HistoryEvent = "restored"
)

// HistoryVersion is a text that an entry or a file had from Time on.
type HistoryVersion struct {
	Time time.Time `json:"time"`
	// By reports that the version existed by Time and may be older.
	By    bool         `json:"by"`
	Event HistoryEvent `json:"event"`
	// Origin is the author of this version.
	Origin consolidation.Origin `json:"origin"`
	// Path, Line and EndLine are the place of the entry at that time. For a whole file the lines
	// are 0.
	Path    string `json:"path"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	// Text is the entry as it was written, "" for a whole file.
	Text string `json:"text"`
	// Run is the run that made the version. Kind is the run's kind. Undoes is the run that the
	// run took back.
	Kind   RunKind `json:"kind"`
	Run    string  `json:"run"`
	Undoes string  `json:"undoes"`
	// From has the places that the entry was promoted or moved from.
	From []string `json:"from"`
	// To has the places that the entry was moved to.
	To []string `json:"to"`
	// SupersededBy is the entry that replaced this one.
	SupersededBy string `json:"superseded_by"`
	// Added and Removed count the lines of a file that are not blank.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Diff is the difference from the previous version, "" unless it was requested.
	Diff string `json:"diff,omitempty"`
	// Before is the text of the previous version.
	Before string `json:"-"`
	After  string `json:"-"`
}

// The errors of a history.
var (
	// ErrNoHistory: there is no such file, and no record of an earlier file with the name.
	ErrNoHistory = errors.New("there is no such file, and none is on record")
	// ErrNoText: the file is not text.
	ErrNoText = errors.New("it is no text")
)

// NoLineError means that the line belongs to no entry.
type NoLineError struct {
	Path  string
	Line  int
	Lines int
	// Near is the line of the nearest entry, 0 if the file has no entries.
	Near int
}

func (e *NoLineError) Error() string {
	if e.Line > e.Lines {
		return fmt.Sprintf("%s has %d lines, and no line %d", e.Path, e.Lines, e.Line)
	}
	return fmt.Sprintf("%s:%d is no line of an entry", e.Path, e.Line)
}
