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

// Keeper keeps the memory files of a workspace good. It is safe for concurrent use; runs
// that write take turns, among processes too.
type Keeper interface {
	// Audit looks for what is wrong with the workspace's Markdown, and with what is kept
	// of it. It changes nothing: the workspace is opened to be read alone, and so is the
	// state folder; not even a lock is taken.
	Audit(ctx context.Context, o AuditOptions) (*health.Report, error)
	// Curate brings what the day's log, the working buffer and the checkpoints have into
	// MEMORY.md: a few entries that aren't there yet, appended under the day's heading. It
	// rewrites nothing, and writes nothing where there is nothing to say. The buffer is
	// read and stays; what was read of it is committed, so that pruning may empty it.
	Curate(ctx context.Context, r CurateRequest) (*Curated, error)
	// Prune takes out of memory's files what is no longer true, and moves what MEMORY.md
	// has no room for to the files that own it. Only what the kernel wrote itself, and
	// nobody changed since, leaves, and what is named by Include; of all else it says
	// what could. All that is touched is backed up first, nothing that is not a day old
	// leaves, and of the working buffer go the kernel's entries that a committed curation
	// has read.
	Prune(ctx context.Context, r PruneRequest) (*Pruned, error)
	// UndoPrune takes back the last pruning: its files become what they were, and what
	// left may come again. If one of them has changed since, nothing is done, and the
	// error names it. Zero is the kernel's clock.
	UndoPrune(ctx context.Context, now time.Time) (*PruneUndone, error)
	// Why says what speaks for an entry of memory: where it comes from, who wrote it, on
	// how many days and in how many sessions it came up, and how often it was recalled
	// and named. It changes nothing. Its error is a [consolidation.NoEntryError] if there
	// is none of the name.
	Why(ctx context.Context, r WhyRequest) (*Grounds, error)
	// History says what a file of memory, or an entry of one, was before: each version with
	// when, by whom and why, as far as runs and marks know. Its
	// error is an [ErrNoHistory] or [ErrNoText], or a [NoLineError]. It changes nothing.
	History(ctx context.Context, r HistoryRequest) (*History, error)
	// Provenance says who put what a line of a file belongs to there, and who said it, as
	// far as it is known: a person by hand or in a session, an agent, a tool, upkeep. Lines
	// begin at 1; a line without an entry, and a file that memory does not have, are an
	// error. It changes nothing.
	Provenance(ctx context.Context, path string, line int) (consolidation.Provenance, error)
	// Guard says what MEMORY.md lost that is neither in an owning file, a topic or the
	// archive, nor was taken out by a pruning, which has it in a backup. It changes
	// nothing.
	Guard(ctx context.Context, r GuardRequest) (*consolidation.Loss, error)
	// Nightly runs audit, curation and pruning, in this order and never two at a time. A
	// step is skipped if the one before it failed; what an audit finds is no failure. Each
	// step may be killed at any point: what it promised is made good by the next. A second
	// run of the same night finds nothing to do. How the steps went is appended to
	// [JobsFile].
	Nightly(ctx context.Context, r NightlyRequest) (*Nightly, error)
}

// AuditOptions say what an audit looks at; the zero value of each field means the
// default.
type AuditOptions struct {
	// Host is whose limits hold for the files that a session begins with; default
	// OpenClaw's.
	Host consolidation.Host
	// Only and Skip name the checks to run, and those not to.
	Only, Skip []health.Code
	// Prune are the thresholds of pruning: what it would leave over the limit of
	// MEMORY.md is found.
	Prune PruneOptions
	// JobFiles are records of jobs beside the state folder's own, see
	// [consolidation.ReadJobs].
	JobFiles []string
	// Now is the moment that ages are counted to; zero takes the kernel's clock.
	Now time.Time
}

// WhyRequest asks what speaks for an entry.
type WhyRequest struct {
	// Entry is its place (FILE:LINE), its id or name, or words that it alone holds.
	Entry string
	// Now is the moment that its age is counted to; zero takes the kernel's clock.
	Now time.Time
}

// Who wrote an entry, as far as a mark or a record says so; "" if none does.
const (
	// ByUpkeep: a run of curation or pruning wrote it, and it stands as it was written.
	ByUpkeep = "upkeep"
	// BySession: it was noted of a session.
	BySession = "session"
	// ByMark: it has a mark of ours, and nothing is on record of it or it was changed.
	ByMark = "marked"
)

// Grounds are what speaks for an entry.
type Grounds struct {
	consolidation.Grounds
	// WrittenBy is who wrote it, Run and RunDay the curation that gave it a place, if one
	// is on record, Score and Why what it was ranked by then.
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
	// Recalled is for how many turns it was recalled, of the sessions that are kept; Named
	// in how many of them the agent then named it.
	Recalled int `json:"recalled"`
	Named    int `json:"named"`
	// Last is when it was last recalled, zero if never.
	Last time.Time `json:"last_recalled,omitzero"`
}

