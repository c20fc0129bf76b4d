package upkeep

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
)

// mostShown bounds the bytes that are shown of a file that changed after the agent read it.
const mostShown = 4 << 10

// EditPassage replaces or removes a passage of a file.
func (k *Keeper) EditPassage(ctx context.Context, e Editor, req *api.PassageRequest) (*api.Edited, error) {
	return k.editFile(ctx, e, req.Path, func(now standing) (api.EditFile, error) { return passage(k, now, req) })
}

// editFile carries out the change that plan returns for the present content of one file.
func (k *Keeper) editFile(ctx context.Context, e Editor, path string, plan func(now standing) (api.EditFile, error)) (*api.Edited, error) {
	return k.edit(ctx, e, func(r *run) ([]api.EditFile, error) {
		now, err := r.standing(&e, path)
		if err != nil {
			return nil, err
		}
		f, err := plan(now)
		return []api.EditFile{f}, err
	})
}

// passage returns the new content of a file.
func passage(k *Keeper, now standing, req *api.PassageRequest) (api.EditFile, error) {
	out := api.EditFile{Path: now.Path, Version: now.Hash}
	refuse := func(why string) (api.EditFile, error) {
		return out, &api.EditError{Path: now.Path, Why: why}
	}
	switch {
	case req.Old == "" && req.Version == "":
		return refuse("say what was read: the passage as old, or the file's version")
	case !req.Delete && strings.TrimSpace(req.Text) == "":
		return refuse("there is no text to put there: a passage is taken out by memory_delete")
	case !now.Exists:
		return out, stale(k, now, "there is no such file", 0, "")
	case k.secret(now.Text):
		return out, &api.SecretError{Path: now.Path}
	case req.Version != "" && req.Version != now.Hash:
		return out, stale(k, now, "it is not the version that was read", req.From, req.Old)
	}
	text := strings.ReplaceAll(now.Text, "\r\n", "\n")
	start, end, why := find(text, req)
	if why != "" {
		return out, stale(k, now, why, req.From, req.Old)
	}
	if req.Delete {
		out.Text = without(text, start, end)
		out.Remove = strings.TrimSpace(strings.TrimPrefix(out.Text, byteOrder)) == ""
		return out, nil
	}
	with := strings.TrimRight(strings.ReplaceAll(req.Text, "\r\n", "\n"), "\n")
	if out.Text = text[:start] + with + text[end:]; end == len(text) && strings.HasSuffix(text, "\n") || text == "" {
		out.Text += "\n" // the passage was the whole file
	}
	return out, nil
}

// find returns the position of a passage in a text with Unix line ends, without the end of the
// passage's last line. why describes how the present text differs from the passage that was read,
// "" if it does not.
func find(text string, req *api.PassageRequest) (start, end int, why string) {
	offsets := []int{0} // of the beginnings of lines, and of the text's end
	for l := range strings.Lines(text) {
		offsets = append(offsets, offsets[len(offsets)-1]+len(l))
	}
	last := len(offsets) - 1
	if req.From > last {
		return 0, 0, fmt.Sprintf("it has %d lines, and no line %d", last, req.From)
	}
	old := strings.Trim(strings.ReplaceAll(req.Old, "\r\n", "\n"), "\n")
	if old == "" {
		if req.From == 0 {
			return len(text) - len(strings.TrimPrefix(text, byteOrder)), len(text), ""
		}
		to := req.From + max(req.Lines, 1) - 1
		if to > last {
			return 0, 0, fmt.Sprintf("it has %d lines, and no line %d", last, to)
		}
		return offsets[req.From-1], len(strings.TrimSuffix(text[:offsets[to]], "\n")), ""
	}
	var lines []string
	for at := 0; ; at++ {
		n := strings.Index(text[at:], old)
		if n < 0 {
			break
		}
		at += n
		line := 1 + strings.Count(text[:at], "\n")
		if req.From == line {
			return at, at + len(old), ""
		}
		lines = append(lines, fmt.Sprint(line))
	}
	switch {
	case len(lines) == 0:
		return 0, 0, "old does not stand there"
	case len(lines) > 1:
		return 0, 0, fmt.Sprintf("old stands there %d times, on lines %s: give more of it, or the line by from", len(lines), strings.Join(lines[:min(len(lines), 20)], ", "))
	case req.From > 0:
		return 0, 0, fmt.Sprintf("old stands on line %s, not on line %d", lines[0], req.From)
	}
	start = strings.Index(text, old)
	return start, start + len(old), ""
}

// without returns a text without a passage. If whole lines are removed, the mark of an entry that
// becomes empty is removed, too. Of two blank lines that become adjacent, one is removed.
func without(text string, start, end int) string {
	lead, rest := text[:start], text[end:]
	if lead != "" && !strings.HasSuffix(lead, "\n") || rest != "" && !strings.HasPrefix(rest, "\n") {
		return lead + rest
	}
	rest = strings.TrimPrefix(rest, "\n")
	above := lead[strings.LastIndexByte(strings.TrimSuffix(lead, "\n"), '\n')+1:]
	if open := strings.TrimSpace(above); open == "" || strings.HasPrefix(open, "#") || strings.HasPrefix(open, "<!-- mk:") {
		if first, more, _ := strings.Cut(rest, "\n"); strings.HasPrefix(first, "<!-- mk:") {
			rest = more
		}
	}
	for (lead == "" || strings.HasSuffix(lead, "\n\n")) && strings.HasPrefix(rest, "\n") {
		rest = rest[1:]
	}
	if rest == "" {
		if lead = strings.TrimRight(lead, "\n"); lead != "" {
			lead += "\n"
		}
	}
	return lead + rest
}

// stale returns the error for a file that changed after it was read. The error shows the present
// lines at the requested place. The place is line from or, if from is 0, the entry that is most
// like old. Without a place the error shows the first lines.
func stale(k *Keeper, now standing, why string, from int, old string) error {
	e := &api.StaleError{Path: now.Path, Why: why}
	if !now.Exists {
		return e
	}
	masked := linesOf(k.Masker.Text(now.Text)) // masking may have joined the lines of a secret
	e.Version, e.Lines = now.Hash, len(masked)
	if from == 0 && old != "" {
		from = nearest(now.Path, strings.Join(masked, "\n"), old)
	}
	first := min(max(from-1, 0), max(len(masked)-1, 0))
	if from > 0 {
		first = max(first-1, 0)
	}
	size := 0
	for i := first; i < len(masked) && size+len(masked[i]) < mostShown; i++ {
		size += len(masked[i]) + 1
		e.EndLine = i + 1
	}
	if e.EndLine > 0 {
		e.StartLine = first + 1
		e.Text = strings.Join(masked[first:e.EndLine], "\n") + "\n"
	}
	return e
}

// stale is the function stale without a place.
func (k *Keeper) stale(now standing, why string) error { return stale(k, now, why, 0, "") }

// nearest returns the first line of the entry that shares the most words with old. It returns 0
// if no entry shares a third of the words.
func nearest(path, text, old string) int {
	words := slices.Compact(slices.Sorted(strings.FieldsSeq(consolidation.Key(old))))
	best, most := 0, len(words)/3
	for _, e := range consolidation.Entries(path, text) {
		shared, has := 0, strings.Fields(consolidation.Key(e.Text))
		for _, w := range words {
			if slices.Contains(has, w) {
				shared++
			}
		}
		if shared > most {
			best, most = e.StartLine, shared
		}
	}
	return best
}
