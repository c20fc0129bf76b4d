package verbs

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/internal/textutil"
)

// configVerb is the verb config.
func configVerb(a *cli.App) *cobra.Command {
	var sample bool
	cmd := &cobra.Command{
		Long: `config prints the settings as they hold, as a configuration file would have them:
the defaults, over them the file, over it the flags. doc/config.md explains each. With
names of settings or of sections, it prints these alone, and where each value came from.
It writes none: write yours into .memkernel/config.yaml, with lines of what --sample prints.`,
		Example: `  memkernel config --sample > sample.yaml
  memkernel config workspace.max_tokens retrieval`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runConfig(a, sample, args) },
	}
	cmd.Flags().BoolVar(&sample, "sample", false, "a file to start from: all settings with their meaning, as comments")
	return cmd
}

// configJSON is the document of config.
type configJSON struct {
	Schema string `json:"schema"`
	// Files are the configuration files that were read. Later files override earlier ones. File
	// is the last of these files, "" if no file was read.
	File  string   `json:"file"`
	Files []string `json:"files"`
	// Values are all settings, in the order of doc/config.md.
	Values []settingJSON `json:"values"`
}

type settingJSON struct {
	// Key is the full name, such as plan.reserve.
	Key   string `json:"key"`
	Value any    `json:"value"`
	// Unit is the unit of a number: tokens, bytes, seconds, or "".
	Unit string `json:"unit"`
	// Text is the value as a file would spell it, such as 30d. The items of a list are separated
	// by commas.
	Text string `json:"text"`
	// From is default, file or flag.
	From string `json:"from"`
	// Place is the file and the line, or the flag. It is "" for a default.
	Place string `json:"place"`
}

func runConfig(a *cli.App, sample bool, names []string) error {
	keys, err := settingsNamed(a, names)
	switch {
	case err != nil:
		return err
	case sample && a.JSON:
		return cli.Usagef("--sample is a file of comments and has no --json")
	case sample && len(names) > 0:
		return cli.Usagef("--sample has all settings: leave out %q", names[0])
	case a.JSON:
		return a.WriteJSON(configDocument(a, keys))
	case len(names) > 0:
		return a.Print(func(s *display.Sheet) {
			for _, v := range configDocument(a, keys).Values {
				s.Line("{}: {}  ({})", v.Key, cmp.Or(v.Text, `""`), cmp.Or(v.Place, v.From))
			}
		})
	}
	text := a.Config.YAML()
	if sample {
		text = config.Sample()
	}
	if _, err := a.Data().Write([]byte(text)); err != nil {
		return err
	}
	if !sample && len(a.ConfigFiles) == 0 {
		a.Tip("there is no configuration file; --sample prints one to start from")
	}
	return nil
}

// settingsNamed returns the settings for names. Each name is the name of a setting or a section.
// Without names it returns all settings.
func settingsNamed(a *cli.App, names []string) ([]config.Key, error) {
	all := a.Config.Keys()
	if len(names) == 0 {
		return all, nil
	}
	var out []config.Key
	for _, name := range names {
		n := len(out)
		for _, k := range all {
			if k.Name == name || strings.HasPrefix(k.Name, name+".") {
				out = append(out, k)
			}
		}
		if len(out) == n {
			hint := "run 'memkernel config' for all of them; they are set in .memkernel/config.yaml"
			var all []string
			for _, k := range a.Config.Keys() {
				all = append(all, k.Name)
			}
			if near := textutil.Nearest(name, all); len(near) > 0 {
				hint = fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
			}
			return nil, cli.UsageWith(fmt.Sprintf("there is no setting %q", name), hint)
		}
	}
	return out, nil
}

func configDocument(a *cli.App, keys []config.Key) configJSON {
	doc := configJSON{Schema: "memkernel/config/v1", Files: document.List(a.ConfigFiles)}
	if n := len(doc.Files); n > 0 {
		doc.File = doc.Files[n-1]
	}
	for _, k := range keys {
		s := settingJSON{Key: k.Name, Value: k.Value(), Unit: k.Unit(), Text: k.String(), From: "default"}
		switch o := a.Config.Origin(k.Name); {
		case o.Flag != "":
			s.From, s.Place = "flag", o.String()
		case o.File != "":
			s.From, s.Place = "file", o.String()
		}
		doc.Values = append(doc.Values, s)
	}
	return doc
}
