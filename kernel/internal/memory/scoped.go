package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

// leaveOut begins a name of a scope whose files are left out.
const leaveOut = "-"

// Selects reports whether the names of a scope select files. Otherwise they only leave out files.
func (sc *scope) Selects() bool {
	return slices.ContainsFunc(sc.Named, func(n string) bool { return !strings.HasPrefix(n, leaveOut) })
}

// project is the project that a session works in, by the names that notes may use for it.
type project struct {
	names []string
	// root reports whether the session works in the root of the workspace. The notes may then be
	// about several projects, unless one of them names the project of the workspace itself.
	root bool
}

// Project returns the project of a session that works in folder. If folder is "", the session
// works in the root of the workspace.
func (m *Memory) Project(folder string) project {
	root := m.Private.Dir()
	if folder == "" {
		folder = root
	}
	if folder == "" {
		return project{}
	}
	p := project{names: markdownstore.ProjectNames(folder), root: filepath.Clean(folder) == filepath.Clean(root)}
	for i := range p.names {
		p.names[i] = projectName(p.names[i])
	}
	return p
}

// others returns the files that name projects other than p, by their labels.
func (p *project) others(labels map[string][]string) map[string]bool {
	if len(p.names) == 0 {
		return nil
	}
	out, own := map[string]bool{}, false
	for path, ls := range labels {
		named, is := false, false
		for _, l := range ls {
			if name, ok := strings.CutPrefix(l, markdownstore.ProjectMark); ok {
				named, is = true, is || slices.Contains(p.names, projectName(name))
			}
		}
		own = own || is
		if named && !is {
			out[path] = true
		}
	}
	if p.root && !own {
		return nil
	}
	return out
}

// projectName returns the form in which names of projects are compared.
func projectName(name string) string {
	return strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(path.Base(name)))
}

// checkNames returns an error for a name that selects nothing.
func checkNames(named []string) error {
	for _, n := range named {
		if strings.Trim(strings.TrimPrefix(n, leaveOut), " /#") == "" {
			return fmt.Errorf("the scope %q names nothing: give folders, tags or projects, or -name to leave one out", n)
		}
	}
	return nil
}

// among returns want, limited to the files in the scope. left is the number of files that are left
// out because they belong to other projects.
func (sc *scope) among(ctx context.Context, r readied, want func(string) bool) (in func(string) bool, left int, err error) {
	if len(sc.Named) == 0 && len(sc.Project.names) == 0 || r.reading == nil || r.MemoryIndex == nil {
		return want, 0, nil
	}
	labels, err := r.Labels(ctx)
	if errors.Is(err, index.ErrMissing) {
		err = nil
	}
	if err != nil {
		return nil, 0, err
	}
	others := sc.Project.others(labels)
	if len(sc.Named) == 0 && len(others) == 0 {
		return want, 0, nil
	}
	var names, out []string
	for _, n := range sc.Named {
		if rest, ok := strings.CutPrefix(n, leaveOut); ok {
			out = append(out, scopeName(rest))
		} else {
			names = append(names, scopeName(n))
		}
	}
	return func(p string) bool {
		if others[p] || want != nil && !want(p) {
			return false
		}
		is := scoped(p, labels[p])
		return !slices.ContainsFunc(out, is) && (len(names) == 0 || slices.ContainsFunc(names, is))
	}, len(others), nil
}

// scoped returns a function that reports whether a file with some labels has a name of a scope.
func scoped(file string, labels []string) func(name string) bool {
	folders := "/" + strings.ToLower(strings.Replace(file, ":", "/", 1)) + "/"
	return func(name string) bool {
		return strings.Contains(folders, "/"+name+"/") || slices.ContainsFunc(labels, func(l string) bool { return labelled(l, name) })
	}
}

// mostScopes is how many names of scopes an answer lists. They fill about one line. It is our
// choice.
const mostScopes = 10

// unknownScope returns a text that lists the names of the scope that no file has, and the names
// that files have. Of the latter it lists the names with the nearest spelling first, then the names
// of most files. It returns "" if every name has a file.
func (m *Memory) unknownScope(ctx context.Context, sc scope, r readied) (string, error) {
	if len(sc.Named) == 0 || r.reading == nil || r.MemoryIndex == nil {
		return "", nil
	}
	labels, err := r.Labels(ctx)
	if err != nil && !errors.Is(err, index.ErrMissing) {
		return "", err
	}
	want, err := m.want(sc, nil)
	if err != nil {
		return "", err
	}
	unknown, files := slices.Clone(sc.Named), map[string]int{}
	for f, err := range m.corpus.files(ctx, nil) {
		if err != nil || IsPast(f.Path) || want != nil && !want(f.Path) {
			continue
		}
		has := scoped(f.Path, labels[f.Path])
		unknown = slices.DeleteFunc(unknown, func(n string) bool { return has(scopeName(strings.TrimPrefix(n, leaveOut))) })
		for folder := range strings.SplitSeq(path.Dir(strings.Replace(f.Path, ":", "/", 1)), "/") {
			files[folder]++
		}
		for _, l := range labels[f.Path] {
			files[strings.TrimPrefix(strings.Replace(l, markdownstore.TagMark, "#", 1), markdownstore.ProjectMark)]++
		}
	}
	if delete(files, "."); len(unknown) == 0 {
		return "", ctx.Err()
	}
	known := slices.SortedFunc(maps.Keys(files), func(a, b string) int { return cmp.Or(files[b]-files[a], strings.Compare(a, b)) })
	near := textutil.Nearest(scopeName(strings.TrimPrefix(unknown[0], leaveOut)), known)
	known = append(near, slices.DeleteFunc(known, func(n string) bool { return slices.Contains(near, n) })...)
	there := "; there are " + strings.Join(known[:min(len(known), mostScopes)], ", ")
	if n := len(known) - mostScopes; n > 0 {
		there += fmt.Sprintf(" and %d more", n)
	}
	if len(known) == 0 {
		there = ", nor has any file one"
	}
	return "no folder, tag or project is called " + strings.Join(unknown, " or ") + there, ctx.Err()
}

// scopeName returns the form in which names of scopes are compared.
func scopeName(n string) string {
	return strings.Trim(strings.ToLower(strings.Join(strings.Fields(n), " ")), "/#")
}

// labelled reports whether a label has a name. A tag below a tag, such as ops/web, has the name
// of both.
func labelled(label, name string) bool {
	tag, ok := strings.CutPrefix(label, markdownstore.TagMark)
	if ok {
		return tag == name || strings.HasPrefix(tag, name+"/")
	}
	return strings.TrimPrefix(label, markdownstore.ProjectMark) == name
}
