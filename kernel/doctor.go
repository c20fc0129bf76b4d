package kernel

import (
	"context"

	"github.com/memkernel/memkernel/kernel/health"
)

// Doctor looks at a workspace and its state folder and says what is wrong and how
// to mend it. It reads, and changes nothing. That the workspace can't be opened is
// a symptom too; the only error is the context's end.
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
