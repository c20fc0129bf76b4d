package consolidation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// Kept is a check of data that is kept outside the workspace's files, by the owner of that data.
type Kept func(context.Context, *health.Report) error

// checks returns all checks, in the order of the report. The first eight checks make up a nightly
// memory audit.
func checks() []health.Check[*auditor] {
	look := func(code health.Code, title string, find func(*auditor)) health.Check[*auditor] {
		return health.Check[*auditor]{Code: code, Title: title, Run: func(_ context.Context, a *auditor, _ *health.Report) error { find(a); return nil }}
	}
	kept := func(code health.Code, title string) health.Check[*auditor] {
		return health.Check[*auditor]{Code: code, Title: title, Run: func(ctx context.Context, a *auditor, r *health.Report) error {
			if find := a.Kept[code]; find != nil {
				return find(ctx, r)
			}
			return nil
		}}
	}
	return []health.Check[*auditor]{
		look(health.SessionState, "SESSION-STATE.md is fresh", (*auditor).sessionState),
		look(health.Observations, "observations.md is short", (*auditor).observations),
		look(health.DailyLog, "today has a log", (*auditor).dailyLog),
		look(health.Jobs, "recorded jobs went well", (*auditor).jobs),
		look(health.StaleFiles, "files of memory are looked after", (*auditor).staleFiles),
		look(health.MemoryAge, "MEMORY.md is current", (*auditor).memoryAge),
		kept(health.MemoryLoss, "MEMORY.md lost nothing unawares"),
		kept(health.MemorySize, "MEMORY.md can be kept to its length"),
		look(health.WorkingBuffer, "working-buffer.md is empty", (*auditor).workingBuffer),
		look(health.BootstrapSize, "files fit what the host shows", (*auditor).bootstrapSize),
		look(health.Truncation, "the host drops nothing", (*auditor).truncation),
		look(health.Links, "links and references lead somewhere", (*auditor).links),
		look(health.Duplicates, "nothing is said twice in one place", (*auditor).duplicates),
		look(health.Contradictions, "files agree with each other", (*auditor).contradictions),
		look(health.Drift, "facts agree with what they come from", (*auditor).drift),
		look(health.Secrets, "no secrets", (*auditor).secrets),
		look(health.Conflicts, "no marks of a merge conflict", (*auditor).conflicts),
		look(health.Files, "every file can be read", (*auditor).files),
		look(health.Pointers, "pointers in memory resolve", (*auditor).pointers),
		kept(health.Blobs, "every blob belongs to a page"),
		kept(health.Journals, "journals and pages are whole"),
		kept(health.Index, "the index is whole"),
	}
}

// ListChecks returns all checks, in the order of a report, with the rule of each. It runs no check.
func ListChecks() []health.CheckRun {
	var out []health.CheckRun
	for _, c := range checks() {
		out = append(out, health.CheckRun{ID: c.Code, Title: c.Title})
	}
	return out
}

// The thresholds of the checks.
const (
	day = 24 * time.Hour
	// stateAge is the age from which SESSION-STATE.md is stale.
	stateAge = day
	// observationLines is the most lines that observations.md may have.
	observationLines = 100
	// logGrace is how far into a day its log may still be missing.
	logGrace = 6 * time.Hour
	// fileAge is the age from which a file of memory without a date is stale.
	fileAge = 7 * day
	// memoryAge is the age that the newest date in MEMORY.md may reach.
	memoryAge = 3 * day
	// sizeWarning is the share of the host's limits above which a file is reported as large.
	sizeWarning = .9
	// nearDuplicate is the share of common runs of three words from which two entries say the
	// same.
	nearDuplicate = .8
	// jobAge is how long after its last run a job's failure is reported.
	jobAge = 14 * day
)

// Options are settings of an [Audit].
type Options struct {
	// Host is the host whose limits hold for the files that a session begins with.
	Host Host
	// Now is the moment of the audit.
	Now time.Time
	// Timezone is the user's time zone, default time.Local.
	Timezone *time.Location
	// Masker finds secrets. A nil Masker means a masker with all rules.
	Masker *mask.Masker
	// Jobs are the last runs of recorded jobs.
	Jobs []Job
	// Resolves reports whether a pointer in memory can be followed. If it is nil, pointers are
	// not checked.
	Resolves func(id string) bool
	// Kept are the checks of data that is kept outside the files, by their codes.
	Kept map[health.Code]Kept
	// Only names the checks to run. If it is empty, all checks run. Skip names checks not to run.
	Only, Skip []health.Code
}

// Audit checks a workspace and changes nothing. If [Options.Kept] lacks a check of outside data,
// the report lists that check as not run.
func Audit(ctx context.Context, snap *Snapshot, o Options) (*health.Report, error) {
	var all []string
	for _, c := range checks() {
		all = append(all, string(c.Code))
	}
	for _, id := range append(slices.Clone(o.Only), o.Skip...) {
		if !slices.Contains(all, string(id)) { // a misspelt check would never run
			return nil, fmt.Errorf("there is no check %q; the checks are %s", id, strings.Join(all, ", "))
		}
	}
	if o.Timezone == nil {
		o.Timezone = time.Local
	}
	a := &auditor{snap: snap, Options: o, report: &health.Report{Files: len(snap.Files), Findings: []health.Finding{}, Checks: []health.CheckRun{}}}
	for i := range snap.Files {
		a.report.Entries += len(snap.Files[i].Entries)
	}
	asked := slices.DeleteFunc(checks(), func(c health.Check[*auditor]) bool {
		return len(o.Only) > 0 && !slices.Contains(o.Only, c.Code) || slices.Contains(o.Skip, c.Code)
	})
	if err := health.Run(ctx, a.report, asked, a); err != nil {
		return nil, err
	}
	a.report.Sort()
	return a.report, nil
}

// auditor is one audit.
type auditor struct {
	snap *Snapshot
	Options
	report *health.Report
}

// groups has values by a key that they have in common. keys is in the order in which add first got
// each key.
type groups[K comparable, V any] struct {
	keys []K
	of   map[K][]V
}

func (g *groups[K, V]) add(k K, v V) {
	if g.of == nil {
		g.of = map[K][]V{}
	}
	if g.of[k] == nil {
		g.keys = append(g.keys, k)
	}
	g.of[k] = append(g.of[k], v)
}

// together adds the findings of one cause. It adds each of them if they are at most few. Otherwise it
// adds one finding at the first place, which lists the other places and says what returns for the
// number of findings.
func (a *auditor) together(found []health.Finding, few int, what func(n int) string) {
	if len(found) <= few {
		for i := range found {
			a.add(found[i])
		}
		return
	}
	f := found[0]
	f.What = what(len(found))
	for i := range found[1:] {
		f.Others = append(f.Others, found[i+1].Place)
	}
	a.add(f)
}

// tell adds a finding at a place, with further places.
func (a *auditor) tell(how health.Severity, at health.Place, what, hint string, others ...health.Place) {
	a.add(health.Finding{Severity: how, Place: at, Others: others, What: what, Hint: hint})
}

// add adds a finding of the current check to the report. It masks the finding's texts, since a
// quotation may hold a secret.
func (a *auditor) add(f health.Finding) {
	f.What, _ = a.Masker.Mask(f.What)
	for i := range f.Dropped {
		f.Dropped[i].Heading, _ = a.Masker.Mask(f.Dropped[i].Heading)
	}
	a.report.Add(f)
}

// age returns a duration in words, such as "3 days".
func age(d time.Duration) string {
	switch days := int(d.Hours() / 24); {
	case days >= 2:
		return fmt.Sprintf("%d days", days)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes()))
}
