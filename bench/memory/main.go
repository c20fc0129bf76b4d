package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/health"
)

// options are the flags.
type options struct {
	sealed, pairs, whole, findings bool
	sessions, only, show           string
	workspaces                     string
	draw                           int
}

func main() {
	var o options
	flag.BoolVar(&o.sealed, "sealed", false, "judge the half of pairs and questions that is kept from making rules")
	flag.BoolVar(&o.whole, "whole", false, "judge all made workspaces over sixty nights, and not one over four")
	flag.BoolVar(&o.pairs, "pairs", false, "judge the planted statements alone, and say which were missed and which alarmed falsely")
	flag.BoolVar(&o.findings, "findings", false, "print the audits' findings, and people's lines and blocks that did not stay")
	flag.StringVar(&o.sessions, "sessions", "", "a `folder` with recorded sessions, at most two folders deep")
	flag.StringVar(&o.workspaces, "workspaces", "", "a `folder` of workspaces whose audits are counted, too")
	flag.StringVar(&o.only, "only", "", "this made `workspace` alone")
	flag.StringVar(&o.show, "show", "", "write what became of each workspace into this `folder`")
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
	if o.pairs {
		for _, m := range c.missed {
			fmt.Println("missed:", m)
		}
		for _, m := range c.alarmed {
			fmt.Println("false alarm:", m)
		}
		fmt.Printf("found %d of %d, %d false alarms on %d near misses\n", c.found, c.planted, c.alarms, c.near)
		return nil
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
	return printTable(ctx, o, c, lives, draw(all, 50))
}

// lifeOf lives through the nights of the made workspaces.
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
		if o.only != "" && o.only != name {
			continue
		}
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
		if o.show != "" {
			if err := os.CopyFS(filepath.Join(o.show, name), os.DirFS(dir)); err != nil {
				return nil, err
			}
		}
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
func printTable(ctx context.Context, o *options, c contradictions, lives []*lived, drawn []curated) error {
	var content, some, right, left, changed, entries, again, notes, noted, asked, answered, topics, kept int
	qs, err := questions(o.sealed)
	if err != nil {
		return err
	}
	var audits []string
	for _, l := range lives {
		if o.findings {
			printAudit(l.name, l.findings)
			for _, what := range slices.Concat(l.left, l.changed) {
				fmt.Printf("%s: did not stay as it was: %s\n", l.name, what)
			}
		}
		content, some, right = content+l.content, some+l.some, right+l.right
		entries, again, notes, noted = entries+len(l.curated), again+twice(l.curated), notes+l.notes, noted+l.noted
		left, changed = left+len(l.left), changed+len(l.changed)
		for i := range qs {
			if !l.sessions[qs[i].Session] {
				continue
			}
			asked++
			for _, c := range []struct {
				in    []string
				count *int
			}{{l.asked.memory, &answered}, {l.asked.topics, &topics}, {l.asked.all, &kept}} {
				if qs[i].answeredBy(c.in) {
					*c.count++
				}
			}
		}
		audits = append(audits, fmt.Sprintf("%s %d", l.name, len(l.findings)))
	}
	if o.workspaces != "" {
		more, err := auditFolders(ctx, o)
		if err != nil {
			return err
		}
		audits = append(audits, more...)
	}
	judged, good, err := useful(drawn)
	if err != nil {
		return err
	}
	half := "open"
	if o.sealed {
		half = "sealed"
	}
	was, err := baseline(half)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s/%s, %d processors, %s\n\n", time.Now().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), "memory "+strings.Join(os.Args[1:], " "))
	fmt.Printf("| %s half | floor | aim | before | now |\n|---|---|---|---|---|\n", half)
	row := func(what, floor, aim, now string) {
		fmt.Printf("| %s | %s | %s | %s | %s |\n", what, floor, aim, was[what], now)
	}
	row("people's lines that left MEMORY.md unasked", "0", "0", fmt.Sprint(left))
	row("people's blocks rendered differently", "0", "0", fmt.Sprint(changed))
	row("days with content on which something was curated", "80 %", "", share(some, content))
	row("days with content on which 3 to 8 entries were", "", "80 %", share(right, content))
	row("entries curated a second time", "", "", share(again, entries))
	row("people's notes worth keeping that were curated", "", "", share(noted, notes))
	row("useful of the drawn entries that were judged", "70 %", "90 %", fmt.Sprintf("%s, %d drawn", share(good, judged), len(drawn)))
	row("planted contradictions found", "60 %", "85 %", share(c.found, c.planted))
	row("false alarms by near misses", "2 %", "0.5 %", share(c.alarms, c.near))
	row("questions that MEMORY.md answers", "20 points over before", "80 %", share(answered, asked))
	row("questions that MEMORY.md and its topics answer", "", "", share(topics, asked))
	row("questions that any file of memory answers", "", "", share(kept, asked))
	row("findings of the audit", "", "at most 15 each", strings.Join(audits, ", "))
	return nil
}

func share(n, of int) string {
	if of == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f %% (%d of %d)", 100*float64(n)/float64(of), n, of)
}

// auditFolders counts the findings on workspaces as they are.
func auditFolders(ctx context.Context, o *options) ([]string, error) {
	all, err := os.ReadDir(o.workspaces)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, d := range all {
		from := filepath.Join(o.workspaces, d.Name())
		newest, err := newestDay(ctx, from)
		if err != nil {
			return nil, err
		}
		r, err := consolidation.Audit(ctx, os.DirFS(from), consolidation.Options{Now: newest.Add(20 * time.Hour), Timezone: time.UTC})
		if err != nil {
			return nil, err
		}
		if o.findings {
			printAudit(d.Name(), r.Findings)
		}
		out = append(out, fmt.Sprintf("%s %d", d.Name(), len(r.Findings)))
	}
	return out, nil
}

// newestDay is the day of a workspace's newest log.
func newestDay(ctx context.Context, dir string) (time.Time, error) {
	snap, err := consolidation.Read(ctx, os.DirFS(dir), 0)
	if err != nil {
		return time.Time{}, err
	}
	var days []string
	for i := range snap.Files {
		for _, e := range snap.Files[i].Entries {
			if !snap.Files[i].Evergreen() {
				days = append(days, e.Date)
			}
		}
	}
	if len(days) == 0 {
		return time.Time{}, fmt.Errorf("%s has no logs", dir)
	}
	return time.Parse(time.DateOnly, slices.Max(days))
}

func printAudit(name string, findings []health.Finding) {
	for i := range findings {
		fmt.Printf("%s: %s: %s\n", name, findings[i].Code, findings[i].String())
	}
}
