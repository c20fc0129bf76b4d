package cachelayout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Skipped is an entry of a catalogue that was not imported.
type Skipped struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Import turns the api.json of models.dev into rows, which [WriteRows] writes and [Book.With]
// adds to a book. It takes only stated prices. A price that the catalogue leaves out stays
// unknown, so that no bill rests on a guess. It returns entries without token prices as skipped.
// Rows are sorted by id and date. A file without a model is an error.
func Import(r io.Reader) (rows []Row, skipped []Skipped, err error) {
	rows, skipped, err = importModelsDev(json.NewDecoder(r))
	if err == nil && len(rows)+len(skipped) == 0 {
		err = errors.New("no provider in it has models")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("import prices: no api.json of models.dev: %w", err)
	}
	rows = slices.DeleteFunc(rows, func(row Row) bool {
		if err := row.check(); err != nil {
			skipped = append(skipped, Skipped{row.ID, err.Error()})
			return true
		}
		return false
	})
	slices.SortStableFunc(rows, func(a, b Row) int {
		if c := strings.Compare(a.ID, b.ID); c != 0 {
			return c
		}
		return strings.Compare(a.EffectiveFrom, b.EffectiveFrom)
	})
	slices.SortFunc(skipped, func(a, b Skipped) int { return strings.Compare(a.ID, b.ID) })
	return rows, skipped, nil
}

// tierSet gathers prices that a catalogue gives field by field.
type tierSet map[int]*Tier

func (s tierSet) at(above int) *Tier {
	if s[above] == nil {
		s[above] = &Tier{AboveTokens: above}
	}
	return s[above]
}

// list returns the tiers by rising size. It returns nil if there is no base input price.
func (s tierSet) list() []Tier {
	if s[0] == nil || s[0].Input == nil {
		return nil
	}
	out := make([]Tier, 0, len(s))
	for _, t := range s {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Tier) int { return a.AboveTokens - b.AboveTokens })
	return out
}

// cacheOf recognises OpenAI models that charge for cache writes. Only OpenAI models with explicit
// breakpoints do so. For all other models it returns "", and the base row decides.
func cacheOf(provider string, tiers []Tier) CacheKind {
	if provider == "openai" && tiers[0].Write5m != nil && *tiers[0].Write5m > 0 {
		return CacheOpenAIExplicit
	}
	return ""
}
