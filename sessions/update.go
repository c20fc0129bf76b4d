package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/transcript"
)

// Lister lists conversations. A Lister must pass anything that it can't list to failed with its
// path. The documents of that place stay.
type Lister func(ctx context.Context, yield func(Conversation) bool, failed func(path string, err error))

// UpdateOptions are settings of one Update.
type UpdateOptions struct {
	// All also reads conversations that grew by less than the thresholds.
	All bool
	// Wait waits for another process that is updating, instead of returning
	// ErrBusy.
	Wait bool
	// Now is the moment at which the time without growth is measured. The zero value means the
	// present.
	Now time.Time
}

// Report is the result of an Update.
type Report struct {
	// Conversations counts the listed conversations. Read counts the conversations that were new
	// or had grown. Renewed counts those of Read that were read from the beginning. Waiting
	// counts the conversations that have grown by less than the thresholds. Forgotten counts the
	// forgotten conversations, which were not read.
	Conversations, Read, Renewed, Waiting, Forgotten, Removed int
	// Turns and Bytes count the turns and bytes that were read.
	Turns int
	Bytes int64
	// Failed lists the files and folders that could not be listed or read, by path. Their
	// documents stay.
	Failed []failure
}

// failure is a file or folder with its error.
type failure struct {
	Path string
	Err  error
}

// Update reads the new parts of the conversations that the listers list. It removes the documents
// of conversations that are gone or forgotten.
func (s *Store) Update(ctx context.Context, o UpdateOptions, from ...Lister) (Report, error) {
	var r Report
	release, err := s.lock(ctx, o.Wait)
	if err != nil {
		return r, err
	}
	defer release()
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	u := &update{Store: s, opts: o, report: &r, seen: map[string]bool{}}
	if u.tombs, err = s.tombs(); err != nil {
		return r, err
	}
	for _, l := range from {
		l(ctx, func(c Conversation) bool { u.conversation(ctx, &c); return ctx.Err() == nil },
			func(path string, err error) { r.Failed = append(r.Failed, failure{path, err}) })
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
	}
	return r, u.sweep()
}

type update struct {
	*Store
	opts   UpdateOptions
	report *Report
	tombs  *tombs
	seen   map[string]bool
}

// conversation brings one conversation's documents up to date.
func (u *update) conversation(ctx context.Context, c *Conversation) {
	c.Agent = cmp.Or(c.Agent, DefaultAgent)
	folder := strings.TrimSuffix(strings.TrimPrefix(Folder(c.Agent, c.Name), Prefix), "/")
	if u.seen[folder] {
		return
	}
	u.report.Conversations++
	if u.tombs.sessions[folder] != nil {
		u.report.Forgotten++
		return // sweep removes the rest
	}
	u.seen[folder] = true
	l := u.load(folder)
	touched, err := u.touched(folder, u.tombs)
	if touched {
		l = nil // a kill was between the tombstones and the removal
	}
	was, do := l, false
	if err == nil {
		was, do, err = u.due(c, l)
	}
	if err == nil && do {
		err = u.read(ctx, c, folder, was)
	}
	if errors.Is(err, ErrRewritten) || store.ReplacedLog(err) {
		u.report.Renewed++
		err = u.read(ctx, c, folder, nil)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		delete(u.seen, folder)
	case err != nil && ctx.Err() == nil:
		u.report.Failed = append(u.report.Failed, failure{c.Path, err})
	}
}

// due reports whether a conversation should be read now. It returns the log from which to
// continue, or nil if the conversation should be read from the beginning.
func (u *update) due(c *Conversation, l *log) (was *log, do bool, err error) {
	if l == nil || l.Path != c.Path {
		return nil, true, nil
	}
	if l.Size == c.Size && l.ModTime.Equal(c.ModTime) {
		return l, false, nil
	}
	grown, enoughGrown := c.Size-l.Position.Offset, u.Store.opts.DeltaBytes
	if c.Far { // each reading transfers all of it
		enoughGrown = max(enoughGrown, l.Position.Offset)
	}
	late := u.opts.All || u.opts.Now.Sub(c.ModTime) >= settle || grown >= enoughGrown
	if c.Far && !late && grown >= 0 {
		u.report.Waiting++
		return l, false, nil
	}
	if c.Far {
		return l, true, nil
	}
	sum, enough, err := hashPrefix(c, l.Position.Offset)
	if err != nil {
		return nil, false, err
	}
	if !enough || sum != l.Prefix || transcript.Dialect(l.Position.Dialect).Document() {
		u.report.Renewed++
		return nil, true, nil
	}
	if late {
		return l, true, nil
	}
	f, err := c.open()
	var more strings.Builder
	if err == nil {
		_, err = io.Copy(&more, io.NewSectionReader(f, l.Position.Offset, c.Size-l.Position.Offset))
		f.Close()
	}
	if do = err == nil && strings.Count(more.String(), "\n") >= u.Store.opts.DeltaMessages; !do {
		u.report.Waiting++
	}
	return l, do, err
}

