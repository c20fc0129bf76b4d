package kernel

import (
	"context"

	"github.com/memkernel/memkernel/kernel/health"
)

// Doctor checks a workspace and its state folder, and reports each fault with its remedy. It
// changes nothing. A workspace that can't be opened is a finding too. Doctor returns an error
// only if the context ends.
func Doctor(ctx context.Context, workspaceDir string, opts *Options, o *health.DoctorOptions) (*health.Report, error) {
	r := &health.Report{Findings: []health.Finding{}}
	if o == nil {
		o = &health.DoctorOptions{}
	}
	k, err := Open(ctx, workspaceDir, opts)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		r.Add(health.Finding{Code: health.Workspace, Severity: health.Error, What: err.Error(), Hint: "name a folder that is there and can be read"})
		return r, nil
	}
	defer k.Close()
	look := *o
	if look.Now.IsZero() {
		look.Now = k.now()
	}
	return r, k.inspect.Doctor(ctx, r, look)
}
