package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// undoPrune takes back a pruning: its files get their earlier contents, and the removed entries
// may be added again. If one of the files has changed since, nothing is done, and the error names
// the file.
func (r *run) undoPrune(ctx context.Context, last *logged) (*api.EditUndone, error) {
	out := undone(last)
	var changed []string
	for j := range last.run.Steps {
		if !last.run.Steps[j].took(last.done) {
			continue
		}
		ok, err := r.takeBack(last, &last.run.Steps[j])
		if err != nil {
			return nil, err
		}
		if path := last.run.Steps[j].Path; ok {
			out.Files = append(out.Files, api.EditedFile{Path: path})
		} else {
			changed = append(changed, path)
		}
	}
	if len(changed) > 0 {
		return nil, fmt.Errorf("%s changed since %s, so nothing was taken back: what they were is in %s by the hashes that the project's journal names for %s",
			strings.Join(changed, ", "), last.run.Time.Format(time.RFC3339), r.State.Where(BackupsFolder), last.id)
	}
	r.promise.Undoes = last.id
	_, err := r.commit(ctx)
	return out, err
}

// takeBack promises that a file gets its earlier content, if the file is still as the run left
// it.
func (r *run) takeBack(last *logged, st *step) (ok bool, err error) {
	l, err := r.Files.ReadFile(st.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	before, err := r.backup(st.Before)
	if errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("what %s was before %s is no longer kept: retention, or a request to forget what it quotes, removed the backup", st.Path, last.id)
	}
	if err != nil {
		return false, err
	}
	if st.Clear {
		// Later additions follow the restored text, as does the part that stayed.
		r.becomes(st.Path, l.Text, before+strings.TrimPrefix(l.Text, r.Buffer.Foreign(before)))
		return true, nil
	}
	if !r.isAsLeft(last, st, l) {
		return false, nil
	}
	r.becomes(st.Path, l.Text, before)
	return true, nil
}

// isAsLeft reports whether a file is as a run left it. If somebody else wrote to the file while the
// run added to it, taking the run back would lose what they wrote.
func (r *run) isAsLeft(last *logged, st *step, now markdownstore.Loaded) bool {
	same := now.Hash == last.done.Files[st.Path]
	if !same || st.Add == "" {
		return same
	}
	text, err := r.after(st)
	return errors.Is(err, fs.ErrNotExist) || err == nil && slices.Equal(strings.Fields(text), strings.Fields(now.Text))
}

func undone(l *logged) *api.EditUndone {
	return &api.EditUndone{Edit: l.id, Kind: string(l.run.Kind), Time: l.run.Time}
}
