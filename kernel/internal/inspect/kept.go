package inspect

import (
	"encoding/json"
	"fmt"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm"
)

// Kept returns a session's stored pages, and the cuts of its newest plan.
func Kept(s *session.Session) (*api.KeptSession, error) {
	out, seen, shown := &api.KeptSession{}, map[string]bool{}, map[string]pagevm.Item{}
	var newest *branch.State
	for _, l := range s.Branches.All {
		if l.Branch == "" && (newest == nil || len(l.Proj.Items) > len(newest.Proj.Items)) {
			newest = l
		}
	}
	if newest != nil {
		out.Cuts = newest.Proj.Cuts
		for _, it := range newest.Proj.Items {
			shown[it.Page] = it
		}
	}
	r := s.Reader()
	if r.Journal == nil {
		return out, nil
	}
	for rec, err := range r.Journal.Records() {
		var b ingest.Body
		if err == nil && rec.Op == ingest.Op {
			err = json.Unmarshal(rec.Body, &b)
		}
		if err != nil {
			return nil, fmt.Errorf("read session %s: %w", s.Key, err)
		}
		for _, p := range b.Pages {
			if p = s.Pages[p.ID]; p == nil || seen[p.ID] {
				continue
			}
			seen[p.ID] = true
			text, err := r.Content(p)
			if store.OutOfReach(err) {
				return nil, err
			}
			k := api.KeptPage{Page: p, Text: text, Level: pagevm.Full, At: p.Created}
			if k.At.IsZero() {
				k.At = rec.Time
			}
			if it, in := shown[p.ID]; in {
				k.Level = it.Level
			} else if newest != nil {
				k.Level = pagevm.Gone
			}
			out.Pages = append(out.Pages, k)
		}
	}
	return out, nil
}
