package upkeep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
)

// run is a run that is being prepared. It holds the project's open journal and the backups.
type run struct {
	*Keeper
	entries
	journal Journal
	batch   *store.Batch
	promise promise
	// held are the files that can't be backed up.
	held []string
}

// begin opens the project's journal for a run. If write is true, begin first finishes the work
// that a kill interrupted. If write is false, nothing may be committed.
func (k *Keeper) begin(ctx context.Context, kd api.RunKind, now time.Time, write bool) (*run, func(), error) {
	if k.Files == nil {
		return nil, nil, errOff
	}
	j, unlock, err := k.Project.Open(ctx, write)
	if err != nil {
		return nil, nil, err
	}
	all, err := readEntries(j)
	if err == nil && write && j.Unfinished() != nil {
		err = fmt.Errorf("finish what was begun before: %w", j.Unfinished())
	}
	if err != nil {
		if write {
			j.Forget()
		}
		unlock()
		return nil, nil, err
	}
	return &run{Keeper: k, journal: j, entries: all, batch: k.Backups.NewBatch(), promise: promise{Kind: kd, Time: now.UTC(), Day: k.Files.Today(now)}}, unlock, nil
}

// adds promises to append a text to a file of the run.
func (r *run) adds(path, before, text string) {
	st := &step{Path: path, Since: r.changed(path), ID: entryID(string(r.promise.Kind), r.id(), path, text), Add: r.need(path, text)}
	if before != "" {
		st.Before = r.before(path, before)
	}
	r.promise.Steps = append(r.promise.Steps, st)
}

