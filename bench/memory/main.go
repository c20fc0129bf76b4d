package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	sealed, whole bool
	sessions      string
	draw          int
}

func main() {
	var o options
	flag.BoolVar(&o.sealed, "sealed", false, "judge the half of pairs and questions that is kept from making rules")
	flag.BoolVar(&o.whole, "whole", false, "judge all made workspaces over sixty nights, and not one over four")
	flag.StringVar(&o.sessions, "sessions", "", "a `folder` with recorded sessions, at most two folders deep")
	flag.IntVar(&o.draw, "draw", 0, "print so many of the entries that were curated, with their sources and verdicts")
	flag.Parse()
	if err := run(context.Background(), &o); err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o *options) error {
	c, err := judgePairs(ctx, o.sealed)
	if err != nil {
		return err
	}
	lives, err := lifeOf(ctx, o)
	if err != nil {
		return err
	}
	var all []curated
	for _, l := range lives {
		all = append(all, l.curated...)
	}
	if o.draw > 0 {
		return printDrawn(draw(all, o.draw))
	}
	return printTable(o, c, lives, draw(all, 50))
}

// lifeOf simulates the nights of the made workspaces.
func lifeOf(ctx context.Context, o *options) ([]*lived, error) {
	names, nights := workspaceNames, nightsOfLife
	if !o.whole {
		names, nights = names[:1], 4
	}
	paths := []string{bundled}
	if o.sessions != "" {
		found, err := filepath.Glob(filepath.Join(o.sessions, "*", "*.jsonl"))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("no recorded sessions in the folders of %s: %w", o.sessions, os.ErrNotExist)
		}
		paths = append(paths, found...)
	}
	var out []*lived
	for i, name := range names {
		var held []*recorded
		for _, p := range deal(paths, i) {
			r, err := load(p)
			if err != nil {
				return nil, err
			}
			held = append(held, r)
		}
		dir, err := os.MkdirTemp("", "memory-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		begun := time.Now()
		l, err := live(ctx, name, dir, held, nights)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "%s: %d nights, %d days with content, %d entries curated, %.0f s\n", name, nights, l.content, len(l.curated), time.Since(begun).Seconds())
		out = append(out, l)
	}
	return out, nil
}

func printDrawn(drawn []curated) error {
	vs, err := verdicts()
	for i := range drawn {
		d := &drawn[i]
		said := "no verdict"
		if v, ok := vs[d.key()]; ok {
			said = fmt.Sprintf("useful: %v, %s", v.Useful, v.Reason)
		}
		fmt.Printf("%s %s %s %v\n  %s\n  from %s\n  %s\n", d.key(), d.workspace, d.day, d.entry.Tags, d.entry.Text, d.entry.From, said)
	}
	return err
}

// printTable prints the table.
func printTable(o *options, c contradictions, lives []*lived, drawn []curated) error {
	qs, err := questions(o.sealed)
	if err != nil {
		return err
	}
	judged, good, err := useful(drawn)
	if err != nil {
		return err
	}
	var content, some, left, changed, notes, noted, asked, topics, kept int
	for _, l := range lives {
		content, some, notes, noted = content+l.content, some+l.some, notes+l.notes, noted+l.noted
		left, changed = left+len(l.left), changed+len(l.changed)
		for i := range qs {
			if !l.sessions[qs[i].Session] {
				continue
			}
			asked++
			if qs[i].answeredBy(l.asked.topics) {
				topics++
			}
			if qs[i].answeredBy(l.asked.all) {
				kept++
			}
		}
	}
	half := "open"
	if o.sealed {
		half = "sealed"
	}
	fmt.Printf("%s, %s/%s, %d processors, %s\n\n", time.Now().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), "memory "+strings.Join(os.Args[1:], " "))
	fmt.Printf("| %s half | now |\n|---|---|\n", half)
	for _, row := range [][2]string{
		{"people's lines that left MEMORY.md unasked", fmt.Sprint(left)},
		{"people's blocks rendered differently", fmt.Sprint(changed)},
		{"days with content on which something was curated", share(some, content)},
		{"people's notes worth keeping that were curated", share(noted, notes)},
		{"useful of the drawn entries that were judged", fmt.Sprintf("%s, %d drawn", share(good, judged), len(drawn))},
		{"planted contradictions found", share(c.found, c.planted)},
		{"false alarms by near misses", share(c.alarms, c.near)},
		{"questions that MEMORY.md and its topics answer", share(topics, asked)},
		{"questions that any file of memory answers", share(kept, asked)},
	} {
		fmt.Printf("| %s | %s |\n", row[0], row[1])
	}
	return nil
}

func share(n, of int) string {
	if of == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f %% (%d of %d)", 100*float64(n)/float64(of), n, of)
}
