package upkeep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
)

// Night is a night's upkeep.
type Night struct {
	// Jobs run one after the other.
	Jobs []Job
	// Due returns why no upkeep is due, or "" if upkeep is due. It is called with the lock held.
	// If Due is nil, upkeep is due.
	Due func() (string, error)
	// Before is called once the run is certain. An error of Before ends the run. It may be nil.
	Before func(ctx context.Context) error
	Now    time.Time
}

// Job is a job, with the name under which the job is recorded.
type Job struct {
	Name string
	Run  func() error
}

// Nightly runs jobs, never two at a time. Only one process runs jobs at a time. It skips a job if
// the previous one failed. It appends the results to [api.JobsFile]. The state directory
// must exist.
func (k *Keeper) Nightly(ctx context.Context, n Night) (steps []api.NightlyStep, skipped string, err error) {
	unlock, err := lockNightly(k.State)
	if err != nil {
		return nil, "", fmt.Errorf("nightly: %w", err)
	}
	defer unlock()
	if n.Due != nil {
		if skipped, err := n.Due(); err != nil || skipped != "" {
			return nil, skipped, err
		}
	}
	k.last.Store(&consolidation.Snapshot{})
	k.derived.Store(k.readDerived())
	defer k.last.Store(nil)
	defer k.derived.Store(nil)
	steps, err = k.night(ctx, &n)
	if err == nil {
		err = k.writeDerived()
	}
	return steps, "", err
}

// derivedFile has the results for [consolidation.Derived]. Deleting it loses nothing.
const derivedFile = "derived.json"

// derivedDoc is the document in derivedFile. Results of another program don't count.
type derivedDoc struct {
	Program string            `json:"program"`
	Results map[string][]byte `json:"results"`
}

// program names the running program.
var program = sync.OnceValue(func() string {
	if file, err := os.Executable(); err == nil {
		if fi, err := os.Stat(file); err == nil {
			return fmt.Sprint(fi.Size(), fi.ModTime().UnixNano())
		}
	}
	return ""
})

// readDerived returns the results of the night before, none if they can't be read.
func (k *Keeper) readDerived() *consolidation.Derived {
	var doc derivedDoc
	data, err := k.State.Get(derivedFile)
	if err != nil || json.Unmarshal(data, &doc) != nil || doc.Program != program() {
		return &consolidation.Derived{}
	}
	return &consolidation.Derived{Known: doc.Results}
}

func (k *Keeper) writeDerived() error {
	used, changed := k.derived.Load().Used()
	if !changed || program() == "" {
		return nil
	}
	data, err := json.Marshal(derivedDoc{program(), used})
	if err != nil {
		return err
	}
	_, err = k.State.Put(store.Unsynced, store.Doc{Name: derivedFile, Data: data})
	return err
}

func (k *Keeper) night(ctx context.Context, n *Night) ([]api.NightlyStep, error) {
	if n.Before != nil {
		if err := n.Before(ctx); err != nil {
			return nil, err
		}
	}
	var out []api.NightlyStep
	failed := ""
	for _, j := range longwork.Over(ctx, "step", n.Jobs) {
		if failed != "" {
			out = append(out, api.NightlyStep{Step: j.Name, Outcome: "skipped", Error: failed + " failed"})
			continue
		}
		err := ctx.Err()
		if err == nil {
			err = j.Run()
		}
		c := api.NightlyStep{Step: j.Name, Outcome: "ok"}
		if err != nil {
			c.Outcome, c.Error, failed = "failed", err.Error(), j.Name
		}
		out = append(out, c)
		if err := k.recordJob(j.Name, c.Error, n.Now); err != nil {
			return out, fmt.Errorf("nightly: %w", err)
		}
	}
	return out, ctx.Err()
}

// lockNightly takes the lock that lets only one process do a night's upkeep.
func lockNightly(state store.Store) (func(), error) {
	release, err := state.Lock("nightly.lock", store.Alone)
	if held := (*store.LockedError)(nil); errors.As(err, &held) {
		return nil, api.ErrNightlyRuns
	}
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return release, nil
}

// LastRun returns when jobs last succeeded one after the other. This is the time of the last job.
// It is zero if the jobs never succeeded.
func LastRun(state store.Store, jobs ...string) (time.Time, error) {
	data, err := state.Get(api.JobsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read what jobs were done: %w", err)
	}
	var last time.Time
	at := 0
	for l := range strings.Lines(string(data)) {
		var j struct {
			Time       time.Time
			Job, Error string
		}
		switch {
		case json.Unmarshal([]byte(l), &j) != nil: // a kill cut the line short
		case j.Job != jobs[at] || j.Error != "":
			at = 0
			if j.Job == jobs[0] && j.Error == "" {
				at = 1
			}
		default:
			at++
		}
		if at == len(jobs) {
			last, at = j.Time, 0
		}
	}
	return last, nil
}

// mostJobBytes is the size from which the older half of the record of jobs is removed.
const mostJobBytes = 1 << 20 // 1 MiB

// recordJob appends how a job went.
func (k *Keeper) recordJob(name, failure string, now time.Time) error {
	line, err := json.Marshal(struct {
		Time  time.Time `json:"time"`
		Job   string    `json:"job"`
		Error string    `json:"error"`
	}{now.UTC(), name, strings.Join(strings.Fields(k.Masker.Text(failure)), " ")})
	if err != nil {
		return err
	}
	old, err := k.State.Get(api.JobsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("record the job %s: %w", name, err)
	}
	// Earlier versions appended, so that a kill could cut the last line short.
	_, err = k.State.Put(store.Synced, store.Doc{Name: api.JobsFile, Data: append(wholeLines(old), append(line, '\n')...)})
	return err
}

// wholeLines returns the whole lines of a record. Of a record that has grown too large it returns
// only the newer half.
func wholeLines(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] != '\n' {
		b = b[:len(b)-1]
	}
	if len(b) <= mostJobBytes {
		return b
	}
	b = b[len(b)/2:]
	for i, c := range b {
		if c == '\n' {
			return b[i+1:]
		}
	}
	return nil
}
