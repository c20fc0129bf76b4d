package verbs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
)

// auditFlags are the flags of audit.
type auditFlags struct {
	only, skip, jobs []string
	host             string
	now              time.Time
	all              bool
}

func auditVerb(a *cli.App) *cobra.Command {
	f := &auditFlags{}
	cmd := &cobra.Command{
		Long: `audit reads the workspace's Markdown and the state folder and says what is wrong:
what nobody has looked after, what the host will not show to the model, links that
lead nowhere, what is said twice or in two ways, secrets, damaged text, and whether
journals, blobs and index are whole. It changes nothing, not a byte and not a
time. What has one cause is one finding; what nobody is to mend, such as links in logs
of days that are over, is told of and is none. The exit code is 3 if it finds something
and 0 if it does not; it is 1 if there was no file to look at.`,
		Example: `  memkernel audit --skip stale_files
  memkernel audit --only contradictions,links --json`,
		RunE: with(a, f, runAudit),
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&f.only, "only", nil, "run these `checks` alone")
	fl.StringSliceVar(&f.skip, "skip", nil, "don't run these `checks`")
	fl.StringVar(&f.host, "host", "openclaw", "whose limits hold: "+strings.Join(consolidation.HostNames(), ", "))
	jobsFlag(cmd, &f.jobs)
	cli.CompleteWords(cmd, "only", checkNames())
	cli.CompleteWords(cmd, "skip", checkNames())
	cli.CompleteWords(cmd, "host", consolidation.HostNames())
	nowFlag(cmd, &f.now)
	fl.BoolVar(&f.all, "all", false, "every finding and each of its places, not the first ten of each check")
	return cmd
}

func runAudit(ctx context.Context, a *cli.App, f *auditFlags) error {
	if err := a.MemoryOn(); err != nil {
		return err
	}
	o, err := auditRequest(a, f)
	if err != nil {
		return err
	}
	r, err := askKeeper(ctx, a, "auditing", api.Keeper.Audit, o)
	if err != nil {
		return err
	}
	a.Findings(r.Findings)
	none := lookedAtNothing(ctx, a, r)
	if a.All = f.all; a.JSON || none == nil {
		err = cli.Answer(a, document.OfAudit(r), r, showAudit)
	}
	return cmp.Or(err, cli.WithFindings(r.Faults()), none)
}

// ofState lists the checks that need no file of the workspace.
var ofState = []health.Code{health.Jobs, health.Blobs, health.Journals, health.Index}

// lookedAtNothing returns an error for an audit that should have read files, found no problem,
// and had no file to read.
func lookedAtNothing(ctx context.Context, a *cli.App, r *health.Report) error {
	if r.Files > 0 || r.Faults() > 0 || !slices.ContainsFunc(r.Checks, func(c health.CheckRun) bool { return !slices.Contains(ofState, c.ID) }) {
		return nil
	}
	why := "it holds no Markdown"
	if st, err := a.OpenStore(ctx, true); err == nil && st != nil {
		defer st.Close()
		if left, err := st.LeftOut(ctx); err == nil && left.Files > 0 {
			why = left.String()
		}
	}
	return cli.Hint(fmt.Errorf("audit: there was nothing to look at in %s: %s", a.Workspace, why), "--workspace names another folder; index.include and index.exclude say which files of it are read")
}

// jobsFlag adds --jobs to a verb that audits.
func jobsFlag(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringArrayVar(to, "jobs", nil, "a record of jobs in a `file`, such as a host's cron/jobs.json, or lines of JSON with job, time and error (may be repeated)")
}

// auditRequest makes the options of an audit from configuration and flags.
func auditRequest(a *cli.App, f *auditFlags) (api.AuditOptions, error) {
	o := a.AuditOptions(f.jobs)
	o.Now = f.now
	way := "checks are " + strings.Join(checkNames(), ", ")
	var err error
	if o.Only, err = checkIDs(f.only); err != nil {
		return o, cli.UsageWith("--only: "+err.Error(), way)
	}
	if o.Skip, err = checkIDs(f.skip); err != nil {
		return o, cli.UsageWith("--skip: "+err.Error(), way)
	}
	return o, nil
}

// checkNames returns the names of all checks.
func checkNames() (out []string) {
	for _, c := range consolidation.ListChecks() {
		out = append(out, string(c.ID))
	}
	return out
}

// checkIDs parses the names of checks.
func checkIDs(names []string) (out []health.Code, err error) {
	for _, n := range names {
		n = strings.TrimSpace(n)
		if !slices.Contains(checkNames(), n) {
			return nil, fmt.Errorf("there is no check %q", n)
		}
		out = append(out, health.Code(n))
	}
	return out, nil
}

// severities are the colours of the severities.
var severities = map[health.Severity]string{health.OK: "green", health.Note: "cyan", health.Warning: "yellow", health.Error: "red"}

// finding writes the i-th of all findings. Its text follows head, which takes indent columns. The hint
// stands below the text, unless the next finding of the same check has the same hint.
func finding(s *display.Sheet, all []health.Finding, i int, head string, indent int, text string) {
	f := &all[i]
	s.Hang(head, indent, "", "{}", text)
	if i+1 == len(all) || all[i+1].Code != f.Code || all[i+1].Hint != f.Hint {
		s.Para(indent+2, "gray", "{}", f.Hint)
	}
}

// severity returns the severity of a finding in its colour, in eight columns.
func severity(s *display.Sheet, f *health.Finding) string {
	return s.Paint(severities[f.Severity], display.Left(string(f.Severity), 8))
}

// showAudit lists the findings of an audit, grouped by check.
func showAudit(s *display.Sheet, r *health.Report) {
	clean := 0
	var skipped []string
	for _, c := range r.Checks {
		var found []health.Finding
		for _, f := range r.Findings {
			if f.Code == c.ID {
				found = append(found, f)
			}
		}
		switch {
		case c.Skipped != "":
			skipped = append(skipped, string(c.ID)+": "+c.Skipped)
		case len(found) == 0:
			clean++
		default:
			ofCheck(s, c, found)
		}
	}
	for _, text := range skipped {
		s.Para(0, "gray", "not run: {}", text)
	}
	s.Line("{file} with {entry} read:", r.Files, r.Entries)
	by := ""
	if n := len(r.Checks) - clean - len(skipped); n > 0 {
		by = s.Say("{finding} by {check}; ", r.Faults(), n)
	}
	not := ""
	if len(skipped) > 0 {
		not = s.Say("; {%d} not run", len(skipped))
	}
	s.Line("{}{check} found nothing{}", by, clean, not)
}

// places lists the other places of a finding, indented.
func places(s *display.Sheet, indent int, f *health.Finding) {
	var names []string
	for _, o := range f.Others {
		names = append(names, o.String())
	}
	s.Para(indent, "gray", "also {}", names)
}

// ofCheck lists the findings of a check.
func ofCheck(s *display.Sheet, c health.CheckRun, found []health.Finding) {
	s.Line("{} ({%d})", display.Inked("bold", c.ID), len(found))
	shown := first(s, found)
	for i := range shown {
		f := &shown[i]
		finding(s, shown, i, "  "+severity(s, f), 10, strings.TrimSpace(f.Place.String()+" "+f.What))
		if s.All && len(f.Others) > 1 {
			places(s, 12, f)
		}
	}
	if more := len(found) - len(shown); more > 0 {
		s.Line("  and {%d} more; --all shows them", more)
	}
}
