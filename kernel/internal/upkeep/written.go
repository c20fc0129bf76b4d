package upkeep

import (
	"errors"
	"io/fs"
	"strings"
)

// wrote tells which pieces of a file a curation or pruning wrote, by what the journal
// promised and the backups hold. What stands there otherwise than it was written is
// somebody else's, and so is everything of which there is no record. Backups are read
// when they are first asked for; err says why one could not be.
func (r *run) wrote() (wrote func(path, marker, text string) bool, err func() error) {
	adds := map[string]map[string]string{} // by path and marker: the backup of what was added
	for i := range r.log {
		for _, st := range r.log[i].run.Steps {
			if st.Add != "" {
				if adds[st.Path] == nil {
					adds[st.Path] = map[string]string{}
				}
				adds[st.Path][st.ID] = st.Add
			}
		}
	}
	var failed error
	known := map[string]map[string]bool{} // by path and marker
	return func(path, marker, text string) bool {
		key := path + "\x00" + marker
		if known[key] == nil {
			var lines map[string]bool
			var err error
			if marker == "" {
				lines, err = r.prunedInto(path)
			} else if hash := adds[path][marker]; hash != "" {
				lines, err = r.linesOfBackup(hash)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) && failed == nil {
				failed = err
			}
			if known[key] = lines; lines == nil {
				known[key] = map[string]bool{}
			}
		}
		return known[key][text]
	}, func() error { return failed }
}

// prunedInto are the lines that prunings wrote into a file that they took something
// out of.
func (r *run) prunedInto(path string) (map[string]bool, error) {
	out := map[string]bool{}
	for i := range r.log {
		for _, st := range r.log[i].run.Steps {
			if r.log[i].run.Kind != kindPrune || st.Path != path || st.After == "" {
				continue
			}
			before, err := r.linesOfBackup(st.Before)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			after, err := r.linesOfBackup(st.After)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			for l := range after {
				if !before[l] {
					out[l] = true
				}
			}
		}
	}
	return out, nil
}

// linesOfBackup are the lines of a backup.
func (r *run) linesOfBackup(hash string) (map[string]bool, error) {
	text, err := r.backup(hash)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for l := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		out[l] = true
	}
	return out, nil
}
