package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

const markdownHead = "# Configuration\n" + `
<!-- Made from the tags in internal/config/config.go; go test ./internal/config -update writes it anew. -->

memkernel needs no configuration. Settings come from, the later over the earlier:

1. the defaults;
2. your own file, ` + "`memkernel/config.yaml`" + ` in the folder that the system has for such files
   (` + "`~/.config`" + ` on Linux, or ` + "`$XDG_CONFIG_HOME`; `~/Library/Application Support`" + ` on macOS;
   ` + "`%AppData%`" + ` on Windows). It counts in every project, on the command line, in hooks and in
   programs that keep running. A file that others may write is refused: ` + "`chmod 600`" + ` it;
3. the project's own file, ` + "`config.yaml`" + ` in the state folder (` + "`.memkernel`" + ` in the workspace);
   or in its place the one that ` + "`--config FILE`" + ` names, which must exist;
4. flags.

The project's own file may have come with somebody's repository. So it can't name endpoints,
models, commands, keys or folders, nor what is no secret, and where its words decide about trust
it may only go on towards less: the tables say of which settings that is true. What it
says beyond that is ignored, with a warning that ` + "`memkernel doctor`" + ` explains. A file that
` + "`--config`" + ` names is yours, wherever it lies.

` + "```" + `
memkernel config                                     # every setting, and where it came from
mkdir -p .memkernel
memkernel config --sample > .memkernel/config.yaml   # a file to start from

mkdir -p -m 700 ~/.config/memkernel                  # or one for all projects
memkernel config --sample > ~/.config/memkernel/config.yaml
chmod 600 ~/.config/memkernel/config.yaml
` + "```" + `

- A dot in a name is a level of the file: ` + "`plan.reserve`" + ` is ` + "`reserve`" + ` below ` + "`plan`" + `.
- A key that is not known, one that stands twice, one without a value, and a value
  of another type or out of range are errors that name file and line. A key that an
  earlier version had, and this one has not, has no effect: a warning names its line.
- What stands below ` + "`experimental`" + ` may stand in its section as well:
  ` + "`experimental.retrieval.min_score`" + ` is ` + "`retrieval.min_score`" + `.
- Tokens: ` + "`200000`, `200k` (thousand), `1m`" + ` (million).
- Durations: ` + "`500ms`, `30s`, `12h`, `30d`, `1d12h`" + `. A day is 24 hours.
- Sizes: ` + "`32MiB`" + ` counts in powers of 1024, ` + "`32MB`" + ` in powers of 1000.
- Time zones: an IANA name such as ` + "`Europe/Berlin`, or `local`" + ` for the machine's.
- Files: a relative path is taken from the folder of the configuration file.
- Globs are relative to the workspace, with forward slashes on every system, and do not
  tell upper from lower case. ` + "`*`" + ` is any part of one name, ` + "`**`" + ` between slashes any number
  of folders, ` + "`?`" + ` one character, ` + "`[a-z]`" + ` and ` + "`[^a-z]`" + ` one of some, ` + "`{a,b}`" + ` either; a backslash
  takes the meaning from the next character. A glob that names a folder, as ` + "`notes`" + ` or
  ` + "`notes/`" + `, means what is below it.
  - Only Markdown (` + "`.md`, `.markdown`, `.mdx`" + `) is taken in, but for files whose endings the
    last part of a glob names: ` + "`notes/*.txt`" + ` takes in text, ` + "`notes/**`" + ` does not.
  - Names that begin with a dot, and ` + "`node_modules`, `bower_components`, `vendor`, `dist`,\n    `build`, `out`, `target`, `_site`, `__pycache__` and `venv`" + `, are entered only by a glob that
    names them: ` + "`.cursor/rules/*.mdc`, `docs/build/**`. `.git`" + ` and the state folder never are.
  - What git ignores stays out: by the ` + "`.gitignore`" + ` files of the workspace's repository, from its
    root down, and by ` + "`.git/info/exclude`" + `. Rules that ignore the workspace itself don't count.
    git's ` + "`core.excludesFile`" + ` is not read.
  - Symbolic links to files and folders are not followed.
`

// Markdown is doc/config.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(markdownHead)
	tree := Default().tree()
	if len(tree.keys) > 0 {
		b.WriteString("\n## At the top of the file\n")
		tree.table(&b)
	}
	for _, s := range tree.sections {
		if s.name == Experiments {
			s.list(&b)
		} else if !s.empty() {
			s.markdown(&b)
		}
	}
	return b.String()
}

// Tables lists the settings of sections, by their names, as [Markdown] does.
func Tables(names ...string) string {
	var b strings.Builder
	var find func([]section)
	find = func(sections []section) {
		for _, s := range sections {
			if slices.Contains(names, s.name) {
				s.markdown(&b)
			} else {
				find(s.sections)
			}
		}
	}
	find([]section{sectionOf(reflect.ValueOf(Default()).Elem(), "", "", "")})
	return b.String()
}

func (s section) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", s.name, s.doc)
	s.table(b)
	for _, below := range s.sections {
		below.markdown(b)
	}
}

func (s section) table(b *strings.Builder) {
	if len(s.keys) > 0 {
		b.WriteString("\n| key | default | values | meaning |\n|---|---|---|---|\n")
	}
	for _, k := range s.keys {
		meaning := k.meaning()
		if k.Flag != "" {
			meaning += fmt.Sprintf(" Flag: `--%s`.", k.Flag)
		}
		fmt.Fprintf(b, "| `%s` | `%s` | %s | %s |\n", k.Name, k.yaml(), k.Accepts(), meaning)
	}
}

// list names the experimental settings with their defaults: memkernel config --sample
// explains each.
func (s section) list(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n%s `memkernel config --sample` has the meaning of each.\n\n", s.name, s.doc)
	for _, k := range s.all() {
		fmt.Fprintf(b, "- `%s.%s`: `%s`\n", Experiments, k.Name, k.yaml())
	}
}
