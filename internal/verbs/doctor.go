package verbs

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/serve/install"
)

// doctorFlags are the flags of doctor.
type doctorFlags struct {
	health.DoctorOptions
	// broken is the error of a configuration that can't be read, or nil. After such an error the
	// defaults are used.
	broken error
}

func doctorVerb(a *cli.App) *cobra.Command {
	d := &doctorFlags{}
	cmd := &cobra.Command{
		Long: `doctor looks at the configuration, the workspace's Markdown, the index, the state
folder, the price book and the settings of the coding agents on this machine. It changes nothing, and asks nobody on the network unless
--network is given. The exit code is 3 if something fails, and 0 with warnings.`,
		Example: `  memkernel doctor --network`,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			err := a.Prepare(cmd)
			var usage *cli.UsageError
			if err != nil && !errors.As(err, &usage) {
				d.broken, a.Config, a.ConfigFiles = err, config.Default(), nil
				return nil
			}
			return err
		},
		RunE: with(a, d, runDoctor),
	}
	f := cmd.Flags()
	f.BoolVar(&d.Network, "network", false, "ask the provider of vectors for one")
	nowFlag(cmd, &d.Now)
	a.PricesFlag(cmd)
	return cmd
}

func runDoctor(ctx context.Context, a *cli.App, f *doctorFlags) error {
	d, err := a.Examine(a.Counted(ctx, "examining"), &f.DoctorOptions, f.broken)
	a.ProgressDone()
	if err != nil {
		return err
	}
	examineAgents(a, d)
	err = cli.Answer(a, document.OfDoctor(d), d, showDoctor)
	if err == nil && d.Count(health.Error) > 0 {
		return cli.WithFindings(d.Faults())
	}
	return err
}

// examineAgents adds a finding for each coding agent on this machine: whether the agent is set up for
// the workspace, or why that is unknown.
func examineAgents(a *cli.App, d *health.Report) {
	if a.Databases != nil { // a server has no agents
		return
	}
	unknown := func(of string, err error) {
		d.Add(health.Finding{Code: health.Agents, Severity: health.Warning, What: "whether " + of + " set up for this folder can't be told: " + cli.PlainError(err), Hint: a.Commands(cmp.Or(cli.HintFor(err), "mend that, and run 'memkernel doctor' again"))})
	}
	in, err := installer(a)
	var hosts []install.Host
	if err == nil {
		hosts, err = in.Find(nil)
	}
	if err != nil {
		unknown("agents are", err)
		return
	}
	for _, h := range hosts {
		wanted, err := in.Put([]string{h.Name}, false)
		there, gone := in.TakeOut([]string{h.Name}, false)
		if err := cmp.Or(err, gone); err != nil {
			unknown(h.Title+" is", recordError(err))
			continue
		}
		if len(wanted) == 0 {
			continue
		}
		f := health.Finding{Code: health.Agents, Severity: health.OK, What: h.Title + " is set up for this folder"}
		if changes(there) == 0 {
			f.What = h.Title + " is on this machine, and not set up for this folder"
		} else if changes(wanted) > 0 {
			f.Severity, f.Hint = health.Warning, "run 'memkernel init' again"
			f.What = h.Title + " has other entries than this program would write: it may not find the program, or not run all hooks"
		}
		d.Add(f)
	}
}

// showDoctor lists the passed and failed checks of a report.
func showDoctor(s *display.Sheet, r *health.Report) {
	for i := range r.Findings {
		f := &r.Findings[i]
		finding(s, r.Findings, i, severity(s, f)+display.Left(string(f.Code), 11), 19, f.What)
	}
	s.Line("{error}, {warning}, {note}, {%d} ok", r.Count(health.Error), r.Count(health.Warning), r.Count(health.Note), r.Count(health.OK))
}
