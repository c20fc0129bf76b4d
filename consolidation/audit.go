package consolidation

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/pagevm/mask"
)

// CheckID names a check.
type CheckID string

// The checks. The first eight are those of a nightly memory audit; those of
// losses, size, blobs, journals and index look at what the kernel keeps, and
// are run by the kernel.
const (
	CheckSessionState   CheckID = "session_state"
	CheckObservations   CheckID = "observations"
	CheckDailyLog       CheckID = "daily_log"
	CheckJobs           CheckID = "jobs"
	CheckStaleFiles     CheckID = "stale_files"
	CheckMemoryAge      CheckID = "memory_age"
	CheckMemoryLoss     CheckID = "memory_loss"
	CheckMemorySize     CheckID = "memory_size"
	CheckWorkingBuffer  CheckID = "working_buffer"
	CheckBootstrapSize  CheckID = "bootstrap_size"
	CheckTruncation     CheckID = "truncation"
	CheckLinks          CheckID = "links"
	CheckDuplicates     CheckID = "duplicates"
	CheckContradictions CheckID = "contradictions"
	CheckSecrets        CheckID = "secrets"
	CheckConflicts      CheckID = "conflict_markers"
	CheckEncoding       CheckID = "encoding"
	CheckFutureDates    CheckID = "future_dates"
	CheckFiles          CheckID = "files"
	CheckPointers       CheckID = "pointers"
	CheckBlobs          CheckID = "blobs"
	CheckJournals       CheckID = "journals"
	CheckIndex          CheckID = "index"
)

// check is one row of the table of checks.
type check struct {
	id    CheckID
	title string
	run   func(*auditor) // nil for the kernel's
}

// checks returns all checks, in the order of the report.
func checks() []check {
	return []check{
		{CheckSessionState, "SESSION-STATE.md is fresh", (*auditor).sessionState},
		{CheckObservations, "observations.md is short", (*auditor).observations},
		{CheckDailyLog, "today has a log", (*auditor).dailyLog},
		{CheckJobs, "recorded jobs went well", (*auditor).jobs},
		{CheckStaleFiles, "files of memory are looked after", (*auditor).staleFiles},
		{CheckMemoryAge, "MEMORY.md is current", (*auditor).memoryAge},
		{CheckMemoryLoss, "MEMORY.md lost nothing unawares", nil},
		{CheckMemorySize, "MEMORY.md can be kept to its length", nil},
		{CheckWorkingBuffer, "working-buffer.md is empty", (*auditor).workingBuffer},
		{CheckBootstrapSize, "files fit what the host shows", (*auditor).bootstrapSize},
		{CheckTruncation, "the host drops nothing", (*auditor).truncation},
		{CheckLinks, "links and references lead somewhere", (*auditor).links},
		{CheckDuplicates, "nothing is said twice in one place", (*auditor).duplicates},
		{CheckContradictions, "files agree with each other", (*auditor).contradictions},
		{CheckSecrets, "no secrets", (*auditor).secrets},
		{CheckConflicts, "no marks of a merge conflict", (*auditor).conflicts},
		{CheckEncoding, "text is sound UTF-8", (*auditor).encoding},
		{CheckFutureDates, "no dates in the future", (*auditor).futureDates},
		{CheckFiles, "every file can be read", (*auditor).files},
		{CheckPointers, "pointers in memory resolve", (*auditor).pointers},
		{CheckBlobs, "every blob belongs to a page", nil},
		{CheckJournals, "journals and pages are whole", nil},
		{CheckIndex, "the index is whole", nil},
	}
}

// AllChecks returns the ids of all checks, in the order of a report.
func AllChecks() []CheckID {
	var out []CheckID
	for _, c := range checks() {
		out = append(out, c.id)
	}
	return out
}

// ListChecks returns the checks with what each holds to, none of them run.
func ListChecks() []CheckRun {
	var out []CheckRun
	for _, c := range checks() {
		out = append(out, CheckRun{ID: c.id, Title: c.title})
	}
	return out
}

// rank returns a check's place in the report.
func rank(id CheckID) int {
	return slices.IndexFunc(checks(), func(c check) bool { return c.id == id })
}

