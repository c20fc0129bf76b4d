package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/erasure"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// DefaultSession is the key of a session that has none.
const DefaultSession = "default"

// session is the state of one session on disk, and its lines in memory.
type session struct {
	key    string // as the host spells it
	owner  folder.Owner
	name   string // the folder's name, from which page ids derive
	files  store.Store
	root   store.Store // the state directory
	blobs  *store.Blobs
	masker *mask.Masker // takes secrets out of all that is kept
	prices *cachelayout.Book

	mu sessionLock // held while the session is planned or observed
	// held tells that something of it is in memory, used when a call last used it, in
	// nanoseconds of the system's time; see [Kernel.ReleaseIdle].
	held    atomic.Bool
	used    atomic.Int64
	journal *journal.Journal // nil until there is something to write
	records *journal.Journal // projection.jsonl
	tracer  *trace.Writer    // trace.jsonl, nil if there is none
	pages   map[string]*pagevm.Page
	texts   map[string]string // representations and kernel blocks by hash
	lines   map[lineKey]*branch.State
	heard   map[lineKey]*ingest.Heard // what is observed of lines that are not planned here
	spans   map[string]branch.Span
	calib   *calibrations
	// account says how far the journal's pages have been read, contract what is
	// asked of everything that is written there.
	account  account
	contract contract
	// life keeps the working state; progress keeps cuts from being made for nothing.
	life     *workstate.Keeper
	progress ProgressOptions
	flushed  map[string]bool // what a flush has written, by hash
	// memory is the workspace's Markdown, nil if it is off.
	memory *memory
	now    func() time.Time
	// cut are the lines that were cut, lost is why no projection could be read.
	cut  map[lineKey]bool
	lost error
	// remembered are the entries of memory by id, unwritten those of them that
	// their file may not have yet.
	remembered map[string]workstate.Entry
	unwritten  map[string]bool
	// written are those that their file has, promises how many entries of the
	// journal's memory page are in remembered.
	written  map[string]bool
	promises int
	usage    usageLog
	left     archive.Left // what left the prompts and was searched
	graves   erasure.Ledger
	eraseErr error // why what was promised is not erased yet
	// upkeepErr is why a run over memory's files is not through yet.
	upkeepErr error
	// upkept: the journal ends with what retention or forgetting wrote.
	upkept bool
	// readOnly: the journals were opened for reading.
	readOnly bool
}

type lineKey struct{ branch, model string }

func (k *Kernel) newSession(key, name string) *session {
	dir := folder.In(k.state, name)
	s := &session{key: key, name: name, files: dir, root: k.state, blobs: k.blobs, readOnly: true, contract: k.contract, progress: k.life.Progress, masker: k.masker, prices: k.prices, memory: k.memory, now: k.now,
		mu: newSessionLock(), calib: &calibrations{state: k.state}}
	s.tracer = newTracer(dir, k.traces)
	s.life = k.keeper(s)
	s.init()
	return s
}

func (s *session) init() {
	s.pages = map[string]*pagevm.Page{}
	s.texts = map[string]string{}
	s.lines, s.heard = map[lineKey]*branch.State{}, map[lineKey]*ingest.Heard{}
	s.spans = map[string]branch.Span{}
	s.account, s.flushed = newAccount(), map[string]bool{}
	s.life.Forget()
	s.cut, s.lost = map[lineKey]bool{}, nil
	s.remembered, s.unwritten = map[string]workstate.Entry{}, map[string]bool{}
	s.written, s.promises, s.usage = map[string]bool{}, 0, usageLog{}
	s.left = archive.Left{}
	s.graves, s.upkept = erasure.NewLedger(), false
	s.owner.Unread()
}

// open gives the session of key with its lock held in this process, read from
// disk if this process has not seen it.
func (k *Kernel) open(ctx context.Context, key string, write bool) (*session, func(), error) {
	if key == "" {
		key = DefaultSession
	}
	name, err := folder.Of(k.state, key)
	if err != nil {
		return nil, nil, err
	}
	return k.openFolder(ctx, key, name, write)
}

