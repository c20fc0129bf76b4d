// Package session holds a session: the content of its journals, in memory, and its files.
// [Table.Read] and [Table.Write] open a session, and [Session.Recover] completes work that a kill
// interrupted. All
// writes go through the journal first. The package does not plan, and does not decide the content
// of a prompt.
package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/summary"
)

// Options are shared by all sessions of a kernel.
type Options struct {
	State    store.Store // the state directory
	Local    store.Disk  // the state directory of this machine, which holds the traces
	Blobs    *store.Blobs
	Masker   *mask.Masker // removes secrets from everything that is kept
	Prices   *cachelayout.Book
	Contract Contract       // the rules for all writes
	Memory   *memory.Memory // the workspace's Markdown, nil if memory is off
	Upkeep   *upkeep.Keeper // finishes runs over memory's files, and knows their backups
	Life     workstate.Options
	// Tracer returns the trace of the session whose folder on the disk is in, nil to have no trace.
	Tracer func(disk store.Disk, in string) *trace.Writer
	Now    func() time.Time
	// Keep is the number of sessions that stay in memory.
	Keep int
}

// At returns t, or the time of the clock if t is zero.
func (o *Options) At(t time.Time) time.Time {
	if t.IsZero() {
		return o.Now()
	}
	return t
}

// Session is the state of one session on disk, together with its conversations in memory. Unless
// stated otherwise, only the holder of the session may use its fields and methods: see
// [Table.Open].
type Session struct {
	Key    string // as the host spells it
	Name   string // the folder's name, from which the ids of pages derive
	Files  store.Store
	Local  store.Store // the session's folder on this machine
	Blobs  *store.Blobs
	Masker *mask.Masker

	o     *Options
	owner folder.Owner
	mu    lock // held while the session is planned or observed
	// held is set while a part of the session is in memory.
	held atomic.Bool
	// used is the time of the last use, in nanoseconds of the system's time; see
	// [Table.ReleaseIdle].
	used    atomic.Int64
	Journal *journal.Journal // nil until the first write
	records *journal.Journal // projection.jsonl
	Tracer  *trace.Writer    // trace.jsonl, nil without a trace

	Pages        map[string]*pagevm.Page
	Releveled    int               // pages whose representation changed
	Texts        map[string]string // representations and kernel blocks by hash
	Branches     branches
	Spans        map[string]branch.Span
	Calibrations calibrations
	// Account records which part of the journal's pages has been read.
	Account account
	// Life keeps the working state.
	Life     *workstate.Keeper
	Memories memories
	// Billed has the calls that are in usage.jsonl. It is nil until the first use.
	Billed map[string]bool
	Left   archive.Left // the searched text that left the prompts
	// Paces are the paces of the other sessions of the agent PacesOf, as they were when they were
	// first needed. They are nil before that.
	Paces   []cachelayout.Pace
	PacesOf string
	Graves  graves
	// EraseErr is the reason why a promised erasure is not done yet. upkeepErr is the reason why
	// a run over memory's files is not finished yet.
	EraseErr, upkeepErr error
	// Upkept reports that the journal ends with a record of retention or forgetting.
	Upkept bool
	// Spent is the cost of the call's writes; see [Session.TakeSpent].
	Spent api.Stats
	// unit is the holder's transaction for writing, nil for a reader. unlocked is the reason why
	// the session can't be written, although its holder wants to.
	unit     store.Unit
	unlocked error
	// shared is the number of next calls that first ask whether another process has written to the
	// session.
	shared int
	// untidy reports that the session was read and not opened for writing since.
	untidy bool
}

func newSession(o *Options, key, name string) *Session {
	dir := folder.In(o.State, name)
	s := &Session{Key: key, Name: name, Files: dir, Local: folder.In(o.Local, name), Blobs: o.Blobs, Masker: o.Masker, o: o, untidy: true,
		mu: lock{make(chan struct{}, 1)}, Tracer: o.Tracer(o.Local, folder.Path(name)), Calibrations: calibrations{state: o.State}}
	s.Life = &workstate.Keeper{Options: o.Life, Session: kept{s}, Files: dir, Mask: o.Masker, Sync: s.Sync}
	if o.Memory != nil {
		s.Life.Private, s.Life.Shared = o.Memory.Private, o.Memory.Shared
	}
	s.init()
	return s
}

