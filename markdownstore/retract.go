package markdownstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ImportedDir holds text from other programs' memories. Text that was appended there is removed
// together with the session from which it came.
const ImportedDir = memoryDir + "/imported/"

// retracted is the outcome of Retract.
type retracted struct {
	// Gone counts the removed entries. Changed are the ids of the entries that somebody changed
	// meanwhile. These entries stay.
	Gone    int
	Changed []string
}

// Retract removes entries from a file that [Store.Append] wrote there, or from the later log that
// has the late entries of a closed one. entries holds the appended texts by id. Retract skips
// missing entries. If apply is false, it writes nothing.
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

// withoutEntry returns a text without an entry and its marker, and the blank line before it. same
// is false if the text above the marker is not the entry.
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
