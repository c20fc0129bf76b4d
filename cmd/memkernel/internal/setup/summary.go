package setup

import (
	"cmp"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/cmd/memkernel/internal/fail"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/summary/model"
)

// summaryOptions are the settings of the model that makes notes, the zero value if
// there is none. It sends nothing.
func (s *Settings) summaryOptions() (kernel.SummaryOptions, error) {
	c := &s.Config.Summary.Model
	o := kernel.SummaryOptions{Tokens: int(c.MinTokens), After: time.Duration(c.MaxAge), DeltaTokens: int(c.MaxTokens),
		Timeout: time.Duration(c.Timeout), CloseWait: time.Duration(c.CloseWait), NoFacts: !c.Facts}
	if err := s.trustSummary(); err != nil {
		return o, err
	}
	m, err := model.FromConfig(s.summaryConfig())
	if err != nil {
		return o, fail.Hint(fmt.Errorf("read configuration: %s: %w", s.Config.Origin("summary.model.provider"), err),
			"mend the section summary.model, or say summary.model.provider: none for the mechanical summary alone")
	}
	o.Model = m
	return o, nil
}

func (s *Settings) summaryConfig() model.Config {
	c := &s.Config.Summary.Model
	return model.Config{Provider: c.Provider, BaseURL: string(c.BaseURL), Model: c.Name, APIKeyEnv: string(c.APIKeyEnv),
		Timeout: time.Duration(c.Timeout), AllowInsecure: c.AllowInsecure}
}

// trustSummary refuses to send a session anywhere on the word of the state folder's
// own file; see trustEmbedding.
func (s *Settings) trustSummary() error {
	c := &s.Config.Summary.Model
	if s.ConfigPath != "" || c.Provider == model.ProviderNone {
		return nil
	}
	refuse := func(key, why string) error {
		return fail.Hint(fmt.Errorf("%s: %s: %s, and this file may have come with the project", s.Config.Origin(key), key, why),
			"if you want that, say so by --config %s; else set summary.model.provider to none", s.ConfigFile)
	}
	switch {
	case !OnThisMachine(string(c.BaseURL)):
		return refuse("summary.model.provider", "what is said in sessions would be sent to "+cmp.Or(host(string(c.BaseURL)), c.Provider))
	case c.APIKeyEnv != "":
		return refuse("summary.model.api_key_env", "a variable of the environment would be sent to "+host(string(c.BaseURL)))
	}
	return nil
}