func (s *Session) init() {
	s.Pages = map[string]*pagevm.Page{}
	s.Texts = map[string]string{}
	s.Spans = map[string]branch.Span{}
	s.Branches = branches{session: s.Key, cut: map[branch.Key]bool{}}
	s.Branches.drop()
	s.Account = account{Over: map[string]bool{}, Chains: map[string]string{}, Boundaries: map[string]int{}, Observed: map[string]summary.State{},
		Pending: map[string]int{}, summaries: map[string]int{}}
	s.Memories = memories{Entries: map[string]workstate.Entry{}, unwritten: map[string]bool{}, written: map[string]bool{}, flushed: map[string]bool{}}
	s.Life.Forget()
	s.Billed, s.Paces = nil, nil
	s.Left = archive.Left{}
	s.Upkept, s.Spent = false, api.Stats{}
	s.Graves = graves{Pages: map[string]grave{}, Unkept: map[string]grave{}, Blobs: map[string]bool{}, contents: map[string]bool{},
		condemned: map[string]*pagevm.Page{}, unerased: map[string]Promise{}}
	s.owner.Unread()
}

// Invalidate drops the data that was read, so that the next use reads the session again.
func (s *Session) Invalidate() {
	s.Journal, s.records = nil, nil // are read again
	s.Tracer.Forget()
	s.held.Store(false)
	s.untidy = true
	s.init()
}

// Sync makes the holder's writes so far durable. A holder must call it before it writes elsewhere
// anything that depends on these writes.
func (s *Session) Sync() error {
	if s.unit == nil {
		return nil
	}
	return s.unit.Sync()
}

// Refresh reads the writes of this and other processes since the last call.
func (s *Session) Refresh(write bool) error {
	if err := follow(&s.Journal, s.Files, folder.JournalFile, write, s.replay); err != nil {
		return err
	}
	if err := s.recallAccount(); err != nil {
		return err
	}
	if s.Name == folder.Project {
		return nil // the state that all sessions share is not planned
	}
	known := s.records != nil
	switch err := follow(&s.records, s.Files, folder.RecordsFile, write, s.replayPlan); {
	case err == nil:
		s.Branches.lost = nil
	case errors.Is(err, store.ErrNewer), store.Unwritable(err), store.OutOfReach(err):
		return err
	case known && s.Journal != nil && errors.As(err, new(*store.LogError)):
		// This process may hold data that it failed to write, so it reads the session again.
		return err
	default:
		s.records = nil
		// The next plan puts the file aside and builds a new projection, which costs a cache miss.
		s.Branches.drop()
		s.Branches.lost = err
	}
	for _, l := range s.Branches.All {
		l.RestoreLedger()
	}
	return nil
}

// follow opens a journal, or looks for appended records, and passes every new record to each.
func follow(j **journal.Journal, in store.Store, name string, write bool, each func(store.Record) error) error {
	if *j == nil {
		opened, err := journal.OpenJournalIn(in, name, &journal.Options{ReadOnly: !write, Derived: name == folder.RecordsFile, Each: each})
		if err == nil {
			*j = opened
		}
		return err
	}
	err := (*j).Refresh(each)
	if err == nil && write {
		(*j).Writable()
	}
	return err
}

// replay applies one journal record to the state in memory.
func (s *Session) replay(r store.Record) error {
	s.Upkept = r.Op == opForget || r.Op == opForgotten
	switch r.Op {
	case ingest.Op:
		return body(r, func(b *ingest.Body) { s.keepPages(b.Pages) })
	case branch.OpCut:
		return body(r, s.keepCut)
	case opRemember:
		return body(r, func(e *workstate.Entry) { s.Memories.Entries[r.ID], s.Memories.unwritten[r.ID] = *e, true })
	case opForget, opForgotten:
		return s.bury(r)
	case journal.OpRemembered:
		delete(s.Memories.unwritten, r.ID)
		s.Memories.written[r.ID] = true
	case journal.OpStaged:
		if s.Account.staged = nil; journal.IsWriteback(&r) {
			return nil // the journal's store has the record
		}
		return body(r, func(t *oldTurn) { s.Account.staged = t })
	case journal.OpCommitted:
		if t := s.Account.staged; t != nil {
			s.Account.Committed++
			s.Account.Chains[r.ID] = t.Chain
			if t.Summary.Offset.Messages >= s.Account.Observed[t.Branch].Offset.Messages {
				s.Account.Observed[t.Branch] = t.Summary
			}
		}
		s.Account.staged = nil
	}
	return nil
}