// openFolder is open by the name of the session's folder; a key of "" is told by it.
func (k *Kernel) openFolder(ctx context.Context, key, name string, write bool) (*session, func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	s, err := k.sessions.take(name, func() *session { return k.newSession(key, name) })
	if err != nil {
		return nil, nil, err
	}
	if err := s.mu.LockContext(ctx); err != nil {
		return nil, nil, fmt.Errorf("open session %s: %w", s.key, err)
	}
	s.held.Store(true)
	s.used.Store(time.Now().UnixNano())
	unlock := s.mu.Unlock
	if write {
		switch release, err := s.lock(ctx); {
		case err == nil:
			unlock = func() { release(); s.mu.Unlock() }
		case store.Unwritable(err):
			write = false
		default:
			s.mu.Unlock()
			return nil, nil, err
		}
	}
	identify := func() (err error) {
		s.key, err = s.owner.Identify(s.root, s.name, s.key, key)
		return err
	}
	err = identify()
	if err == nil {
		err = s.refresh(write)
	}
	for range journalLooks {
		// Another process may have compacted or ended it: it reads well from the beginning.
		d := (*journal.DamageError)(nil)
		if damaged := errors.As(err, &d); !(damaged && d.Replaced()) && !((damaged || errors.Is(err, fs.ErrNotExist)) && s.journal != nil) {
			break
		}
		s.invalidate()
		if err = identify(); err == nil {
			err = s.refresh(write)
		}
	}
	if write && store.Unwritable(err) {
		s.invalidate()
		write, err = false, s.refresh(false)
	}
	if err != nil {
		s.invalidate()
		unlock()
		return nil, nil, fmt.Errorf("open session %s: %w", s.key, err)
	}
	tidy := s.readOnly && write // for the first time
	s.readOnly = s.readOnly && !write
	if tidy {
		// What killed processes left half written goes; what can't be removed is left to the next.
		_ = s.files.Tidy("", "state", "checkpoints")
		_ = s.root.Tidy("")
	}
	if write {
		if err := s.eraseAll(ctx, k); err != nil {
			s.invalidate()
			unlock()
			return nil, nil, fmt.Errorf("open session %s: %w", s.key, err)
		}
		s.redo(ctx, k.memory)
		if name == folder.Project {
			k.redoRuns(ctx, s)
		}
	}
	k.sessions.releaseOldest(k.keep, s)
	return s, unlock, nil
}

// journalLooks is how often a journal is read anew that another process may be
// rewriting.
const journalLooks = 4

// invalidate drops what was read, so that the next use reads it again.
func (s *session) invalidate() {
	for _, j := range []*journal.Journal{s.journal, s.records} {
		if j != nil {
			j.Close()
		}
	}
	s.tracer.Forget()
	s.held.Store(false)
	s.journal, s.records, s.readOnly = nil, nil, true
	s.init()
}

// ignoreState keeps a state directory out of the workspace's git. It is a
// courtesy: where it can't be written nothing else depends on it.
func ignoreState(state store.Store) error { return store.KeepOutOfGit(state) }

// lock takes the session's lock among processes, waiting as long as ctx lets it.
func (s *session) lock(ctx context.Context) (release func(), err error) {
	if release, err = folder.Lock(ctx, s.root, s.name); err != nil {
		return nil, fmt.Errorf("lock session %s: %w", s.key, err)
	}
	return release, nil
}

// refresh reads what this or another process has written since the last look.
func (s *session) refresh(write bool) error {
	if err := follow(&s.journal, s.files, folder.JournalFile, write, write && s.readOnly, s.replay); err != nil {
		return err
	}
	if err := s.recallAccount(); err != nil {
		return err
	}
	switch err := follow(&s.records, s.files, folder.RecordsFile, write, write && s.readOnly, s.replayPlan); {
	case err == nil:
		s.lost = nil
	case errors.Is(err, journal.ErrNewer), store.Unwritable(err):
		return err
	default:
		s.lose(err)
	}
	for _, l := range s.lines {
		l.RestoreLedger()
	}
	return nil
}

