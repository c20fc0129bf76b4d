package main

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed testdata/workspaces
var made embed.FS

//go:embed testdata/notes.txt
var noteLines string

// workspaceNames lists the made workspaces, each in the style of a different person.
var workspaceNames = []string{"onelines", "templates", "vault", "chinese", "journal"}

// firstDay is the first day of every workspace.
var firstDay = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// note is a note about a day. Notes of the kind routine are not worth keeping.
type note struct{ lang, kind, text string }

func notes(lang string) (worth, routine []note, err error) {
	for n, line := range strings.Split(noteLines, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, " ;; ")
		if len(f) != 3 {
			return nil, nil, fmt.Errorf("notes.txt:%d: %d fields, want 3", n+1, len(f))
		}
		switch {
		case f[0] != lang:
		case f[1] == "routine":
			routine = append(routine, note{f[0], f[1], f[2]})
		default:
			worth = append(worth, note{f[0], f[1], f[2]})
		}
	}
	return worth, routine, nil
}

// layOut writes the files that a made workspace begins with.
func layOut(name, dir string, at time.Time) error {
	root := path.Join("testdata/workspaces", name)
	return fs.WalkDir(made, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := made.ReadFile(p)
		if err != nil {
			return err
		}
		return put(filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(p, root+"/"))), string(b), at)
	})
}

// put writes a file with a modification time.
func put(file, text string, at time.Time) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Chtimes(file, at, at)
}

// dayOf returns the log of the nth day of a workspace, counted from 0, in the style of the
// workspace. worth has the notes in the log that are worth keeping. Every third day has only
// routine, and every seventh day has no log.
func dayOf(name string, n int) (log string, worth []note, err error) {
	lang := "en"
	if name == "chinese" {
		lang = "zh"
	}
	good, routine, err := notes(lang)
	if err != nil || n%7 == 6 {
		return "", nil, err
	}
	for i := range 2 {
		if k := n - n/3 - n/7; n%3 != 2 && 2*k+i < len(good) {
			worth = append(worth, good[2*k+i])
		}
	}
	of := slices.Clone(worth)
	for i := range 3 {
		of = append(of, routine[(n*3+i)%len(routine)])
	}
	return inManner(name, firstDay.AddDate(0, 0, n), of), worth, nil
}

// inManner formats notes in the style of a workspace.
func inManner(name string, day time.Time, of []note) string {
	date := day.Format(time.DateOnly)
	var b strings.Builder
	switch name {
	case "templates":
		fmt.Fprintf(&b, "---\nmemory_type: session-derived\ntemplate: daily-v2\ndate: %s\nconfidence: 0.8\n---\n\n# Daily note %s\n\n> Fill in what happened. Leave empty what did not.\n\n## Decisions\n\n", date, date)
		section := func(title string, kinds ...string) {
			if title != "" {
				fmt.Fprintf(&b, "\n## %s\n\n", title)
			}
			for _, n := range of {
				for _, k := range kinds {
					if n.kind == k {
						fmt.Fprintf(&b, "- %s\n", n.text)
					}
				}
			}
		}
		section("", "decision")
		section("Learned", "lesson")
		section("Facts and wishes", "fact", "preference")
		section("Done", "routine")
		fmt.Fprintf(&b, "\n## Next\n\n- [ ] Fill in tomorrow's note\n\n---\n*Made with daily-v2. Do not edit this line.*\n")
	case "vault":
		fmt.Fprintf(&b, "---\ntags: [daily]\ncreated: %s\n---\n# %s\n\n← [[%s]] | [[%s]] →\n\n", date, date, day.AddDate(0, 0, -1).Format(time.DateOnly), day.AddDate(0, 0, 1).Format(time.DateOnly))
		for _, n := range of {
			fmt.Fprintf(&b, "- %s #%s\n", n.text, n.kind)
		}
		fmt.Fprintf(&b, "\nstatus:: open\n")
	case "journal":
		fmt.Fprintf(&b, "%s\n\n", day.Format("Monday, January 2"))
		for _, n := range of {
			fmt.Fprintf(&b, "%s ", n.text)
		}
		fmt.Fprintf(&b, "\n\nSo much for today.\n")
	case "chinese":
		fmt.Fprintf(&b, "# %s\n\n", date)
		for i, n := range of {
			fmt.Fprintf(&b, "- %02d:%02d %s\n", 9+i, 10*i, n.text)
		}
	default:
		fmt.Fprintf(&b, "# %s\n\n", date)
		for _, n := range of {
			fmt.Fprintf(&b, "- %s\n", n.text)
		}
	}
	return b.String()
}
