package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"
)

// config holds the defaults that a file may set. Flags win over it.
type config struct {
	Model         string     `yaml:"model"`
	ContextWindow tokenCount `yaml:"context_window"`
	Reserve       tokenCount `yaml:"reserve"`
	FixedTokens   tokenCount `yaml:"fixed_tokens"`
	Resolver      string     `yaml:"resolver"`
	View          string     `yaml:"view"`
	Prices        string     `yaml:"prices"`
	Color         string     `yaml:"color"`
}

// configKeys pairs keys with flags, in the order of the file.
func (c *config) flags() []struct{ flag, value string } {
	return []struct{ flag, value string }{
		{"model", c.Model}, {"context-window", c.ContextWindow.set()}, {"reserve", c.Reserve.set()},
		{"fixed-tokens", c.FixedTokens.set()}, {"resolver", c.Resolver}, {"view", c.View},
		{"prices", c.Prices}, {"color", c.Color},
	}
}

// readConfig reads the configuration file and sets the flags of the verb that
// the user did not give. A file that was named must exist; an unknown key is an
// error, since a misspelt one would silently do nothing.
func (a *app) readConfig(cmd *cobra.Command) error {
	path := a.configPath
	if path == "" {
		path = filepath.Join(a.stateDir, "config.yaml")
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && a.configPath == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&a.config); err != nil && !errors.Is(err, io.EOF) {
		return hint(fmt.Errorf("read configuration %s: %w", path, err),
			"keys are model, context_window, reserve, fixed_tokens, resolver, view, prices and color")
	}
	if a.config.Prices != "" && !filepath.IsAbs(a.config.Prices) {
		a.config.Prices = filepath.Join(filepath.Dir(path), a.config.Prices)
	}
	for _, kv := range a.config.flags() {
		f := cmd.Flags().Lookup(kv.flag)
		if kv.value == "" || f == nil || f.Changed {
			continue
		}
		if err := f.Value.Set(kv.value); err != nil {
			return fmt.Errorf("read configuration %s: %s: %w", path, kv.flag, err)
		}
	}
	return nil
}
