package consolidation

import (
	"io/fs"
	"path"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// mostNames is the most files of a workspace that are searched for the target of a wiki link. In
// a larger workspace, missing targets are not reported.
const mostNames = 20_000

// vault finds files by the names in wiki links, as Obsidian does. A name is the end of a path in
// any case, with or without the ending of a note, or an alias.
type vault struct {
	snap    *Snapshot
	byName  map[string][]string // the lower-case base name, with and without .md, to paths
	aliases map[string]string
	partial bool
}

// dateName matches a note of a day, week, month or year, which need not exist yet.
var dateName = textutil.LazyRegexp(`^\d{4}(?:[-/.](?:\d{2}|W\d{1,2}|Q\d)(?:[-/.]\d{2})?)?$`)

// read lists the names, once.
func (v *vault) read() {
	if v.byName != nil {
		return
	}
	v.byName, v.aliases = map[string][]string{}, map[string]string{}
	n := 0
	_ = fs.WalkDir(v.snap.fsys, ".", func(p string, d fs.DirEntry, err error) error {
		name := path.Base(p)
		switch {
		case err != nil:
			v.partial = true
			return nil
		case d.IsDir() && p != "." && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case n == mostNames:
			v.partial = true
			return fs.SkipAll
		}
		n++
		low := strings.ToLower(textutil.Composed(name))
		v.byName[low] = append(v.byName[low], p)
		if stem, note := strings.CutSuffix(low, ".md"); note {
			v.byName[stem] = append(v.byName[stem], p)
		}
		return nil
	})
	for _, f := range v.snap.Files {
		for _, key := range [...]string{"aliases", "alias"} {
			list, one := f.Doc.Meta[key].([]any)
			if text, ok := f.Doc.Meta[key].(string); ok && !one {
				for s := range strings.SplitSeq(text, ",") {
					list = append(list, s)
				}
			}
			for _, alias := range list {
				if s, ok := alias.(string); ok {
					v.aliases[strings.ToLower(strings.TrimSpace(s))] = f.Path
				}
			}
		}
	}
}

// find returns the file that a name leads to, "" if there is none.
func (v *vault) find(name string) string {
	v.read()
	low := strings.TrimPrefix(strings.ToLower(textutil.Composed(path.Clean(name))), "/")
	for strings.HasPrefix(low, "../") {
		low = low[len("../"):]
	}
	for _, p := range v.byName[path.Base(low)] {
		if at := strings.ToLower(textutil.Composed(p)); at == low || at == low+".md" || strings.HasSuffix(at, "/"+low) || strings.HasSuffix(at, "/"+low+".md") {
			return p
		}
	}
	return v.aliases[low]
}
