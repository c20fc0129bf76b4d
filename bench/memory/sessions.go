package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// bundled is the path of the repository's recorded session, relative to the root.
const bundled = "testdata/session.jsonl"

// partsPerSession is the most days into which a session is cut.
const partsPerSession = 10

// recorded is a recorded session, ready to be replayed.
type recorded struct {
	name string
	// id is the session's key, which is different for each session.
	id, model string
	msgs      []memkernel.Message
	// days holds the ends of the session's turns, by the day on which the turns are observed.
	days [][]int
}

// load reads a recorded session and cuts it into days at ends of turns. Each day has about as
// many turns as the others.
func load(path string) (*recorded, error) {
	s, err := transcript.LoadFile(path, nil)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	if path == bundled {
		name = "sample"
	}
	r := &recorded{name: name, id: cmp.Or(s.ID, strings.TrimSuffix(name, ".jsonl")), model: s.Model, msgs: slices.Clone(s.View(transcript.Full))}
	ends := transcript.TurnEnds(r.msgs, true)
	if len(ends) == 0 {
		return nil, fmt.Errorf("%s: no turn has ended", path)
	}
	parts := min(partsPerSession, (len(ends)+2)/3)
	for i := range parts {
		r.days = append(r.days, ends[i*len(ends)/parts:(i+1)*len(ends)/parts])
	}
	return r, nil
}

// observe passes one day of a session to the kernel, turn by turn as hooks do, and flushes the
// session at the end of the day. The day's messages have times from ten o'clock on.
func (r *recorded) observe(ctx context.Context, k *kernel.Kernel, part int, day time.Time, set func(time.Time)) error {
	from := 0
	if part > 0 {
		before := r.days[part-1]
		from = before[len(before)-1]
	}
	begin := day.Add(10 * time.Hour)
	ends := r.days[part]
	last := ends[len(ends)-1]
	for i := from; i < last; i++ {
		r.msgs[i].Time = begin.Add(time.Duration(i-from) * time.Second)
	}
	for _, end := range ends {
		set(r.msgs[end-1].Time)
		_, err := k.ObserveTurn(ctx, api.Turn{SessionKey: r.id, Model: r.model, Messages: r.msgs[:end:end], Usage: r.msgs[end-1].Usage, Now: r.msgs[end-1].Time, Private: true})
		if err != nil {
			return fmt.Errorf("observe %s up to message %d: %w", r.name, end, err)
		}
	}
	now := begin.Add(9 * time.Hour)
	set(now)
	b := api.Boundary{SessionKey: r.id, Model: r.model, Messages: r.msgs[:last:last], Now: now, Private: true, Reason: "compaction"}
	if _, err := k.Checkpoint(ctx, b); err != nil {
		return fmt.Errorf("checkpoint %s: %w", r.name, err)
	}
	if _, err := k.Flush(ctx, b); err != nil {
		return fmt.Errorf("flush %s: %w", r.name, err)
	}
	return nil
}

// deal gives each workspace its sessions, in turn.
func deal(paths []string, workspace int) []string {
	var out []string
	for i := workspace; i < len(paths); i += len(workspaceNames) {
		out = append(out, paths[i])
	}
	return out
}
