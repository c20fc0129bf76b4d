package cli

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/memkernel/memkernel/embed"
)

// Embedder returns the provider of vectors, nil if none is configured. It sends nothing.
func (s *Settings) Embedder() (embed.Provider, error) {
	p, err := embed.FromConfig(s.embedConfig())
	if err != nil {
		return nil, Hint(fmt.Errorf("read configuration: %s: %w", s.Config.Origin("embedding.provider"), err),
			"mend the section embedding, or say embedding.provider: none to search by words alone")
	}
	return p, nil
}

// budgetFile is the file in the state folder that counts the tokens sent today.
const budgetFile = "embedding-budget.json"

func (s *Settings) embedConfig() embed.Config {
	e := &s.Config.Embedding
	c := embed.Config{Provider: e.Provider, BaseURL: string(e.BaseURL), Model: e.Model, ModelDir: string(e.ModelDir), Dimensions: e.Dimensions,
		APIKeyEnv: string(e.APIKeyEnv), QueryPrefix: e.QueryPrefix, DocumentPrefix: e.DocumentPrefix,
		Timeout: time.Duration(e.Timeout), AllowInsecure: e.AllowInsecure}
	if e.DailyTokens > 0 {
		c.Budget = embed.NewBudget(filepath.Join(s.StateDir, budgetFile), int(e.DailyTokens), s.Config.Workspace.Timezone.Location(), nil)
	}
	return c
}
