package kernel

import (
	"context"

	"github.com/memkernel/memkernel/kernel/api"
)

// Forget removes pages, spans, blobs or a whole session from the stored state, and keeps
// tombstones: Get answers FORGOTTEN, and if the host sends the same message again it is not
// stored again, and a prompt shows a note in its place. The next plan of the session begins its
// projection anew, at the price of a cache miss. The host's own data and the workspace's files
// are not touched.
func (k *Kernel) Forget(ctx context.Context, req api.ForgetRequest) (*api.Forgotten, error) {
	req.SessionKey = keyOr(req.SessionKey)
	done := k.watch.begin(OpForget)
	f, err := k.retain.Forget(ctx, req)
	if err != nil || f.Applied { // else it only told
		k.watch.end(ctx, done, err, func(d *Done) { d.Found = len(f.Pages) })
	}
	return f, err
}

// Retain removes data that is older than it has to be kept, and blobs that nothing holds. It
// never breaks a pointer in a prompt or in memory: pages that the current projection shows or
// names, or that a committed update of any page cites, stay. Like Forget it records its promise
// in the journal first.
func (k *Kernel) Retain(ctx context.Context, req api.RetainRequest) (*api.Retained, error) {
	return k.retain.Retain(ctx, req)
}

// Salvage reports which parts of a session with damaged files are sound, and which are lost. With
// Apply the journal continues with its sound records: all damaged files are moved aside, prompts
// are made anew at the price of a cache miss, and messages that the host hands in again are
// ingested again. If the session does not exist, the error wraps [api.ErrNoSession].
func (k *Kernel) Salvage(ctx context.Context, req api.SalvageRequest) (*api.Salvaged, error) {
	req.SessionKey = keyOr(req.SessionKey)
	return k.retain.Salvage(ctx, req)
}

// ForgetEverywhere forgets words, or a session, wherever memkernel keeps them: in all sessions,
// in the workspace's memory, in backups and in the index. Then it looks for them in every file
// that it keeps, and lists the places that still hold them. It names the places that are not
// memkernel's (the transcripts of hosts, git) as such.
func (k *Kernel) ForgetEverywhere(ctx context.Context, req api.EverywhereRequest) (*api.Everywhere, error) {
	return k.retain.Everywhere(ctx, req)
}
