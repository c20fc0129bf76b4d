package config

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write doc/config.md and doc/config-server.md anew")

// TestMarkdown holds the pages of settings to the table of settings.
func TestMarkdown(t *testing.T) {
	same := func(path, want string) {
		t.Helper()
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("%s is not what the settings make of it; go test ./internal/config -update writes it anew (-want +got):\n%s", path, diff)
		}
	}
	same("../../doc/config.md", markdown())
	server = true
	defer func() { server = false }()
	same("../../doc/config-server.md", serverHead+tables("store", "index.postgres"))
}

const serverHead = `# Configuration of memkernel-server

<!-- Made from the tags in internal/config/config.go; go test ./internal/config -update writes it anew. -->

memkernel-server reads the same files as memkernel. It has all settings of [config.md](config.md)
and the settings below. memkernel itself refuses a file in which store.backend or index.backend is postgres.
`

const markdownHead = "# Configuration\n" + `
<!-- Made from the tags in internal/config/config.go; go test ./internal/config -update writes it anew. -->

memkernel needs no configuration. Later sources win over earlier ones:

1. the defaults;
2. your own file, ` + "`memkernel/config.yaml`" + ` in the system's folder for configuration (` + "`~/.config`" + ` on Linux, or
   ` + "`$XDG_CONFIG_HOME`; `~/Library/Application Support`" + ` on macOS; ` + "`%AppData%`" + ` on Windows). Others must not have
   write access to this file. Beside it, ` + "`projects/NAME-HASH.yaml`" + ` is yours for one project; ` + "`memkernel add FOLDER`" + ` writes it;
3. the project's file, ` + "`.memkernel/config.yaml`" + ` in the workspace, or the file that ` + "`--config FILE`" + ` names;
4. flags.

A project's file may come with somebody's repository. So it can't name endpoints, models, commands or
folders, and can only restrict your own settings; each setting below names its limits. ` + "`memkernel doctor`" + ` lists ignored
settings. A file that ` + "`--config`" + ` names counts as yours.

` + "```" + `
memkernel config                                     # every setting, and where it came from
memkernel config --sample > sample.yaml              # lines for .memkernel/config.yaml
mkdir -p -m 700 ~/.config/memkernel                  # or for config.yaml in here, for all projects
` + "```" + `

Defaults and allowed values of settings are in parentheses.

- ` + "`plan.reserve`" + ` means the key ` + "`reserve`" + ` below ` + "`plan`" + `. Unknown keys and values out of range are errors; the message names the line.
- Tokens: ` + "`200000`, `200k`, `1m`" + `. Durations: ` + "`500ms`, `12h`, `30d`" + `. Sizes: ` + "`32MiB`" + ` (1024), ` + "`32MB`" + ` (1000).
- Time zones: an IANA name, or ` + "`local`" + `. Relative paths of files begin at the configuration file's folder.
- Globs are relative to the workspace, use forward slashes and ignore case: ` + "`*`, `**`, `?`, `[a-z]`, `{a,b}`" + `. A
  folder's name means everything below the folder. A glob finds Markdown (` + "`.md`, `.markdown`, `.mdx`" + `). It finds other
  files only if it names their ending: ` + "`notes/*.txt`" + `. Hidden folders and folders of dependencies and builds, such as
  ` + "`node_modules`" + `, are searched only if a glob names them. Links are left out, and so are files that git ignores.
`

// markdown is doc/config.md.
func markdown() string {
	var b strings.Builder
	b.WriteString(markdownHead)
	b.WriteString("\n## At the top of the file\n")
	all := Default().tree()
	documented := func(k Key) bool {
		return slices.ContainsFunc(all, func(m Key) bool {
			return !m.section && !m.Experimental && (m.Name == k.Name || strings.HasPrefix(m.Name, k.Name+"."))
		})
	}
	table(&b, slices.DeleteFunc(slices.Clone(all), func(k Key) bool { return !documented(k) }))
	list(&b, all)
	return b.String()
}

// tables lists the settings of sections, by their names, as markdown does.
func tables(names ...string) string {
	var b strings.Builder
	table(&b, slices.DeleteFunc(Default().tree(), func(k Key) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return k.Name == name || strings.HasPrefix(k.Name, name+".") })
	}))
	return b.String()
}

// table lists settings below their sections, each with its default, its values and its meaning.
func table(b *strings.Builder, tree []Key) {
	for i, k := range tree {
		if k.section {
			fmt.Fprintf(b, "\n## %s\n\n%s\n", k.Name, k.Doc)
			continue
		}
		if i == 0 || tree[i-1].section {
			b.WriteString("\n")
		}
		values, meaning := "; "+k.Accepts(), k.meaning()
		if k.value.Kind() == reflect.Bool {
			values = ""
		}
		if k.Flag != "" {
			meaning += fmt.Sprintf(" Flag: `--%s`.", k.Flag)
		}
		fmt.Fprintf(b, "- `%s` (`%s`%s): %s\n", k.Name, k.yaml(), values, meaning)
	}
}

// list names the experimental settings with their defaults: memkernel config --sample
// explains each.
func list(b *strings.Builder, tree []Key) {
	b.WriteString("\n## Settings of experiments\n\nLeave these settings as they are: weights, limits and waits that measurements have set. They may change or go in any version. `memkernel config --sample` has the meaning of each.\n\n")
	for _, k := range tree {
		if k.Experimental {
			fmt.Fprintf(b, "- `%s`: `%s`\n", k.Name, k.yaml())
		}
	}
}
