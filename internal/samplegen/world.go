package main

import (
	"fmt"
	"slices"
	"strings"
)

// module is the invented service's import path.
const module = "harborline.example/ferry"

// world is the agent's machine: the files of the project, in memory.
type world struct {
	r     *rng
	files map[string]string
	// committed is what the version control holds.
	committed map[string]string
}

// newWorld lays out the project before the session.
func newWorld(r *rng) *world {
	w := &world{r: r, files: map[string]string{}}
	for i := range entities {
		w.addEntity(&entities[i])
	}
	w.addPlumbing()
	w.commit()
	return w
}

func (w *world) commit() {
	w.committed = make(map[string]string, len(w.files))
	for p, text := range w.files {
		w.committed[p] = text
	}
}

// paths lists the files under a folder, sorted.
func (w *world) paths(under string) []string {
	var out []string
	for p := range w.files {
		if strings.HasPrefix(p, under) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// text is a file's content. A script that names a file which is not there is a
// mistake in the script.
func (w *world) text(path string) string {
	t, ok := w.files[path]
	if !ok {
		panic(fmt.Sprintf("samplegen: no file %s", path))
	}
	return t
}

// line finds the 1-based line of the first occurrence of needle in a file.
func (w *world) line(path, needle string) int {
	i := strings.Index(w.text(path), needle)
	if i < 0 {
		panic(fmt.Sprintf("samplegen: %q is not in %s", needle, path))
	}
	return 1 + strings.Count(w.text(path)[:i], "\n")
}

// around returns a function's text: from the line that holds needle up to the
// first line that is a lone closing brace.
func (w *world) around(path, needle string) string {
	text := w.text(path)
	i := strings.Index(text, needle)
	if i < 0 {
		panic(fmt.Sprintf("samplegen: %q is not in %s", needle, path))
	}
	start := strings.LastIndexByte(text[:i], '\n') + 1
	end := strings.Index(text[start:], "\n}\n")
	return text[start : start+end+2]
}

// field is one member of an entity.
type field struct {
	name, typ, column, doc string
	rule                   string // condition under which Validate refuses
	message                string
}

// entity is one noun of the service, which becomes a package.
type entity struct {
	pkg, name, plural, doc string
	statuses               []string
	fields                 []field
	special                string // hand-written domain code
	imports                []string
	cases                  []testCase
}

// testCase is one row of an entity's table test.
type testCase struct {
	name, mutate, want string
}

func (w *world) addEntity(e *entity) {
	dir := "internal/" + e.pkg + "/"
	w.files[dir+e.pkg+".go"] = typeFile(e)
	w.files[dir+"store.go"] = storeFile(w.r, e)
	w.files[dir+"service.go"] = serviceFile(w.r, e)
	w.files[dir+e.pkg+"_test.go"] = testFile(w.r, e)
	w.files["internal/httpapi/"+e.pkg+".go"] = handlerFile(w.r, e)
	w.files["migrations/"+migrationName(e)] = migrationFile(e)
}

func migrationName(e *entity) string {
	i := slices.IndexFunc(entities, func(o entity) bool { return o.pkg == e.pkg })
	return fmt.Sprintf("%04d_%s.up.sql", i+1, e.plural)
}

// snake is the lower-case words of a Go name, joined by underscores.
func snake(name string) string {
	var b strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			if i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}