// read writes the new turns as parts, and then the log.
func (u *update) read(ctx context.Context, c *Conversation, folder string, was *log) error {
	w := &partWriter{Store: u.Store, c: c, parts: u.in.In(folder), tombs: u.tombs}
	if err := w.begin(folder, was); err != nil {
		return err
	}
	from := w.log.Position
	at, err := c.Read(ctx, c, from, w.turn)
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		return err
	}
	l := &w.log
	l.Size, l.ModTime, l.Position = c.Size, c.ModTime, at
	if l.Prefix = ""; !c.Far {
		sum, enough, err := hashPrefix(c, at.Offset)
		if err != nil || !enough {
			return errors.Join(err, ctx.Err()) // the file shrank meanwhile: the next Update reads it from the beginning
		}
		l.Prefix = sum
	}
	if _, err := w.parts.Put(store.Synced, store.Doc{Name: marksName, Data: []byte(strings.Join(w.marks, "\n") + "\n")}); err != nil {
		return err
	}
	u.report.Read++
	u.report.Turns += w.turns
	u.report.Bytes += at.Offset - from.Offset
	return u.save(folder, l)
}

// sweep removes the documents of forgotten conversations. It also removes the documents of
// conversations that were not listed, unless their place could not be listed.
func (u *update) sweep() error {
	folders, err := u.folders()
	if err != nil {
		return err
	}
	for _, f := range folders {
		if u.seen[f] || u.tombs.sessions[f] == nil && u.unsure(f) {
			continue
		}
		if err := u.remove(f); err != nil {
			return err
		}
		u.report.Removed++
	}
	return nil
}

// unsure reports whether a conversation that was not listed may still exist.
func (u *update) unsure(folder string) bool {
	l := u.load(folder)
	if l == nil {
		return false
	}
	for _, f := range u.report.Failed {
		if f.Path == l.Path || strings.HasPrefix(l.Path, f.Path+"/") {
			return true // also for a string that is no file's path
		}
		abs, err := filepath.Abs(f.Path)
		if err != nil || l.Path == abs || strings.HasPrefix(l.Path, abs+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// partBytes is the size from which a part is followed by another.
const partBytes = 256 << 10

// partWriter writes the parts of one conversation.
type partWriter struct {
	*Store
	c     *Conversation
	parts store.Store
	tombs *tombs
	log   log
	// text is the text of the last part.
	text []byte
	// dirty reports whether text must be written.
	dirty bool
	turns int
	marks []string
}

// begin continues at the end of a log. If the last part is longer than the log says, begin cuts
// it back to the logged size.
func (w *partWriter) begin(folder string, was *log) error {
	w.log = log{Format: logFormat, Agent: w.c.Agent, Key: w.c.Key, Path: w.c.Path}
	if was == nil {
		return nil
	}
	if n := len(was.Parts); n > 0 {
		last := &was.Parts[n-1]
		text, err := w.Store.readPart(folder + "/" + last.Name)
		if err != nil || int64(len(text)) < last.Bytes {
			return nil // a part is missing, so all parts are made again
		}
		w.text = text[:last.Bytes]
		if w.marks, err = w.Store.marks(folder); err != nil {
			return err
		}
	}
	w.log = *was
	w.log.Parts = slices.Clone(was.Parts)
	return nil
}

// turn adds a turn, unless it was forgotten.
func (w *partWriter) turn(t Turn) error {
	t.Text = strings.TrimSpace(w.opts.Mask(t.Text))
	m := mark(&t)
	if t.Text == "" || w.tombs.turns[m] {
		return nil
	}
	date := ""
	if !t.Time.IsZero() {
		date = t.Time.In(w.opts.Location).Format(time.DateOnly)
	}
	if n := len(w.log.Parts); n == 0 || w.log.Parts[n-1].Date != date || len(w.text) >= partBytes {
		if err := w.flush(); err != nil {
			return err
		}
		name, title := fmt.Sprintf("%04d", n+1), fmt.Sprintf("# Session %s of %s", strings.Join(strings.Fields(w.c.Key), " "), strings.Join(strings.Fields(w.c.Agent), " "))
		if date != "" {
			name, title = name+"-"+date, title+", "+date
		}
		w.log.Parts = append(w.log.Parts, part{Name: name + ".md", Date: date})
		w.text = []byte(title + "\n")
	}
	w.marks = append(w.marks, m)
	w.text, w.dirty = appendTurn(w.text, &t, w.opts.Location), true
	w.log.Turns++
	w.turns++
	return nil
}

// flush writes the last part.
func (w *partWriter) flush() error {
	if !w.dirty {
		return nil
	}
	p := &w.log.Parts[len(w.log.Parts)-1]
	p.Bytes, w.dirty = int64(len(w.text)), false
	_, err := w.parts.Put(store.Synced, store.Doc{Name: p.Name, Data: w.text})
	return err
}
