package main

import (
	"fmt"
	"path"
	"strings"
	"time"
)

// The tools that the agent has. Each returns a call with the result that the
// world gives.

// read shows a file, or a part of it, with line numbers.
func (s *session) read(file string, span ...int) call {
	lines := strings.Split(strings.TrimSuffix(s.w.text(file), "\n"), "\n")
	from, to := 1, len(lines)
	input := []any{"file_path", workdir + "/" + file}
	if len(span) == 2 {
		from, to = span[0], min(len(lines), span[0]+span[1]-1)
		input = append(input, "offset", span[0], "limit", span[1])
	}
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%6d\t%s\n", i, lines[i-1])
	}
	return call{name: "Read", input: input, result: b.String()}
}

// edit replaces text in a file and shows the place.
func (s *session) edit(file, before, after string) call {
	text := s.w.text(file)
	if strings.Count(text, before) != 1 {
		panic(fmt.Sprintf("samplegen: edit of %s: text stands %d times", file, strings.Count(text, before)))
	}
	s.w.files[file] = strings.Replace(text, before, after, 1)
	at := s.w.line(file, after)
	show := s.read(file, max(1, at-3), strings.Count(after, "\n")+7)
	return call{name: "Edit", input: []any{"file_path", workdir + "/" + file, "old_string", before, "new_string", after},
		result: "The file " + workdir + "/" + file + " was changed. The lines around the change:\n" + show.result}
}

// create writes a new file.
func (s *session) create(file, text string) call {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\n"), "~", "`")
	s.w.files[file] = text
	return call{name: "Write", input: []any{"file_path", workdir + "/" + file, "content", text},
		result: fmt.Sprintf("Wrote %d bytes to %s/%s", len(text), workdir, file)}
}

// grep searches the files.
func (s *session) grep(needle, under string) call {
	var b strings.Builder
	for _, p := range s.w.paths(under) {
		for i, line := range strings.Split(s.w.files[p], "\n") {
			if strings.Contains(line, needle) {
				fmt.Fprintf(&b, "%s:%d:%s\n", p, i+1, line)
			}
		}
	}
	out := b.String()
	if out == "" {
		out = "No matches found"
	}
	return call{name: "Grep", input: []any{"pattern", needle, "path", under, "output_mode", "content", "-n", true}, result: out}
}

// glob lists files by extension.
func (s *session) glob(under, ext string) call {
	var out []string
	for _, p := range s.w.paths(under) {
		if strings.HasSuffix(p, ext) {
			out = append(out, workdir+"/"+p)
		}
	}
	return call{name: "Glob", input: []any{"pattern", under + "**/*" + ext}, result: strings.Join(out, "\n")}
}

// bash runs a command whose output the script knows.
func (s *session) bash(command, about, output string) call {
	return call{name: "Bash", input: []any{"command", command, "description", about}, result: output,
		takes: time.Duration(s.r.between(80, 2600)) * time.Millisecond}
}

// fails is bash with a non-zero exit.
func (s *session) fails(command, about string, code int, output string) call {
	c := s.bash(command, about, fmt.Sprintf("Exit code %d\n%s", code, output))
	c.failed = true
	return c
}

// slow makes a call take its time.
func slow(c call, d time.Duration) call {
	c.takes = d
	return c
}

// list is ls -l of a folder.
func (s *session) list(dir string) call {
	var b strings.Builder
	seen := map[string]bool{}
	fmt.Fprintf(&b, "total %d\n", s.r.between(24, 180))
	for _, p := range s.w.paths(dir) {
		rest := strings.TrimPrefix(p, dir)
		name, _, folder := strings.Cut(rest, "/")
		if seen[name] {
			continue
		}
		seen[name] = true
		mode, size := "-rw-r--r--  1", len(s.w.files[p])
		if folder {
			mode, size = "drwxr-xr-x  2", 4096
		}
		fmt.Fprintf(&b, "%s mika mika %6d Mar  %d %02d:%02d %s\n", mode, size, s.r.between(1, 8), s.r.between(7, 19), s.r.n(60), name)
	}
	return s.bash("ls -l "+path.Clean(workdir+"/"+dir), "List the folder", b.String())
}

// todo writes the task list.
func (s *session) todo(items ...string) call {
	type todo struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	}
	var list []todo
	for _, it := range items {
		status := "pending"
		switch it[0] {
		case '+':
			status = "completed"
		case '>':
			status = "in_progress"
		}
		list = append(list, todo{strings.TrimLeft(it, "+> "), status})
	}
	return call{name: "TodoWrite", input: []any{"todos", list}, result: "The task list was updated."}
}

// gitDiff is the change since the last commit, in unified form with whole-file
// hunks cut to the changed lines and three around them.
func (s *session) gitDiff(files ...string) call {
	var b strings.Builder
	for _, f := range files {
		b.WriteString(unified(f, s.w.committed[f], s.w.text(f), s.r))
	}
	return s.bash("git diff -- "+strings.Join(files, " "), "Show the change", b.String())
}

// commit records everything and answers like the version control.
func (s *session) commit(subject string, files ...string) call {
	added, gone := 0, 0
	for _, f := range files {
		a, g := changed(s.w.committed[f], s.w.files[f])
		added, gone = added+a, gone+g
	}
	s.w.commit()
	return s.bash("git add -A && git commit -q -m "+encode(subject)+" && git log --stat -1 --oneline", "Commit",
		fmt.Sprintf("%s %s\n %s\n %d files changed, %d insertions(+), %d deletions(-)\n", s.r.hex(7), subject, strings.Join(files, "\n "), len(files), added, gone))
}
