package about

import (
	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cmd/memkernel/internal/cli"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/fail"
	"github.com/memkernel/memkernel/internal/config"
)

// Config is the verb config.
func Config(a *cli.App) *cobra.Command {
	var sample bool
	cmd := &cobra.Command{
		Long: `config prints the settings as they hold, as a configuration file would have them:
the defaults, over them the file, over it the flags. doc/config.md says what each
of them means.`,
		Example: `  mkdir -p .memkernel && memkernel config --sample > .memkernel/config.yaml`,
		Args:    cli.NoArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return runConfig(a, sample) },
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

func runConfig(a *cli.App, sample bool) error {
	switch {
	case sample && a.JSON:
		return fail.Usagef("--sample is a file of comments and has no --json")
	case a.JSON:
		return a.WriteJSON(configDocument(a.Config, a.ConfigFile))
	}
	text := a.Config.YAML()
	if sample {
		text = config.Sample()
	}
	if _, err := a.Data().Write([]byte(text)); err != nil {
		return err
	}
	if !sample && a.ConfigFile == "" {
		a.Tip("there is no configuration file; --sample prints one to start from")
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
