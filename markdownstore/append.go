package markdownstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
)

// Appended is the result of Append: the place of the entry.
type Appended struct {
	// Ref cites the entry's text, without its marker.
	Ref memkernel.Ref
	// Existed reports whether the entry already existed. Append then wrote nothing.
	Existed bool
	// Late is the requested path if that path is the log of a past day. The entry is then in
	// today's log and refers to Late. Otherwise Late is "".
	Late string
}

// appendTries is the number of attempts to append while an editor replaces the file.
const appendTries = 5

// Append adds an entry at the end of a file, durably. The id must identify the entry. If the
// file, or the file to which an earlier late call wrote, already holds an entry with this id,
// Append does not write it again, even if the text differs. Append makes missing files and
// folders. It begins the log of a day with the date as heading.
//
// Append writes the text as given, with four exceptions. It uses the line ends of the file. It
// drops blank lines before and after the text. It closes an open code fence. It puts a backslash
// before lines that could be taken for the marker of an entry.
func (s *Store) Append(ctx context.Context, path, id, text string) (Appended, error) {
	if err := checkEntry(id, text); err != nil {
		return Appended{}, fmt.Errorf("append to %s: %w", path, err)
	}
	var a Appended
	err := s.write(ctx, "append to", path, func(w Writer, pl place) (err error) {
		if pl.class.PageType == pageBootstrap || instructs(s.files, pl.info) {
			return deny(path, DenyInstructions)
		}
		a, err = s.appendAt(w, pl, id, entryText(text))
		return err
	})
	return a, err
}

// maxID bounds the id of an entry.
const maxID = 128 // bytes

// validID reports whether an id has only characters that are allowed in a marker.
func validID(id string) bool {
	for i := range len(id) {
		c := id[i]
		if !isDigit(c) && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '.' && c != '_' && c != ':' && c != '-' {
			return false
		}
	}
	return id != "" && len(id) <= maxID && !strings.Contains(id, "--")
}

func checkEntry(id, text string) error {
	switch {
	case !validID(id):
		return fmt.Errorf("entry id %.40q: want at most %d of [A-Za-z0-9._:-], without a double hyphen", id, maxID)
	case strings.TrimSpace(text) == "":
		return errors.New("the entry has no text")
	case strings.IndexByte(text, 0) >= 0:
		return errors.New("the entry holds zero bytes, which no text does")
	}
	return nil
}

// lateMark begins the line above an entry for a closed log.
const lateMark = "Late entry for "

// appendAt appends an entry to the file of a place. It appends an entry for a closed log to today's
// log, with a link to the closed log if that exists.
func (s *Store) appendAt(w Writer, pl place, id, text string) (Appended, error) {
	late, note := "", ""
	if s.isClosed(pl) {
		today := s.Today(s.opts.Now())
		for date := pl.class.Date; date < today; date = daysAfter(date, 1) {
			if a, err := s.findEntry(dailyPath(date), id, text); err != nil || a.Existed {
				return a, err
			}
		}
		name := strings.TrimPrefix(pl.path, memoryDir+"/")
		day := strings.TrimSuffix(name, ".md")
		if pl.info != nil {
			day = "[" + day + "](" + name + ")"
		}
		late, note = pl.path, lateMark+day+":\n\n"
		var err error
		if pl, err = s.locate(dailyPath(today)); err != nil {
			return Appended{}, err
		}
	}
	for range appendTries {
		a, settled, err := s.tryAppend(w, pl, id, text, note)
		if err != nil || settled {
			a.Late = late
			return a, err
		}
		if pl, err = s.locate(pl.path); err != nil {
			return Appended{}, err
		}
	}
	return Appended{}, fmt.Errorf("another program replaced the file %d times while it was being written", appendTries)
}

// daysAfter returns the date that is a number of days after date, which must be valid.
func daysAfter(date string, days int) string {
	t, _ := ParseDate(date, time.UTC)
	return t.AddDate(0, 0, days).Format(dateLayout)
}

