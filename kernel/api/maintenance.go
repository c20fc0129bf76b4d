package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/summary"
)

// Keeper maintains the memory files of a workspace. It is safe for concurrent use. Runs that
// write take turns, also across processes.
type Keeper interface {
	// Audit looks for faults in the workspace's Markdown, and in the kernel's stored state. It
	// changes nothing: it opens the workspace and the state folder for reading only, and takes no
	// lock.
	Audit(ctx context.Context, o AuditOptions) (*health.Report, error)
	// Curate copies to MEMORY.md the entries worth keeping from the day's log, the working buffer
	// and the checkpoints: a few entries that aren't there yet, appended under the day's heading.
	// It rewrites nothing, and writes nothing if it finds no such entry. It leaves the buffer as
	// it is, but commits how far it read, so that pruning may empty that part.
	Curate(ctx context.Context, r CurateRequest) (*Curated, error)
	// Prune removes from memory's files the entries that are no longer true, and moves entries
	// for which MEMORY.md has no room to the files that own them. It removes only entries that
	// the kernel wrote and nobody changed since, and those that Include names. Other candidates
	// are only reported. All files that it touches are backed up first. No entry less than a day
	// old leaves. From the working buffer it removes the kernel's entries that a committed
	// curation has read.
	Prune(ctx context.Context, r PruneRequest) (*Pruned, error)
	// UndoPrune undoes the last pruning: its files get their earlier text back, and the removed
	// entries may be written again. If one of the files has changed since, nothing is done, and
	// the error names the file. A zero now is the kernel's clock.
	UndoPrune(ctx context.Context, now time.Time) (*PruneUndone, error)
	// Why returns the evidence for an entry of memory: where it comes from, who wrote it, on how
	// many days and in how many sessions it came up, and how often it was recalled and named. It
	// changes nothing. It returns a [consolidation.NoEntryError] if there is no entry of the
	// name.
	Why(ctx context.Context, r WhyRequest) (*Grounds, error)
	// History returns the earlier versions of a memory file, or of an entry in one: each with its
	// time, author and reason, as far as runs and marks record them. It returns an [ErrNoHistory]
	// or [ErrNoText], or a [NoLineError]. It changes nothing.
	History(ctx context.Context, r HistoryRequest) (*History, error)
	// Provenance returns who wrote the entry at a line of a file, and who said it, as far as that
	// is known: a person by hand or in a session, an agent, a tool, upkeep. Lines begin at 1. A
	// line without an entry and a file that memory does not have are errors. It changes nothing.
	Provenance(ctx context.Context, path string, line int) (consolidation.Provenance, error)
	// Guard returns the entries that MEMORY.md lost: those that are in no owning file, topic or
	// archive, and that no pruning took out. A pruning has a backup of its own. Guard changes
	// nothing.
	Guard(ctx context.Context, r GuardRequest) (*consolidation.Loss, error)
	// Nightly runs audit, curation and pruning, in this order and never two at a time. A step is
	// skipped if the one before it failed. An audit's findings are no failure. Each step may be
	// killed at any point: the next run completes it. A second run of the same night finds
	// nothing to do. The outcome of the steps is appended to [JobsFile].
	Nightly(ctx context.Context, r NightlyRequest) (*Nightly, error)
}

// AuditOptions select the checks of an audit. The zero value of each field means the default.
type AuditOptions struct {
	// Host is the host whose limits apply to the files that a session begins with; default
	// OpenClaw.
	Host consolidation.Host
	// Only and Skip name the checks to run, and those not to.
	Only, Skip []health.Code
	// Prune are the thresholds of pruning. An audit reports the entries that such a pruning would
	// leave over MEMORY.md's limit.
	Prune PruneOptions
	// JobFiles are records of jobs in addition to the state folder's own, see
	// [consolidation.ReadJobs].
	JobFiles []string
	// Now is the moment that ages are counted to; zero takes the kernel's clock.
	Now time.Time
}

// WhyRequest asks for the evidence for an entry.
type WhyRequest struct {
	// Entry is its place (FILE:LINE), its id or name, or words that it alone holds.
	Entry string
	// Now is the moment that its age is counted to; zero takes the kernel's clock.
	Now time.Time
}

// The author of an entry, as far as a mark or a record names one; "" if none does.
const (
	// ByUpkeep: a run of curation or pruning wrote the entry, and nobody changed it since.
	ByUpkeep = "upkeep"
	// BySession: the entry was written during a session.
	BySession = "session"
	// ByMark: the entry has a mark of ours, but no record of it exists, or it was changed.
	ByMark = "marked"
)

// Grounds is the evidence for an entry.
type Grounds struct {
	consolidation.Grounds
	// WrittenBy is the author. Run and RunDay name the curation that wrote the entry, if one is
	// on record. Score and Why are its rank in that run and the reasons.
	WrittenBy string   `json:"written_by"`
	Run       string   `json:"run"`
	RunDay    string   `json:"run_day"`
	Score     float64  `json:"score"`
	Why       []string `json:"why"`
	Use
}

// Use is how often an entry was recalled for a turn, and how often the agent then named it,
// as far as sessions that are kept can tell.
type Use struct {
	// Recalled is the number of turns for which it was recalled, in the stored sessions. Named is
	// the number of these in which the agent then named it.
	Recalled int `json:"recalled"`
	Named    int `json:"named"`
	// Last is when it was last recalled, zero if never.
	Last time.Time `json:"last_recalled,omitzero"`
}

