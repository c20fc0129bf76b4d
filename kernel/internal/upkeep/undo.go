package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
)

// Undo takes back an edit or, by hand, a curation, a pruning or another undo. If edit is "", it
// takes back the newest change of the session, or the newest change by hand or of upkeep. A file
// that is as the change left it gets its earlier content. From any other file, the lines that the
// change wrote are removed, and the lines that it removed are put back. If the change replaced a
// line and the new line was changed since, Undo changes nothing.
func (k *Keeper) Undo(ctx context.Context, e Editor, edit string) (*api.EditUndone, error) {
	if e.Rule == api.EditNone {
		return nil, api.ErrEditsOff
	}
	r, unlock, err := k.begin(ctx, api.RunUndo, e.Now, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	choose := changeToUndo
	if edit == "" {
		choose = newestChange
	}
	last, err := choose(r, &e, edit)
	if err != nil {
		return nil, err
	}
	out := &api.EditUndone{Edit: last.id, Kind: string(last.run.what()), Time: last.run.Time}
	var left []string
	for _, st := range last.run.Steps {
		if st.took(last.done) {
			some, err := r.takeBack(&e, last, st)
			if err != nil {
				return nil, err
			}
			left = append(left, some...)
		}
	}
	out.Left = strings.Join(left, "; ")
	if len(r.promise.Steps) == 0 {
		return nil, &api.EditError{Why: last.id + " changed nothing that could be taken back"}
	}
	r.removalsLast()
	r.promise.Undoes, r.promise.Session, r.promise.Person = last.id, e.Session, e.Voice == api.VoicePerson
	d, err := r.commit(ctx)
	if err != nil {
		return nil, err
	}
	if len(d.Kept) > 0 {
		return nil, notDone(r, &e, d)
	}
	for _, was := range last.run.Steps {
		if slices.ContainsFunc(r.promise.Steps, func(st *step) bool { return st.Path == was.Path }) {
			out.Files = append(out.Files, api.EditedFile{Path: was.Path, Version: d.Files[was.Path]})
		}
	}
	return out, nil
}

// changeToUndo returns the change with a name. It returns an error if the change was taken back
// already. An agent can't take back a change that a person made.
func changeToUndo(r *run, e *Editor, name string) (*logged, error) {
	l := r.named(name)
	switch {
	case l == nil, !e.mayUndo(l) && l.run.Kind != api.RunUndo:
		return nil, &api.EditError{Why: fmt.Sprintf("there is no edit %.40q: the answer of an edit names it", name)}
	case l.run.Person && e.Voice != api.VoicePerson:
		return nil, &api.EditError{Why: "a person made " + name + ", and no agent takes it back", Person: name}
	case l.undone:
		return nil, &api.EditError{Why: name + " was taken back before"}
	}
	if of := r.named(l.run.Undoes); of != nil && of.run.Kind == api.RunUndo {
		return nil, &api.EditError{Why: fmt.Sprintf("%s brought %s back: take %s back", name, of.run.Undoes, of.run.Undoes)}
	}
	return l, nil
}

// newestChange returns the newest change that an editor may take back without naming it.
func newestChange(r *run, e *Editor, _ string) (*logged, error) {
	if l := r.olderChange(e, nil); l != nil {
		return l, nil
	}
	if e.Voice == "" {
		return nil, &api.EditError{Why: "this session has no edit that could be taken back"}
	}
	others := ""
	for _, l := range slices.Backward(r.log) {
		switch {
		case !e.mayUndo(l) || l.undone || !l.took():
		case l.run.Person && e.Voice != api.VoicePerson:
			return nil, &api.EditError{Why: "the newest change, " + l.id + ", is a person's, and no agent takes it back", Person: l.id}
		default:
			others = cmp.Or(others, "; the newest change of an agent's session is "+l.id)
		}
	}
	return nil, &api.EditError{Why: "nothing was changed that could be taken back" + others}
}

// mayUndo reports whether a run is a change that an editor may take back by naming it.
func (e *Editor) mayUndo(l *logged) bool {
	return l.done != nil && (l.run.Kind == api.RunEdit || e.Voice != "" && (l.run.Kind == api.RunPrune || l.run.Kind == api.RunCurate))
}

// olderChange returns the newest change that an editor may take back without naming it and that
// came before the change than. It returns nil if there is none. If than is nil, all changes are
// searched.
func (r *run) olderChange(e *Editor, than *logged) *logged {
	before := r.log
	if i := slices.Index(r.log, than); i >= 0 {
		before = r.log[:i]
	}
	for _, l := range slices.Backward(before) {
		own := !l.run.Person || e.Voice == api.VoicePerson
		if e.mayUndo(l) && !l.undone && l.took() && own && (l.run.Kind != api.RunEdit || l.run.Session == e.Session) {
			return l
		}
	}
	return nil
}

// named returns the run with a name, or nil.
func (r *run) named(name string) *logged {
	return first(r.log, func(l *logged) bool { return l.id == name })
}

// took reports whether a step was carried out. After is "" for a removal.
func (st *step) took(d *done) bool {
	return d != nil && (st.Add != "" || st.Clear || d.Files[st.Path] == st.After)
}

// took reports whether any step of the run was carried out.
func (l *logged) took() bool {
	return slices.ContainsFunc(l.run.Steps, func(st *step) bool { return st.took(l.done) })
}

// later returns the newest change of a file that came after edit and was not undone. It returns ""
// if no such change exists.
func (r *run) later(edit, path string) string {
	for _, l := range slices.Backward(r.log) {
		switch {
		case l.id == edit:
			return ""
		case l.run.Kind != api.RunUndo && !l.undone && slices.ContainsFunc(l.run.Steps, func(st *step) bool { return st.Path == path && st.took(l.done) }):
			return l.id
		}
	}
	return ""
}

// takeBack promises the inverse of a step. left has the lines of the step that are missing now.
func (r *run) takeBack(e *Editor, last *logged, st *step) (left []string, err error) {
	before, err := r.backup(st.Before)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, r.notKept(e, last, st, "what it was before "+last.id)
	}
	if err != nil {
		return nil, err
	}
	if st.Clear {
		l, err := r.Files.ReadFile(st.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		// Later additions, and the part that stayed, follow the restored text.
		r.becomes(st.Path, l.Text, before+strings.TrimPrefix(l.Text, workstate.ForeignBuffer(before)))
		return nil, nil
	}
	now, err := r.present(e, last, st.Path)
	if err != nil {
		return nil, err
	}
	if r.secret(now.Text) {
		return nil, &api.SecretError{Path: st.Path}
	}
	after, err := r.after(st)
	gone := errors.Is(err, fs.ErrNotExist)
	if err != nil && !gone {
		return nil, err
	}
	// If somebody else wrote to the file while the run added its text, the hash is that of both
	// texts. The text itself is then compared, too.
	if now.Hash == last.done.Files[st.Path] && (st.Add == "" || gone || slices.Equal(strings.Fields(after), strings.Fields(now.Text))) {
		if st.Before == "" {
			r.removes(st.Path, now.Text)
		} else {
			r.becomes(st.Path, now.Text, before)
		}
		return nil, nil
	}
	in := inverse{before: linesOf(before), after: linesOf(after), now: linesOf(now.Text)}
	in.find()
	later := r.later(last.id, st.Path)
	refuse := func(why string) ([]string, error) {
		return nil, stale(r.Keeper, now, why, 0, strings.Join(in.gone, "\n"))
	}
	quote := func(lines []string) string {
		return fmt.Sprintf("%.200q", r.Masker.Text(strings.TrimSpace(strings.Join(lines, "\n"))))
	}
	switch {
	case later != "" && (gone || !now.Exists || st.Gone || len(in.gone) > 0):
		return refuse(fmt.Sprintf("it changed since %s, so nothing was taken back: take %s back first", last.id, later))
	case gone, !in.does && r.recast[cmp.Or(st.Add, st.After)] != "":
		return nil, r.notKept(e, last, st, "what "+last.id+" wrote")
	case !now.Exists:
		return refuse(fmt.Sprintf("the file was removed since %s, so nothing was taken back", last.id))
	case st.Gone:
		return refuse(fmt.Sprintf("%s removed it, and somebody made it again, so nothing was taken back", last.id))
	case in.lost != nil:
		return refuse(fmt.Sprintf("%s of %s was changed or taken out since, so nothing was taken back; before %s it was %s", quote(in.gone), last.id, last.id, quote(in.lost)))
	case !in.does && len(in.gone) > 0:
		return refuse(fmt.Sprintf("it changed since %s, and has none of the lines that %s wrote, so nothing was taken back", last.id, last.id))
	}
	text := in.text(now.Text)
	if e.Rule != api.EditAny {
		rec, unread := r.record()
		if touch := rec.Touches(st.Path, now.Text, text); touch != nil {
			touch.Text = r.Masker.Text(touch.Text)
			return nil, &api.PersonError{Touch: touch}
		}
		if err := unread(); err != nil {
			return nil, err
		}
	}
	if n := len(in.gone); n > 0 {
		left = []string{fmt.Sprintf("%s: %d line%s that %s wrote was changed or taken out since: what is there stays", st.Path, n, strings.Repeat("s", min(n-1, 1)), last.id)}
	}
	if body := strings.TrimSpace(strings.TrimPrefix(text, byteOrder)); st.Before == "" && (body == "" || strings.HasPrefix(body, "# ") && !strings.Contains(body, "\n")) {
		r.removes(st.Path, now.Text)
	} else {
		r.becomes(st.Path, now.Text, text)
	}
	return left, nil
}

// present reads a file of a change. For an undo of a pruning, all files of memory may be read.
func (r *run) present(e *Editor, last *logged, path string) (now standing, err error) {
	if of := r.named(last.run.Undoes); of != nil {
		last = of
	}
	if last.run.Kind != api.RunPrune {
		return r.standing(e, path)
	}
	now.Loaded, err = r.Files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return standing{Loaded: markdownstore.Loaded{File: markdownstore.File{Path: path}}}, nil
	}
	now.Exists = true
	return now, err
}