// findEntry looks for an entry in a file that need not exist.
func (s *Store) findEntry(path, id, entry string) (Appended, error) {
	l, err := s.ReadFile(path)
	if err != nil {
		return Appended{}, gone(err)
	}
	ref, ok := findEntry(l.Path, l.Text, id, entry)
	return Appended{Ref: ref, Existed: ok}, nil
}

// tryAppend appends note and the entry, unless the file has the entry already. settled reports whether
// the path still names the file that has the entry.
func (s *Store) tryAppend(w Writer, pl place, id, text, note string) (a Appended, settled bool, err error) {
	if err := pl.checkWritable(s.opts.MaxFileBytes); err != nil {
		return a, false, err
	}
	now, settled, err := w.Append(pl.real, func(old string) (string, error) {
		if ref, ok := findEntry(pl.path, old, id, text); ok {
			a = Appended{Ref: ref, Existed: true}
			return "", nil
		}
		if why := binaryWhy(old); why != "" {
			return "", fmt.Errorf("the file is not text: %s", why)
		}
		return compose(pl, old, id, note+text), nil
	})
	if err != nil || !settled || a.Existed {
		return a, settled, pl.named(err)
	}
	a.Ref, settled = findEntry(pl.path, now, id, text)
	return a, settled, nil
}

// ImportedDir holds text from other programs' memories. Text that was appended there is removed
// together with the session from which it came.
const ImportedDir = memoryDir + "/imported/"

// retracted is the outcome of Retract.
type retracted struct {
	// Gone counts the removed entries. Changed lists the ids of entries that somebody has changed.
	// These entries are not removed.
	Gone    int
	Changed []string
}

// Retract removes entries that [Store.Append] appended to a file. If the file is a closed log, it also
// removes them from the later logs, which may have them as late entries. entries holds the appended
// texts by id. Retract skips missing entries. If apply is false, it writes nothing.
func (s *Store) Retract(ctx context.Context, path string, entries map[string]string, apply bool) (retracted, error) {
	out, err := s.retract(ctx, path, entries, apply)
	pl, lerr := s.locate(path)
	if err != nil || lerr != nil || !s.isClosed(pl) {
		return out, err
	}
	for date, today := daysAfter(pl.class.Date, 1), s.Today(s.opts.Now()); date <= today; date = daysAfter(date, 1) {
		late, err := s.retract(ctx, dailyPath(date), entries, apply)
		if err != nil {
			return out, err
		}
		out.Gone, out.Changed = out.Gone+late.Gone, append(out.Changed, late.Changed...)
	}
	return out, nil
}

func (s *Store) retract(ctx context.Context, path string, entries map[string]string, apply bool) (retracted, error) {
	for range appendTries {
		var out retracted
		l, err := s.ReadFile(path)
		if err != nil {
			return out, gone(err)
		}
		text := l.Text
		for id, entry := range entries {
			rest, found, same := withoutEntry(text, id, entryText(entry))
			switch {
			case same:
				text = rest
				out.Gone++
			case found:
				out.Changed = append(out.Changed, id)
			}
		}
		slices.Sort(out.Changed)
		if out.Gone == 0 || !apply {
			return out, nil
		}
		if _, err = s.Redact(ctx, path, l.Hash, text); err == nil {
			return out, nil
		}
		if !errors.Is(err, ErrConflict) {
			return retracted{}, err
		}
	}
	return retracted{}, fmt.Errorf("retract from %s: another program wrote to the file %d times meanwhile", path, appendTries)
}

// withoutEntry removes an entry, its marker and the blank line before it from a text. found reports
// whether the text has the marker. same is false if the text above the marker is not the entry.
func withoutEntry(text, id, entry string) (rest string, found, same bool) {
	start, end, found := findMarker(text, id)
	above, same := endsWith(text[:start], entry)
	if !found || !same {
		return text, found, false
	}
	before := text[:start-above]
	if i := strings.LastIndex(before, "\n"+lateMark); i >= 0 && strings.Count(before[i+1:], "\n") == 2 {
		before = before[:i+1]
	}
	if cut, blank := strings.CutSuffix(before, "\r\n\r\n"); blank {
		before = cut + "\r\n"
	} else if cut, blank := strings.CutSuffix(before, "\n\n"); blank {
		before = cut + "\n"
	}
	return before + text[end:], true, true
}
