package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm"
)

const (
	// leastRare is the least length, in bytes, of a long word of an entry.
	leastRare = 5
	// namedShare is the share of an entry's long words that an answer must hold to have named
	// the entry.
	namedShare = 0.5
)

// Use counts how often a text of memory was recalled in the kept sessions, and how often the
// agent then named the text. The agent named a text if an answer of the same turn holds at least
// half of the text's long words. Turns that were forgotten or removed by retention do not count.
func (in *Inspector) Use(ctx context.Context, text string) (api.Use, error) {
	var u api.Use
	key := consolidation.Key(text)
	var rare []string
	for w := range strings.FieldsSeq(key) {
		if len(w) >= leastRare && !slices.Contains(rare, w) {
			rare = append(rare, w)
		}
	}
	folders, err := folder.All(in.State)
	if err != nil || key == "" {
		return u, err
	}
	for _, f := range longwork.Over(ctx, "session", folders) {
		if ctx.Err() != nil {
			return u, ctx.Err()
		}
		s, unlock, err := in.Sessions.Visit(ctx, f)
		if err != nil {
			continue // a check reports it
		}
		useIn(s, key, rare, &u)
		unlock()
	}
	return u, nil
}

func useIn(s *session.Session, key string, rare []string, u *api.Use) {
	r := s.Reader()
	pages := make([]*pagevm.Page, 0, len(s.Pages))
	for _, p := range s.Pages {
		pages = append(pages, p)
	}
	slices.SortFunc(pages, func(a, b *pagevm.Page) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	for i, p := range pages {
		if len(p.Refs) == 0 || !strings.HasPrefix(p.ID, "rt") {
			continue
		}
		shown, err := r.Content(p)
		if err != nil || !strings.Contains(" "+consolidation.Key(shown)+" ", " "+key+" ") {
			continue
		}
		u.Recalled++
		if p.Created.After(u.Last) {
			u.Last = p.Created
		}
		for _, next := range pages[i+1:] {
			if next.Role == string(memkernel.RoleUser) && next.CallID == "" && len(next.Refs) == 0 && next.MessageKey != p.MessageKey && next.Created.After(p.Created) {
				break // the next turn
			}
			if next.Role != string(memkernel.RoleAssistant) {
				continue
			}
			said, err := r.Content(next)
			n := 0
			for _, w := range rare {
				n += min(strings.Count(" "+consolidation.Key(said)+" ", " "+w+" "), 1)
			}
			if err == nil && n > 0 && float64(n) >= namedShare*float64(len(rare)) {
				u.Named++
				break
			}
		}
	}
}