// lose forgets the projections: their file is damaged or gone. The next plan shows
// everything anew, at the price of a cache miss, and puts the file aside.
func (s *session) lose(cause error) {
	if s.records != nil {
		s.records.Close()
	}
	s.records, s.lost = nil, cause
	s.lines, s.heard = map[lineKey]*branch.State{}, map[lineKey]*ingest.Heard{}
}

// follow opens a journal, or looks for what was appended to it, and hands every
// record that is new to each. again says that it was opened for reading, and is opened
// anew to be written.
func follow(j **journal.Journal, in store.Store, name string, write, again bool, each func(journal.Record) error) error {
	if *j == nil || again {
		skip := 0
		if *j != nil {
			skip = (*j).Len()
			(*j).Close()
		}
		opened, err := journal.OpenJournalIn(in, name, &journal.Options{ReadOnly: !write, Derived: name == folder.RecordsFile, Each: func(r journal.Record) error {
			if skip--; skip >= 0 {
				return nil
			}
			return each(r)
		}})
		if err == nil {
			*j = opened
		}
		return err
	}
	recs, err := (*j).Refresh()
	if err != nil {
		return err
	}
	for _, r := range recs {
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, j := range []*journal.Journal{s.journal, s.records} {
		if j != nil {
			errs = append(errs, j.Close())
		}
	}
	return errors.Join(append(errs, s.tracer.Close())...)
}

// replay applies one journal record to the state in memory.
func (s *session) replay(r journal.Record) error {
	s.upkept = r.Op == erasure.OpForget || r.Op == erasure.OpForgotten
	switch r.Op {
	case ingest.Op:
		var b ingest.Body
		if err := unmarshal(r, &b); err != nil {
			return err
		}
		s.keepPages(b.Pages)
	case branch.OpCut:
		var b branch.Cut
		if err := unmarshal(r, &b); err != nil {
			return err
		}
		s.keepCut(&b)
	case opRemember:
		var b workstate.Entry
		if err := unmarshal(r, &b); err != nil {
			return err
		}
		s.remembered[r.ID], s.unwritten[r.ID] = b, true
	case erasure.OpForget, erasure.OpForgotten:
		dropped, err := s.graves.Keep(r, s.pages)
		if dropped {
			s.left = archive.Left{}
		}
		return err
	case opRemembered:
		delete(s.unwritten, r.ID)
		s.written[r.ID] = true
	case journal.OpStaged:
		if s.account.staged = nil; r.IsWriteback() {
			return nil // the journal's store has it
		}
		s.account.staged = &turnBody{}
		return unmarshal(r, s.account.staged)
	case journal.OpCommitted:
		if s.account.staged != nil {
			s.account.keepTurn(r.ID, s.account.staged)
		}
		s.account.staged = nil
	}
	return nil
}

// replayPlan applies one record of projection.jsonl.
func (s *session) replayPlan(r journal.Record) error {
	if r.Op != opPlan {
		return nil
	}
	var b branch.Record
	if err := unmarshal(r, &b); err != nil {
		return err
	}
	if b.Epoch != s.account.epoch {
		return nil // of before a reset
	}
	key := lineKey{b.Branch, b.Model}
	s.lines[key] = s.line(b.Branch, b.Model).Apply(s.key, &b)
	return nil
}

func unmarshal(r journal.Record, v any) error {
	if err := json.Unmarshal(r.Body, v); err != nil {
		return fmt.Errorf("read %s record %s: %w", r.Op, r.ID, err)
	}
	return nil
}

func (s *session) keepPages(pages []*pagevm.Page) {
	for _, p := range pages {
		s.pages[p.ID] = p
		s.graves.Back(p.ID)
		for _, r := range p.Reps {
			s.texts[r.Hash] = r.Text
		}
	}
}

func (s *session) keepCut(b *branch.Cut) {
	if len(b.Texts) > 0 {
		s.cut[lineKey{b.Branch, b.Model}] = true
	}
	for h, t := range b.Texts {
		s.texts[h] = t
	}
	for _, sp := range b.Spans {
		s.spans[sp.ID] = sp
	}
}

// line is the state of a conversation, a new one if there is none yet.
func (s *session) line(name, model string) *branch.State {
	if l := s.lines[lineKey{name, model}]; l != nil {
		return l
	}
	return branch.New(s.key, name, model)
}