// replayPlan applies one record of projection.jsonl.
func (s *Session) replayPlan(r store.Record) error {
	if r.Op != opPlan {
		return nil
	}
	return body(r, func(b *branch.Record) {
		if b.Epoch == s.Account.Epoch { // a record from before a reset is skipped
			s.Branches.All[branch.Key{Branch: b.Branch, Model: b.Model}] = s.Branches.Of(b.Branch, b.Model).Apply(s.Key, b)
		}
	})
}

// body passes the body of a record to keep.
func body[T any](r store.Record, keep func(*T)) error {
	b := new(T)
	if err := unmarshal(r, b); err != nil {
		return err
	}
	keep(b)
	return nil
}

func unmarshal(r store.Record, v any) error {
	if err := json.Unmarshal(r.Body, v); err != nil {
		return fmt.Errorf("read %s record %s: %w", r.Op, r.ID, err)
	}
	return nil
}

func (s *Session) keepPages(pages []*pagevm.Page) {
	for _, p := range pages {
		if old := s.Pages[p.ID]; old != nil && len(old.Reps) != len(p.Reps) {
			s.Releveled++
		}
		s.Pages[p.ID] = p
		delete(s.Graves.Unkept, p.ID)
		for _, r := range p.Reps {
			s.Texts[r.Hash] = r.Text
		}
	}
}

func (s *Session) keepCut(b *branch.Cut) {
	if len(b.Texts) > 0 {
		s.Branches.cut[branch.Key{Branch: b.Branch, Model: b.Model}] = true
	}
	for h, t := range b.Texts {
		s.Texts[h] = t
	}
	for _, sp := range b.Spans {
		s.Spans[sp.ID] = sp
	}
}

// Bytes returns the sizes of the journal and of the projections, 0 for a file that was not read.
func (s *Session) Bytes() (pages, projections int64) {
	if s.Journal != nil {
		pages = s.Journal.Size()
	}
	if s.records != nil {
		projections = s.records.Size()
	}
	return pages, projections
}

// Keeps reports whether any content of the session is in memory.
func (s *Session) Keeps() bool { return len(s.Branches.All)+len(s.Branches.heard)+len(s.Pages) > 0 }

// ReadSalvaged reads the sound part of a damaged journal into the session, and skips the rest.
// Callers must invalidate the session afterwards.
func (s *Session) ReadSalvaged(j *journal.Salvage) error {
	s.Journal = j.Journal()
	var errs []error
	for _, r := range j.Records {
		if err := s.replay(r); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, s.recallAccount())...)
}

// Reader returns a reader of the contents of the session's pages.
func (s *Session) Reader() *archive.Reader {
	return &archive.Reader{Dir: s.Files, Journal: s.Journal, Blobs: s.Blobs, Retired: s.Graves.Retired}
}

// Archived returns everything that left the session's prompts, read from disk.
func (s *Session) Archived() (*retrieval.Spans, error) {
	var pages []string
	for _, id := range slices.Sorted(maps.Keys(s.Spans)) {
		pages = append(pages, s.Spans[id].Pages...)
	}
	spans, unread := s.Left.Take(s.Reader(), pages, func(id string) (*pagevm.Page, string, bool) { return s.Pages[id], "", false })
	if len(unread) > 0 {
		return nil, unread[0].Err
	}
	return spans, nil
}

// Page returns a private page of the session, if the journal has it.
func (s *Session) Page(key string) (journal.StoredPage, bool) {
	if s.Journal == nil {
		return journal.StoredPage{}, false
	}
	return s.Journal.Store().Page(addressIn(s.Name, key))
}

// Stored returns the pages that hosts wrote.
func (s *Session) Stored() []journal.StoredPage {
	if s.Journal == nil {
		return nil
	}
	var out []journal.StoredPage
	for _, p := range s.Journal.Store().Pages(s.Name) {
		if !bookkeeping(p.Type) {
			out = append(out, p.Copy())
		}
	}
	return out
}
