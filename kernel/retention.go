package kernel

import (
	"context"

	"github.com/memkernel/memkernel/kernel/api"
)

// Forget removes pages, spans, blobs or a whole session from all that is kept, and
// keeps tombstones: Get answers FORGOTTEN, and the same message does not come back
// when the host sends it again, in whose place a prompt then says so. The next plan
// of the session begins its projection anew, at the price of a cache miss. What the
// host keeps itself, and the workspace's files, are not touched.
func (k *Kernel) Forget(ctx context.Context, req api.ForgetRequest) (*api.Forgotten, error) {
	req.SessionKey = keyOr(req.SessionKey)
	done := k.watch.begin(OpForget)
	f, err := k.retain.Forget(ctx, req)
	if err != nil || f.Applied { // else it only told
		k.watch.end(ctx, done, err, func(d *Done) { d.Found = len(f.Pages) })
	}
	return f, err
}

// Retain removes what is older than it has to be kept, and blobs that nothing
// holds. It never breaks a pointer in a prompt or in memory: what a
// standing projection shows or names, and what a committed update of any page
// cites, stays. Like forgetting it is promised in the journal first.
func (k *Kernel) Retain(ctx context.Context, req api.RetainRequest) (*api.Retained, error) {
	return k.retain.Retain(ctx, req)
}

// Salvage says what is sound of a session whose files are damaged, and what is lost.
// With Apply the journal goes on with what is sound of it: all damaged files are put
// aside, prompts are made anew at the price of a cache miss, and what the host hands in
// again is ingested again. A session that is not there is an error that wraps
// [api.ErrNoSession].
func (k *Kernel) Salvage(ctx context.Context, req api.SalvageRequest) (*api.Salvaged, error) {
	req.SessionKey = keyOr(req.SessionKey)
	return k.retain.Salvage(ctx, req)
}

// ForgetEverywhere forgets words, or a session, wherever memkernel keeps them: in all
// sessions, in the workspace's memory, in backups and in the index. Then it looks for them
// in every file that it keeps, and says where they are left. Of what is not memkernel's
// (the transcripts of hosts, git) it says that it is.
func (k *Kernel) ForgetEverywhere(ctx context.Context, req api.EverywhereRequest) (*api.Everywhere, error) {
	return k.retain.Everywhere(ctx, req)
}