// notKept returns the error for a change whose backup is gone. The error names the next older
// change that can be taken back.
func (r *run) notKept(e *Editor, last *logged, st *step, what string) error {
	why := what + " is no longer kept: it was forgotten for good, or retention removed it"
	if l := r.olderChange(e, last); l != nil {
		why += fmt.Sprintf("; the change before it is %s, %s of %s: name it to take it back", l.id, l.run.what(), l.run.Steps[0].Path)
	}
	return &api.EditError{Path: st.Path, Why: why}
}

// inverse undoes the change of a file from before to after, in its present lines, now.
type inverse struct {
	before, after, now []string
	// drop marks the lines of now that the change wrote. put has the lines that the change removed,
	// by the line of now that they precede.
	drop map[int]bool
	put  map[int][]string
	// gone are the lines with content that the change wrote and that the file no longer has. lost
	// are the lines that the change had replaced by gone lines.
	gone, lost []string
	// does reports that the inverse removes or restores more than headings.
	does bool
}

// find compares the three texts and sets the other fields.
func (in *inverse) find() {
	in.drop, in.put = map[int]bool{}, map[int][]string{}
	was, is := aligned(in.after, in.before), aligned(in.after, in.now)
	since := map[string]bool{} // the lines that somebody wrote after the change
	for j, l := range in.now {
		since[l] = !slices.Contains(is, j)
	}
	for i, p := 0, 0; i < len(in.after) || p < len(in.before); {
		if i < len(in.after) && was[i] == p {
			i, p = i+1, p+1
			continue
		}
		from, taken := i, p
		for i < len(in.after) && was[i] < 0 {
			i++
		}
		for p < len(in.before) && (i == len(in.after) || p < was[i]) {
			p++
		}
		gone := len(in.gone)
		for n := from; n < i; n++ {
			if is[n] >= 0 {
				in.drop[is[n]] = true
			}
			if l := in.after[n]; hasContent(l) && is[n] < 0 {
				in.gone = append(in.gone, l)
			} else if hasContent(l) && l[0] != '#' {
				in.does = true
			}
		}
		back := slices.DeleteFunc(slices.Clone(in.before[taken:p]), func(l string) bool { return hasContent(l) && since[l] })
		if len(in.gone) > gone && slices.ContainsFunc(back, hasContent) {
			in.lost = append(in.lost, back...)
		}
		in.does = in.does || slices.ContainsFunc(back, hasContent)
		// The lines belong at the place of the first line that replaced them. If there is none,
		// they follow the nearest line above.
		at := 0
		there := func(j int) bool { return j >= 0 }
		if n := slices.IndexFunc(is[from:i], there); n >= 0 {
			at = is[from+n]
		} else {
			for n := from - 1; n >= 0 && at == 0; n-- {
				at = is[n] + 1
			}
		}
		in.put[at] = append(in.put[at], back...)
	}
	// Headings below which somebody else wrote stay, each with the blank lines around it.
	level := func(l string) int { return len(l) - len(strings.TrimLeft(l, "#")) }
	for j, l := range in.now {
		if !in.drop[j] || level(l) == 0 {
			continue
		}
		for n := j + 1; n < len(in.now) && (level(in.now[n]) == 0 || level(in.now[n]) > level(l)); n++ {
			if !in.drop[n] && hasContent(in.now[n]) {
				for _, kept := range []int{j - 1, j, j + 1} {
					if kept == j || kept >= 0 && strings.TrimSpace(in.now[kept]) == "" {
						delete(in.drop, kept)
					}
				}
			}
		}
	}
}

