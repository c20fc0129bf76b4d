package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

// askedAfter is the night after which questions are asked. nightsOfLife is the number of nights.
const (
	askedAfter   = 30
	nightsOfLife = 60
)

// curated is an entry that a night brought into MEMORY.md.
type curated struct {
	workspace string
	day       string
	entry     consolidation.Promoted
}

// lived is the result of a workspace's life.
type lived struct {
	name string
	// content is the number of days with a session or with a note that is worth keeping. some is the
	// number of those days on which an entry was curated.
	content, some int
	curated       []curated
	// notes counts the notes in people's logs that are worth keeping. noted counts those notes that
	// became an entry.
	notes, noted int
	// left holds lines of people that were in MEMORY.md at the beginning and are missing at the
	// end. changed holds blocks of people's files that are rendered differently.
	left, changed []string
	// asked holds the entries at the time when questions are asked.
	asked entries
	// sessions holds the sessions that were held so far.
	sessions map[string]bool
}

// live simulates the nights of a made workspace in a folder. The sessions are held one after
// another, one of their days each day.
func live(ctx context.Context, name, dir string, sessions []*recorded, nights int) (*lived, error) {
	l := &lived{name: name, sessions: map[string]bool{}}
	if err := layOut(name, dir, firstDay.AddDate(0, 0, -3)); err != nil {
		return nil, err
	}
	people, err := markdownIn(dir)
	if err != nil {
		return nil, err
	}
	clock := firstDay
	now := func() time.Time { return clock }
	set := func(t time.Time) { clock = t }
	k, err := kernel.Open(ctx, dir, &kernel.Options{Now: now, Memory: kernel.MemoryOptions{Store: markdownstore.Options{Timezone: time.UTC, Now: now}}})
	if err != nil {
		return nil, err
	}
	defer k.Close()
	session, part := 0, 0
	var worthy []dated
	for n := range nights {
		day := firstDay.AddDate(0, 0, n)
		date := day.Format(time.DateOnly)
		log, worth, err := dayOf(name, n)
		if err != nil {
			return nil, err
		}
		if log != "" {
			file := "memory/" + date + ".md"
			if err := put(filepath.Join(dir, filepath.FromSlash(file)), log, day.Add(9*time.Hour)); err != nil {
				return nil, err
			}
			people[file] = log
			for _, w := range worth {
				worthy = append(worthy, dated{file, w.text})
			}
		}
		held := session < len(sessions)
		if held {
			s := sessions[session]
			if err := s.observe(ctx, k, part, day, set); err != nil {
				return nil, err
			}
			l.sessions[s.name] = true
			if part++; part == len(s.days) {
				session, part = session+1, 0
			}
		}
		clock = day.Add(23*time.Hour + 30*time.Minute)
		night, err := k.Maintenance().Nightly(ctx, api.NightlyRequest{Now: clock, Audit: api.AuditOptions{Only: []health.Code{health.MemoryLoss}}})
		if err != nil || night.Failed() {
			return nil, fmt.Errorf("%s, night of %s: %+v, %w", name, date, night, err)
		}
		for _, e := range night.Curated.Entries {
			l.curated = append(l.curated, curated{name, date, e})
		}
		if held || len(worth) > 0 {
			l.content++
			if len(night.Curated.Entries) > 0 {
				l.some++
			}
		}
		if n == min(askedAfter, nights)-1 {
			if l.asked, err = entriesOf(ctx, dir); err != nil {
				return nil, err
			}
		}
	}
	after, err := markdownIn(dir)
	if err != nil {
		return nil, err
	}
	l.notes, l.noted = len(worthy), noted(worthy, people, l.curated)
	l.left = gone(people["MEMORY.md"], after["MEMORY.md"])
	for file, before := range people {
		for _, b := range changedBlocks(before, after[file]) {
			l.changed = append(l.changed, file+": "+b)
		}
	}
	return l, nil
}

// markdownIn reads the Markdown of a workspace.
func markdownIn(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && p != dir {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".md") {
			return nil
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	})
	return out, err
}

// entries holds the texts of entries. memory has the entries of MEMORY.md. topics adds the
// entries of the files about the state of things. all adds the entries of logs too.
type entries struct{ memory, topics, all []string }

func entriesOf(ctx context.Context, dir string) (out entries, err error) {
	snap, err := consolidation.Read(ctx, os.DirFS(dir), 0, nil)
	if err != nil {
		return out, err
	}
	for i := range snap.Files {
		for _, e := range snap.Files[i].Entries {
			out.all = append(out.all, e.Text)
			if snap.Files[i].Evergreen() {
				out.topics = append(out.topics, e.Text)
			}
			if snap.Files[i].Path == "MEMORY.md" {
				out.memory = append(out.memory, e.Text)
			}
		}
	}
	return out, nil
}

// dated is a note in the log of a day.
type dated struct{ file, text string }

// noted counts the notes that became an entry.
func noted(notes []dated, people map[string]string, entries []curated) (n int) {
	for _, d := range notes {
		lines := strings.Split(people[d.file], "\n")
		if slices.ContainsFunc(entries, func(c curated) bool {
			file, line, _ := strings.Cut(c.entry.From, "#L")
			at, err := strconv.Atoi(line)
			return err == nil && file == d.file && at <= len(lines) && strings.Contains(lines[at-1], d.text)
		}) {
			n++
		}
	}
	return n
}