// CurateRequest asks what of a day is worth a place in MEMORY.md.
type CurateRequest struct {
	// Day is the day whose log is read, YYYY-MM-DD in the user's time zone; "" is
	// that of Now.
	Day string
	// Model may reword and drop what was chosen, within bounds, and state facts of the logs
	// that were read. Nil asks nobody.
	Model summary.Model
	// FactTokens is about how much of a log one request for facts sends; 0 takes
	// [DefaultFactTokens].
	FactTokens int
	// Price tells what a request to the model costs at most, in dollars; nil, and false, if
	// that is not known.
	Price func(inputTokens, outputTokens int) (usd float64, ok bool)
	// Apply writes it. Without it nothing is written at all, and nobody asked for facts.
	Apply bool
	Now   time.Time
}

// DefaultFactTokens is more than the log of most days.
const DefaultFactTokens = 24_000

// Curated says what a day came to.
type Curated struct {
	consolidation.Curation
	// Applied reports whether it was written.
	Applied bool `json:"applied"`
	// Run names what was written, for an undo.
	Run string `json:"run"`
	// BufferBytes is what was read of the working buffer; pruning empties so much of
	// it.
	BufferBytes int `json:"buffer_bytes"`
	// Advice is the model's.
	Advice Advice `json:"advice"`
	// Facts are the requests for facts of the logs that were read, one for each log with
	// lines that were not read before; nil without a model.
	Facts []Facts `json:"facts,omitempty"`
}

// Facts is a request for facts of a log, and what became of it.
type Facts struct {
	// Path is the log, FromLine and ToLine the lines that are sent.
	Path     string `json:"path"`
	FromLine int    `json:"from_line"`
	ToLine   int    `json:"to_line"`
	Model    string `json:"model"`
	// InputTokens is about how much is sent, OutputTokens how much is answered at most. Where
	// the model was asked they are what its server counted, as far as it does.
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// USD is what these cost, nil if that is not known.
	USD *float64 `json:"usd"`
	// Reason is OK, why there is no fact, or "" if nobody was asked.
	Reason summary.Reason `json:"reason"`
	Detail string         `json:"detail"`
	// File is where the facts stand.
	File string `json:"file"`
	consolidation.Extracted
}

// Advice says what a model was asked, and what became of it.
type Advice struct {
	// Model is its name, "" if none was asked; Reason is OK, or why the entries are
	// as they were chosen.
	Model  string         `json:"model"`
	Reason summary.Reason `json:"reason"`
	Detail string         `json:"detail"`
	// InputTokens and OutputTokens are what its server counted, 0 if it did not.
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	consolidation.Advised
}

// PruneOptions are the thresholds of pruning; 0 takes the default, negative
// switches off.
type PruneOptions struct {
	// MemoryLines is how long MEMORY.md may get, default [DefaultMemoryLines].
	MemoryLines int
	// OwnerChars is the size from which USER.md, TOOLS.md and IDENTITY.md get no more of
	// the stable facts of MEMORY.md; default 18,000, where a host's limit is near.
	OwnerChars int
	// Include names what somebody else wrote and may leave as well, see
	// [consolidation.PruneOptions].
	Include []string
}

// DefaultMemoryLines is how long MEMORY.md may get: every session begins with it.
const DefaultMemoryLines = 50

// PruneRequest asks what should leave the files of memory.
type PruneRequest struct {
	PruneOptions
	// Apply does it. Without it nothing is written at all.
	Apply bool
	// All takes the single entries of people's that would be suggested as well, and no
	// others of theirs.
	All bool
	// QuietTime prunes observations and the working buffer alone.
	QuietTime bool
	Now       time.Time
}

// Pruned says what left which file, or would.
type Pruned struct {
	consolidation.Pruning
	// Applied reports whether it was done.
	Applied bool `json:"applied"`
	// Run names what was done, for an undo.
	Run string `json:"run"`
	// BufferBytes is what of the working buffer goes: what a curation has read.
	BufferBytes int `json:"buffer_bytes"`
	// BufferLeft is what stays of it: what none has read.
	BufferLeft int `json:"buffer_left"`
	// Kept are files that were left alone, and why: somebody changed them meanwhile, or
	// they hold what is taken for a secret.
	Kept []string `json:"kept"`
}

// PruneUndone says what an undo brought back.
type PruneUndone struct {
	// Run is the pruning that was taken back, Time when it was.
	Run  string    `json:"run"`
	Time time.Time `json:"time"`
	// Files are those that are as they were.
	Files []string `json:"files"`
}

// ErrLoss is what a [LossError] is.
var ErrLoss = errors.New("too much of memory would be lost")

// LossError refuses a change of MEMORY.md that loses too much of it.
type LossError struct{ *consolidation.Loss }

func (e *LossError) Error() string {
	return fmt.Sprintf("%s would lose %d of its %d lines, %.0f %%, and %.0f %% is the most: the first is line %d, %q", e.Path, len(e.Lost), e.Lines,
		100*e.Share, 100*e.Limit, e.Lost[0].Line, head(e.Lost[0].Text))
}

// Is makes every LossError an ErrLoss.
func (e *LossError) Is(target error) bool { return target == ErrLoss }

// GuardRequest asks whether MEMORY.md lost what it should not have.
type GuardRequest struct {
	// Before is what it was, such as what version control has of it; nil takes what
	// the last run over memory's files left.
	Before *string
	// After is what it is to become; nil takes the file.
	After *string
}

// headRunes is how much of a line an error quotes.
const headRunes = 80

func head(text string) string {
	r := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	return string(r[:min(len(r), headRunes)])
}
