package kernel

import (
	"context"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

// Forget removes pages, spans, blobs or a whole session from the stored state, and keeps
// tombstones. Get answers FORGOTTEN for a forgotten page. If the host sends the same message
// again, the message is not stored, and prompts show a note in its place. The next plan of the
// session starts a new projection, which costs a cache miss. The host's own data and the
// workspace's files are not touched.
func (k *Kernel) Forget(ctx context.Context, req api.ForgetRequest) (*api.Forgotten, error) {
	req.SessionKey = session.KeyOr(req.SessionKey)
	done := k.watch.begin(api.OpForget)
	f, err := k.retain.Forget(ctx, req)
	if err != nil || f.Applied { // otherwise nothing was removed
		k.watch.end(ctx, done, err, func(d *api.Done) { d.Found = len(f.Pages) })
	}
	return f, err
}

// Retain removes data that is past its retention age, and blobs that no page holds. It never
// breaks a pointer in a prompt or in memory. A page stays if the current projection shows or
// names it, or if a committed update of any page cites it. Like Forget, Retain first records the
// removal in the journal.
func (k *Kernel) Retain(ctx context.Context, req api.RetainRequest) (*api.Retained, error) {
	return k.retain.Retain(ctx, req)
}

// Salvage reports which parts of a session with damaged files are sound, and which are lost. With
// Apply the journal continues with its sound records, and all damaged files are moved aside. The
// next prompts are made without the old projections, which costs a cache miss. Messages that the
// host hands in again are ingested again. If the session does not exist, the error wraps
// [api.ErrNoSession].
func (k *Kernel) Salvage(ctx context.Context, req api.SalvageRequest) (*api.Salvaged, error) {
	req.SessionKey = session.KeyOr(req.SessionKey)
	return k.retain.Salvage(ctx, req)
}

// ForgetEverywhere forgets words, or a session, wherever memkernel keeps them: in all sessions,
// in the workspace's memory, in backups and in the index. Then it searches every file that
// memkernel keeps for the words, and lists the places that still hold them. The list marks places
// that are not memkernel's, such as the transcripts of hosts and git.
func (k *Kernel) ForgetEverywhere(ctx context.Context, req api.EverywhereRequest) (*api.Everywhere, error) {
	return k.retain.Everywhere(ctx, req)
}
