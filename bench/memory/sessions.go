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

// bundled is the recorded session of the repository, from its root.
const bundled = "testdata/session.jsonl"

// partsPerSession is into how many days a session is cut at most.
const partsPerSession = 10

// recorded is a session as it is replayed.
type recorded struct {
	name string
	// id is the session's key, so that no two are the same.
	id, model string
	msgs      []memkernel.Message
	// days are the ends of its turns, by the day on which they are observed.
	days [][]int
}

// load reads a recorded session and cuts it at ends of turns into days of about as many
// turns each.
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
	ends := transcript.EndedTurns(r.msgs, true)
	if len(ends) == 0 {
		return nil, fmt.Errorf("%s: no turn has ended", path)
	}
	parts := min(partsPerSession, (len(ends)+2)/3)
	for i := range parts {
		r.days = append(r.days, ends[i*len(ends)/parts:(i+1)*len(ends)/parts])
	}
	return r, nil
}

// observe hands one day of a session to the kernel, turn by turn as hooks do, and makes
// it durable at its end. The day's messages are said from ten o'clock on.
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