// CurateRequest asks which entries of a day should be added to MEMORY.md.
type CurateRequest struct {
	// Day is the day whose log is read, YYYY-MM-DD in the user's time zone; "" is the day of Now.
	Day string
	// Model may reword and drop chosen entries, within bounds, and state facts of the logs that
	// were read. With nil no model is asked.
	Model summary.Model
	// FactTokens is the approximate size of the part of a log that one request for facts sends; 0
	// takes [DefaultFactTokens].
	FactTokens int
	// Price returns the highest cost of a request to the model, in dollars. It may be nil, and
	// returns false if the cost is not known.
	Price func(inputTokens, outputTokens int) (usd float64, ok bool)
	// Apply writes the entries. Without it nothing is written, and no model is asked for facts.
	Apply bool
	Now   time.Time
}

// DefaultFactTokens is more than the log of most days.
const DefaultFactTokens = 24_000

// Curated is the outcome of a day's curation.
type Curated struct {
	consolidation.Curation
	// Applied reports whether the entries were written.
	Applied bool `json:"applied"`
	// Run names the run, for an undo.
	Run string `json:"run"`
	// BufferBytes is the size of the part of the working buffer that was read. Pruning removes
	// that much.
	BufferBytes int `json:"buffer_bytes"`
	// Advice is the model's part of the run.
	Advice Advice `json:"advice"`
	// Facts are the requests for facts of the logs that were read, one for each log with
	// lines that were not read before; nil without a model.
	Facts []Facts `json:"facts,omitempty"`
}

// Facts is a request for facts of a log, and its outcome.
type Facts struct {
	// Path is the log. FromLine and ToLine are the sent lines.
	Path     string `json:"path"`
	FromLine int    `json:"from_line"`
	ToLine   int    `json:"to_line"`
	Model    string `json:"model"`
	// InputTokens estimates the size of the request, OutputTokens is the limit of the answer. If
	// the model was asked, they are its server's counts, where it gives any.
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// USD is the cost of these tokens, nil if that is not known.
	USD *float64 `json:"usd"`
	// Reason is OK, or why there is no fact; "" if no model was asked.
	Reason summary.Reason `json:"reason"`
	Detail string         `json:"detail"`
	// File is the file that the facts were written to.
	File string `json:"file"`
	consolidation.Extracted
}

// Advice is a request to a model, and its outcome.
type Advice struct {
	// Model is the model's name, "" if none was asked. Reason is OK, or why the chosen entries
	// were kept unchanged.
	Model  string         `json:"model"`
	Reason summary.Reason `json:"reason"`
	Detail string         `json:"detail"`
	// InputTokens and OutputTokens are the server's counts, 0 if it gave none.
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	consolidation.Advised
}

// PruneOptions are the thresholds of pruning; 0 takes the default, negative
// switches off.
type PruneOptions struct {
	// MemoryLines is the greatest length of MEMORY.md, default [DefaultMemoryLines].
	MemoryLines int
	// OwnerChars is the size from which USER.md, TOOLS.md and IDENTITY.md receive no more stable
	// facts of MEMORY.md. Default 18,000, which is close to a host's limit.
	OwnerChars int
	// Include names entries of other authors that may leave as well, see
	// [consolidation.PruneOptions].
	Include []string
}

// DefaultMemoryLines is the greatest length of MEMORY.md: every session begins with it.
const DefaultMemoryLines = 50

// PruneRequest asks which entries should leave the files of memory.
type PruneRequest struct {
	PruneOptions
	// Apply does it. Without it nothing is written at all.
	Apply bool
	// All also removes the entries of people that would otherwise be suggested one by one, and no
	// others of theirs.
	All bool
	// QuietTime prunes observations and the working buffer alone.
	QuietTime bool
	Now       time.Time
}

// Pruned lists the entries that left each file, or would leave it.
type Pruned struct {
	consolidation.Pruning
	// Applied reports whether it was done.
	Applied bool `json:"applied"`
	// Run names the run, for an undo.
	Run string `json:"run"`
	// BufferBytes is the size of the part of the working buffer that is removed: the part that a
	// curation has read.
	BufferBytes int `json:"buffer_bytes"`
	// BufferLeft is the size of the part that stays: the part that no curation has read.
	BufferLeft int `json:"buffer_left"`
	// Kept are files that were left alone, and why: somebody changed them meanwhile, or they hold
	// a text that looks like a secret.
	Kept []string `json:"kept"`
}

// PruneUndone lists the files that an undo restored.
type PruneUndone struct {
	// Run is the pruning that was undone, Time its time.
	Run  string    `json:"run"`
	Time time.Time `json:"time"`
	// Files are the files that got their earlier text back.
	Files []string `json:"files"`
}

// ErrLoss is the error that a [LossError] wraps.
var ErrLoss = errors.New("too much of memory would be lost")

// LossError refuses a change of MEMORY.md that loses too much of it.
type LossError struct{ *consolidation.Loss }

func (e *LossError) Error() string {
	return fmt.Sprintf("%s would lose %d of its %d lines, %.0f %%, and %.0f %% is the most: the first is line %d, %q", e.Path, len(e.Lost), e.Lines,
		100*e.Share, 100*e.Limit, e.Lost[0].Line, head(e.Lost[0].Text))
}

// Is makes every LossError an ErrLoss.
func (e *LossError) Is(target error) bool { return target == ErrLoss }

// GuardRequest asks whether MEMORY.md lost entries that it should not have lost.
type GuardRequest struct {
	// Before is the earlier text, such as the version that version control holds. Nil takes the
	// text that the last run over memory's files left.
	Before *string
	// After is the new text; nil takes the file.
	After *string
}

// headRunes is how much of a line an error quotes.
const headRunes = 80

func head(text string) string {
	r := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	return string(r[:min(len(r), headRunes)])
}
