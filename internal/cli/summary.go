package cli

import (
	"fmt"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/summary/model"
)

// summaryOptions returns the settings of the model that makes notes, the zero value if there is
// none. It sends nothing.
func (s *Settings) summaryOptions() (api.SummaryOptions, error) {
	var o api.SummaryOptions
	m, err := model.FromConfig(s.summaryConfig())
	if err != nil {
		return o, Hint(fmt.Errorf("read configuration: %s: %w", s.Config.Origin("summary.model.provider"), err),
			"mend the section summary.model, or say summary.model.provider: none for the mechanical summary alone")
	}
	o.Model = m
	return o, nil
}

func (s *Settings) summaryConfig() model.Config {
	c := &s.Config.Summary.Model
	return model.Config{Provider: c.Provider, BaseURL: string(c.BaseURL), Model: c.Name, APIKeyEnv: string(c.APIKeyEnv), AllowInsecure: c.AllowInsecure}
}
