package folder

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// DamagedFile is a file of a session's folder that can't be read.
type DamagedFile struct {
	In   store.Store
	Name string
	Err  error
}

// Damaged looks at the files of a session's folder that can be made again: the record of its owner
// and the derived files. Traces are in the folder on this machine.
func Damaged(dir, local store.Store, name string) (out []DamagedFile) {
	for _, name := range [...]string{RecordsFile, UsageFile} {
		_, err := journal.OpenJournalIn(dir, name, &journal.Options{ReadOnly: true, Derived: true})
		if err != nil {
			out = append(out, DamagedFile{dir, name, err})
		}
	}
	for _, name := range [...]string{trace.File, trace.OldFile} {
		if err := readTrace(local, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			out = append(out, DamagedFile{local, name, err})
		}
	}
	if name == Project {
		return out
	}
	if _, _, err := readWhose(dir, name); err != nil {
		out = append(out, DamagedFile{dir, WhoseFile, err})
	}
	return out
}

// readTrace reads a trace to its end.
func readTrace(in store.Store, name string) error {
	f, err := in.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	lines := io.NewSectionReader(f, 0, size)
	r, err := store.ReadTrace(in.Where(name), lines)
	if errors.Is(err, store.ErrNoTrace) {
		if _, oops := lines.Seek(0, io.SeekStart); oops != nil {
			return nil
		}
		if _, oops := bufio.NewReader(lines).ReadSlice('\n'); oops != nil && !errors.Is(oops, bufio.ErrBufferFull) {
			return nil // the trace was just begun, and has no whole line
		}
	}
	if err != nil {
		return err
	}
	for _, err := range r.Lines() {
		if err != nil {
			return err
		}
	}
	return nil
}

// SalvageHint returns advice on how to repair a session.
func SalvageHint(name string) string {
	of := "--session " + name
	if name == Project {
		of = "--project"
	}
	return "'memkernel salvage " + of + "' says what is sound and what is lost; with --apply it puts aside what is damaged"
}

// EndedDamage returns the findings for the log of sessions that ended.
func EndedDamage(state store.Store) []health.Finding {
	j, err := journal.OpenJournalIn(state, endedFile, &journal.Options{ReadOnly: true})
	if err != nil {
		f := Unreadable("", err)
		if errors.As(err, new(*store.LogError)) {
			f.Hint = "move it away: nobody can tell any more which sessions ended, and nothing else is lost"
		}
		return []health.Finding{f}
	}
	if err := j.Fault(); err != nil {
		f := health.Wrong("", fmt.Sprintf("how far %s was synced is not known: %v", state.Where(endedFile), err), "the next session that ends makes it good")
		f.Code = health.Journals
		return []health.Finding{f}
	}
	return nil
}

// Unreadable returns the finding for a session that can't be read.
func Unreadable(name string, err error) health.Finding {
	f := health.Wrong(name, err.Error(), SalvageHint(name))
	f.Code = health.Journals
	var d *store.LogError
	switch {
	case errors.As(err, &d):
		f.What = fmt.Sprintf("%s, line %d (byte %d): %s", d.File, d.Line, d.Offset, d.Reason)
	case errors.Is(err, fs.ErrPermission):
		f.Hint = "give yourself the right to read it; nothing is known to be damaged"
	case store.OutOfReach(err):
		f.Hint = "look again, and see to the disk if it lasts; nothing is known to be damaged"
	case store.Foreign(err):
		f.Hint = "move it away: what it leads to was not touched"
	case errors.Is(err, store.ErrNewer):
		f.Hint = "use the newer program"
	}
	return f
}
