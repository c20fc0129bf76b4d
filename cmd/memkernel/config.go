package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/statedir"
)

// readConfig reads the configuration file, and brings it and the flags of the
// verb into line. A file that was named must exist.
func (a *app) readConfig(cmd *cobra.Command) error {
	const name = "config.yaml"
	if a.configPath == "" {
		if _, err := statedir.At(a.stateDir).Check(name); err != nil {
			return hint(fmt.Errorf("read configuration: %w", err), "name the file with --config if you made it so")
		}
	}
	path := cmp.Or(a.configPath, filepath.Join(a.stateDir, name))
	c, err := config.Load(path)
	switch {
	case err == nil:
		a.config, a.configFile = c, path
	case errors.Is(err, fs.ErrNotExist) && a.configPath == "":
		a.config = config.Default()
	default:
		return configError(err)
	}
	return a.joinFlags(cmd)
}

// joinFlags gives a flag that the user did not set the file's value, and a
// setting whose flag the user did set the flag's, so that both say the same.
func (a *app) joinFlags(cmd *cobra.Command) error {
	for _, k := range a.config.Keys() {
		f := cmd.Flags().Lookup(k.Flag)
		switch {
		case k.Flag == "" || f == nil || f.Annotations[ownFlag] != nil:
		case f.Changed:
			if err := a.config.Set(k.Name, f.Value.String(), "--"+k.Flag); err != nil {
				return usagef("%s", err)
			}
		case a.config.Origin(k.Name) != config.Origin{} && k.String() != "" && !k.Unsaid():
			if err := f.Value.Set(k.String()); err != nil {
				return fmt.Errorf("read configuration: %s: %s: %w", a.config.Origin(k.Name), k.Name, err)
			}
		}
	}
	return nil
}

// ownFlag marks a flag that only shares its name with a setting's.
const ownFlag = "memkernel_own"

// configError adds the way out that a mistake in a configuration carries.
func configError(err error) error {
	var mistake *config.Error
	wrapped := fmt.Errorf("read configuration: %w", err)
	if errors.As(err, &mistake) && mistake.Hint != "" {
		return hint(wrapped, "%s", mistake.Hint)
	}
	return wrapped
}

func newConfig(a *app) *cobra.Command {
	var sample bool
	cmd := &cobra.Command{
		Use: "config", Short: "print every setting and where its value came from",
		Long: `config prints the settings as they hold, as a configuration file would have them:
the defaults, over them the file, over it the flags. doc/config.md says what each
of them means.`,
		Example: `  memkernel config --sample > .memkernel/config.yaml`,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return a.runConfig(sample) },
	}
	cmd.Flags().BoolVar(&sample, "sample", false, "a file to start from: all settings with their meaning, as comments")
	return cmd
}

type configJSON struct {
	Schema string `json:"schema"`
	// File is the configuration file, "" if there is none.
	File   string        `json:"file"`
	Values []settingJSON `json:"values"`
}

type settingJSON struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
	Unit  string `json:"unit"`
	Text  string `json:"text"`
	From  string `json:"from"`
	Place string `json:"place"`
}

func (a *app) runConfig(sample bool) error {
	switch {
	case sample && a.json:
		return usagef("--sample is a file of comments and has no --json")
	case a.json:
		return a.writeJSON(configDocument(a.config, a.configFile))
	}
	text := a.config.YAML()
	if sample {
		text = config.Sample()
	}
	if _, err := a.data().Write([]byte(text)); err != nil {
		return err
	}
	if !sample && a.configFile == "" {
		a.tip("there is no configuration file; --sample prints one to start from")
	}
	return nil
}

func configDocument(c *config.Config, file string) configJSON {
	doc := configJSON{Schema: "memkernel/config/v1", File: file}
	for _, k := range c.Keys() {
		s := settingJSON{Key: k.Name, Value: k.Value(), Unit: k.Unit(), Text: k.String(), From: "default"}
		switch o := c.Origin(k.Name); {
		case o.Flag != "":
			s.From, s.Place = "flag", o.String()
		case o.File != "":
			s.From, s.Place = "file", o.String()
		}
		doc.Values = append(doc.Values, s)
	}
	return doc
}
