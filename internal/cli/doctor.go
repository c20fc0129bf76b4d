package cli

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/health"
)

// Examine returns the doctor's report. The parameter broken is the error of a configuration that
// can't be read, or nil. After such an error the defaults are used.
func (a *App) Examine(ctx context.Context, o *health.DoctorOptions, broken error) (*health.Report, error) {
	own := a.examine(broken)
	book, err := a.Book()
	if err != nil {
		own.Add(health.Finding{Code: health.Prices, Severity: health.Error, What: PlainError(err), Hint: HintFor(err)})
	}
	provider, err := a.Embedder()
	if err != nil {
		own.Add(health.Finding{Code: health.Embedding, Severity: health.Error, What: PlainError(err), Hint: HintFor(err)})
	}
	opts, err := a.KernelOptions(book, provider)
	if err != nil {
		own.Add(health.Finding{Code: health.Index, Severity: health.Error, What: PlainError(err), Hint: HintFor(err)})
	}
	if opts != nil {
		if err := Keep(ctx, &a.Settings, opts); err != nil {
			own.Add(health.Finding{Code: health.State, Severity: health.Error, What: PlainError(err), Hint: HintFor(err)})
		}
	}
	d, err := kernel.Doctor(ctx, a.Workspace, opts, o)
	if err != nil {
		return nil, err
	}
	d.Findings = append(own.Findings, d.Findings...)
	a.Findings(d.Findings)
	return d, nil
}

// examine checks the configuration.
func (a *App) examine(broken error) *health.Report {
	d := &health.Report{}
	switch {
	case broken != nil && errors.Is(broken, fs.ErrNotExist):
		d.Add(health.Finding{Code: health.Config, Severity: health.Error, What: PlainError(broken), Hint: "name a file that is there with --config"})
	case broken != nil:
		d.Add(health.Finding{Code: health.Config, Severity: health.Error, What: PlainError(broken), Hint: HintFor(broken)})
	case len(a.ConfigFiles) == 0:
		d.Add(health.Finding{Code: health.Config, Severity: health.OK, What: "there is no configuration file, the defaults hold"})
	default:
		d.Add(health.Finding{Code: health.Config, Severity: health.OK, What: strings.Join(a.ConfigFiles, ", ") + " was read"})
	}
	if w := a.Ignored(); w != "" {
		d.Add(health.Finding{Code: health.Config, Severity: health.Warning, What: w, Hint: a.allowIgnored()})
	}
	return d
}