// entryID returns the id of a run's addition, which derives from the addition's source. Markers
// in files hold the id.
func entryID(provenance ...string) string {
	h := sha256.New()
	for _, p := range provenance {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return "up-" + hex.EncodeToString(h.Sum(nil)[:8])
}

// before backs up the old content of a file, which an undo of a pruning or an edit needs.
func (r *run) before(path, text string) string {
	if r.promise.Kind == api.RunPrune || r.promise.Kind == api.RunEdit {
		return r.need(path, text)
	}
	return r.keep(text)
}

// changed returns the time of a file's last change, which is at most the time of the run.
func (r *run) changed(path string) time.Time {
	f, err := r.Files.Stat(path)
	if err != nil || f.ModTime.After(r.promise.Time) {
		return r.promise.Time
	}
	return f.ModTime.UTC()
}

// becomes promises to replace the text of a file.
func (r *run) becomes(path, before, after string) {
	st := &step{Path: path, Since: r.changed(path), After: r.need(path, asIs(before, after))}
	if f, err := r.Files.Stat(path); before != "" || err == nil && !f.ModTime.IsZero() {
		st.Before = r.before(path, before)
	}
	r.promise.Steps = append(r.promise.Steps, st)
}

// id returns the name of the run, which has the run's number.
func (r *run) id() string { return fmt.Sprintf("run-%d", len(r.log)+1) }

// commit promises the run and carries it out.
func (r *run) commit(ctx context.Context) (*done, error) {
	if len(r.held) > 0 {
		return nil, fmt.Errorf("%s: %s", strings.Join(r.held, ", "), heldBack)
	}
	if _, err := r.batch.Commit(ctx); err != nil {
		return nil, fmt.Errorf("back up: %w", err)
	}
	if err := appendLog(r.journal, r.id(), value{Run: &r.promise}, r.promise.Time); err != nil {
		r.journal.Forget()
		return nil, err
	}
	d, err := r.finish(ctx, r.journal, r.id(), &r.promise)
	r.Changed()
	return d, err
}

// Redo finishes promised work that a kill interrupted. The journal must be open for writing. Work
// that can't be done now stays promised.
func (k *Keeper) Redo(ctx context.Context, j Journal) error {
	if k.Files == nil {
		return nil
	}
	all, err := readEntries(j)
	for _, l := range all.log {
		if l.done == nil && err == nil {
			_, err = k.finish(ctx, j, l.id, l.run)
		}
	}
	return err
}

// finish carries out the promise of a run. It may be repeated.
func (k *Keeper) finish(ctx context.Context, j Journal, id string, p *promise) (*done, error) {
	d := &done{Run: id, Files: map[string]string{}}
	files := k.Files
	if p.Person {
		files = files.ByHand()
	}
	for _, st := range p.Steps {
		if p.isEdit() && len(d.Kept) > 0 {
			d.Kept = append(d.Kept, st.Path+": "+notReached)
			continue
		}
		kept, err := k.do(ctx, files, st)
		if err != nil && p.isEdit() && ctx.Err() == nil {
			kept, err = err.Error(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", p.Kind, st.Path, err)
		}
		if kept != "" {
			d.Kept = append(d.Kept, st.Path+": "+kept)
		}
	}
	for _, st := range p.Steps {
		if l, err := k.Files.ReadFile(st.Path); err == nil {
			d.Files[st.Path] = l.Hash
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return d, appendLog(j, id+":done", value{Done: d}, p.Time)
}

// changedMeanwhile is the reason for skipping a step whose file has changed.
const changedMeanwhile = "somebody changed it meanwhile: it was left as it is"

// notReached is the reason for skipping a step of an edit after another step failed.
const notReached = "it was left as it is, since not all could be done"

// do writes the new content of one file. If it leaves the file alone, it returns the reason.
func (k *Keeper) do(ctx context.Context, files *markdownstore.Store, st *step) (kept string, err error) {
	switch {
	case st.Clear:
		err = workstate.ClearBuffer(ctx, k.Files, st.Bytes, st.Before)
		if errors.Is(err, markdownstore.ErrConflict) || errors.Is(err, fs.ErrNotExist) {
			return "", nil // the step was done before, or somebody else emptied the file
		}
		return "", err
	case st.Add != "":
		return "", k.add(ctx, st)
	case st.Gone:
		err = files.Remove(ctx, st.Path, st.Before)
		if !errors.Is(err, markdownstore.ErrConflict) {
			return "", err
		}
		if _, err = files.ReadFile(st.Path); errors.Is(err, fs.ErrNotExist) {
			return "", nil // the step was done before
		}
		return changedMeanwhile, err
	}
	text, err := k.Backups.Get(st.After)
	if err != nil {
		return "", err
	}
	_, err = files.Replace(ctx, st.Path, st.Before, string(text))
	if !errors.Is(err, markdownstore.ErrConflict) {
		return "", err
	}
	l, err := files.ReadFile(st.Path)
	if err == nil && l.Hash == st.After {
		return "", nil // the step was done before
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return changedMeanwhile, nil
}

// add appends a text once. A file of standing instructions is replaced by its text with the
// addition, because no other writer appends to it.
func (k *Keeper) add(ctx context.Context, st *step) error {
	raw, err := k.Backups.Get(st.Add)
	if err != nil {
		return err
	}
	text, mark := string(raw), "<!-- mk:"+st.ID+" -->\n"
	if c, ok := markdownstore.Classify(st.Path); !ok || c.Kind != markdownstore.KindInstructions {
		_, err := k.Files.Append(ctx, st.Path, st.ID, text)
		return err
	}
	for {
		l, err := k.Files.ReadFile(st.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if strings.Contains("\n"+l.Text, "\n"+strings.TrimSuffix(mark, "\n")) {
			return nil
		}
		all := strings.TrimRight(l.Text, "\r\n") + "\n\n" + strings.Trim(text, "\n") + "\n" + mark
		_, err = k.Files.Replace(ctx, st.Path, l.Hash, asIs(l.Text, strings.TrimLeft(all, "\n")))
		if !errors.Is(err, markdownstore.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
}

// asIs returns a text with the line ends of before.
func asIs(before, text string) string {
	if n := strings.Count(before, "\n"); n == 0 || strings.Count(before, "\r\n") != n {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}