// text returns the text of now after the inverse. Of two blank lines that become adjacent, one is
// removed.
func (in *inverse) text(now string) string {
	var out []string
	cut := false
	for j := 0; j <= len(in.now); j++ {
		out = append(out, in.put[j]...)
		if j == len(in.now) || in.drop[j] {
			cut = true
			continue
		}
		if blank := strings.TrimSpace(in.now[j]) == ""; blank && cut && (len(out) == 0 || strings.TrimSpace(out[len(out)-1]) == "") {
			continue
		}
		out, cut = append(out, in.now[j]), false
	}
	text := strings.TrimRight(strings.Join(out, "\n"), "\n")
	if text != "" {
		text += "\n"
	}
	if strings.HasPrefix(now, byteOrder) {
		text = byteOrder + text
	}
	return text
}

// hasContent reports whether a line is neither blank nor a mark for upkeep.
func hasContent(l string) bool {
	l = strings.TrimSpace(l)
	return l != "" && !strings.HasPrefix(l, "<!-- mk:") && !strings.HasPrefix(l, "<!-- moved to ") && !strings.HasPrefix(l, "More memory: [")
}

// aligned returns, for each line of a, the index of the same line in b, or -1 if b lacks the line.
func aligned(a, b []string) []int {
	out := make([]int, len(a))
	i, j := 0, 0
	same := func(to int) {
		for ; i < to; i, j = i+1, j+1 {
			out[i] = j
		}
	}
	for l := range strings.SplitSeq(diffOf(a, b), "\n") {
		switch {
		case l == "":
		case l[0] == '@':
			from := 0
			_, _ = fmt.Sscanf(l, "@@ -%d,", &from)
			same(from - 1)
		case l[0] == '-':
			out[i] = -1
			i++
		case l[0] == '+':
			j++
		case l[0] == ' ':
			same(i + 1)
		}
	}
	same(len(a))
	return out
}