// Limits are the thresholds of the checks. A duration, count or share of 0 switches
// its check off; [DefaultLimits] has those of the nightly protocol.
type Limits struct {
	// StateAge is the age from which SESSION-STATE.md is stale.
	StateAge time.Duration
	// ObservationLines is how long observations.md may get.
	ObservationLines int
	// LogGrace is how far into a day its log may still be missing.
	LogGrace time.Duration
	// FileAge is the age from which a file of memory without a date is stale.
	FileAge time.Duration
	// MemoryAge is the age that the newest date in MEMORY.md may reach.
	MemoryAge time.Duration
	// SizeWarning is the share of the host's limits from which files are large.
	SizeWarning float64
	// NearDuplicate is the share of their words, in threes, that two entries must
	// have in common to be reported as one; 1 finds equal ones only.
	NearDuplicate float64
	// JobAge is how long a job's failure is reported after its last run.
	JobAge time.Duration
}

// DefaultLimits returns the thresholds that hold unless a user sets others.
func DefaultLimits() Limits {
	const day = 24 * time.Hour
	return Limits{StateAge: day, ObservationLines: 100, LogGrace: 6 * time.Hour, FileAge: 7 * day, MemoryAge: 3 * day,
		SizeWarning: .9, NearDuplicate: .8, JobAge: 14 * day}
}

// Options are settings of an [Audit].
type Options struct {
	Limits
	// Host is whose limits hold for the files that a session begins with.
	Host Host
	// Now is the moment of the audit, default the clock's; Timezone the user's,
	// default time.Local.
	Now      time.Time
	Timezone *time.Location
	// Masker knows what is a secret; nil has all rules.
	Masker *mask.Masker
	// MaxFileBytes bounds a file; 0 takes the store's default.
	MaxFileBytes int64
	// Jobs are the last runs of recorded jobs.
	Jobs []Job
	// Resolves reports whether a pointer that is in memory can be followed; nil
	// leaves pointers unchecked.
	Resolves func(id string) bool
	// Only names the checks to run, all if it is empty; Skip those not to.
	Only, Skip []CheckID
}

// Runs reports whether a check is selected.
func (o *Options) Runs(id CheckID) bool {
	return (len(o.Only) == 0 || slices.Contains(o.Only, id)) && !slices.Contains(o.Skip, id)
}

// validate refuses unknown checks: a misspelt one would never run.
func (o *Options) validate() error {
	all := AllChecks()
	for _, id := range append(slices.Clone(o.Only), o.Skip...) {
		if !slices.Contains(all, id) {
			return fmt.Errorf("there is no check %q; the checks are %s", id, join(all))
		}
	}
	return nil
}

func join(ids []CheckID) string {
	var names []string
	for _, id := range ids {
		names = append(names, string(id))
	}
	return strings.Join(names, ", ")
}

// Audit checks a workspace and changes nothing. The checks of what the kernel keeps
// are in the report without having run; see [Report.Add].
func Audit(ctx context.Context, fsys fs.FS, o Options) (*Report, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	if o.Timezone == nil {
		o.Timezone = time.Local
	}
	snap, err := Read(ctx, fsys, o.MaxFileBytes)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	a := &auditor{snap: snap, Options: o, report: &Report{Findings: []Finding{}, Checks: []CheckRun{}}}
	a.report.Files = len(snap.Files)
	for i := range snap.Files {
		a.report.Entries += len(snap.Files[i].Entries)
	}
	for _, c := range checks() {
		if !o.Runs(c.id) {
			continue
		}
		a.report.Checks = append(a.report.Checks, CheckRun{ID: c.id, Title: c.title})
		if a.check = c.id; c.run != nil {
			c.run(a)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	a.report.sort()
	return a.report, nil
}

// auditor is one audit.
type auditor struct {
	snap *Snapshot
	Options
	report *Report
	check  CheckID
}

// add notes a finding of the check at hand. What it quotes may hold a secret.
func (a *auditor) add(f Finding) {
	f.Check = a.check
	f.What, _ = a.Masker.Mask(f.What)
	for i := range f.Dropped {
		f.Dropped[i].Heading, _ = a.Masker.Mask(f.Dropped[i].Heading)
	}
	a.report.Findings = append(a.report.Findings, f)
	a.report.Checks[len(a.report.Checks)-1].Findings++
}

// skip records why the check at hand does not run.
func (a *auditor) skip(why string) { a.report.Skip(a.check, why) }

// age is how old a moment is, "3 days" and the like.
func age(d time.Duration) string {
	switch days := int(d.Hours() / 24); {
	case days >= 2:
		return fmt.Sprintf("%d days", days)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes()))
}
