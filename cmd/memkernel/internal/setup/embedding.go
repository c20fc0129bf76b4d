package setup

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"

	"github.com/memkernel/memkernel/cmd/memkernel/internal/fail"
	"github.com/memkernel/memkernel/embed"
)

// Embedder makes the provider of vectors, nil if there is none. It sends nothing.
func (s *Settings) Embedder() (embed.Provider, error) {
	if err := s.trustEmbedding(); err != nil {
		return nil, err
	}
	p, err := embed.FromConfig(s.embedConfig())
	if err != nil {
		return nil, fail.Hint(fmt.Errorf("read configuration: %s: %w", s.Config.Origin("embedding.provider"), err),
			"mend the section embedding, or say embedding.provider: none to search by words alone")
	}
	return p, nil
}

// budgetFile stands in the state folder and holds what was sent today.
const budgetFile = "embedding-budget.json"

func (s *Settings) embedConfig() embed.Config {
	e := &s.Config.Embedding
	c := embed.Config{Provider: e.Provider, BaseURL: string(e.BaseURL), Model: e.Model, ModelDir: string(e.ModelDir), Dimensions: e.Dimensions,
		APIKeyEnv: string(e.APIKeyEnv), QueryPrefix: e.QueryPrefix, DocumentPrefix: e.DocumentPrefix, BatchSize: e.BatchSize,
		MaxTextBytes: e.MaxTextBytes, Timeout: time.Duration(e.Timeout), RequestsPerMinute: e.RequestsPerMinute,
		TokensPerMinute: int(e.TokensPerMinute), AllowInsecure: e.AllowInsecure}
	if e.DailyTokens > 0 {
		c.Budget = embed.NewBudget(filepath.Join(s.StateDir, budgetFile), int(e.DailyTokens), s.Config.Workspace.Timezone.Location(), nil)
	}
	return c
}

// trustEmbedding refuses to send anything anywhere on the word of the state
// folder's own file: that may have come with a repository of somebody else's. What
// --config names is the user's choice.
func (s *Settings) trustEmbedding() error {
	e := &s.Config.Embedding
	if s.ConfigPath != "" || e.Provider == embed.ProviderNone || e.Provider == embed.ProviderLocal {
		return nil
	}
	refuse := func(key, why string) error {
		return fail.Hint(fmt.Errorf("%s: %s: %s, and this file may have come with the project", s.Config.Origin(key), key, why),
			"if you want that, say so by --config %s; else set embedding.provider to none", s.ConfigFile)
	}
	address := string(e.BaseURL)
	switch {
	case address == "" && (e.Provider == embed.ProviderOllama || e.Provider == embed.ProviderAuto && e.ModelDir != ""):
		// On this machine by themselves.
	case !OnThisMachine(address):
		return refuse("embedding.provider", "text of the workspace would be sent to "+cmp.Or(host(address), embed.Host(e.Provider)))
	}
	if e.APIKeyEnv != "" {
		return refuse("embedding.api_key_env", "a variable of the environment would be sent to "+host(address))
	}
	return nil
}
