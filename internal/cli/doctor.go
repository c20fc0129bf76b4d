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
	note := func(code health.Code, err error) {
		if err != nil {
			own.Add(health.Finding{Code: code, Severity: health.Error, What: PlainError(err), Hint: HintFor(err)})
		}
	}
	book, err := a.Book()
	note(health.Prices, err)
	provider, err := a.Embedder()
	note(health.Embedding, err)
	opts, err := a.KernelOptions(book, provider)
	note(health.Index, err)
	if opts != nil {
		note(health.State, Keep(ctx, &a.Settings, opts))
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
	config := health.Finding{Code: health.Config, Severity: health.OK, What: strings.Join(a.ConfigFiles, ", ") + " was read"}
	switch {
	case broken != nil:
		config.Severity, config.What, config.Hint = health.Error, PlainError(broken), HintFor(broken)
		if errors.Is(broken, fs.ErrNotExist) {
			config.Hint = "name a file that is there with --config"
		}
	case len(a.ConfigFiles) == 0:
		config.What = "there is no configuration file, the defaults hold"
	}
	d.Add(config)
	if w := a.Ignored(); w != "" {
		d.Add(health.Finding{Code: health.Config, Severity: health.Warning, What: w, Hint: a.allowIgnored()})
	}
	return d
}
