package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Memory files are kept good by runs: what curation writes, what pruning moves, what
// an undo brings back. A run is one entry of a page of the project's journal:
//
//	backups/ab/abcd…   what each file was and becomes, by hash, durable first
//	run                the promise: which file becomes what, in which order, and the
//	                   tombstones of what leaves; synced
//	files              those that get something before those that lose it
//	done               what the files are now, and what was left alone
//
// From the promise on the run stands: a kill at any point is made good when the
// journal is next opened to be written. A file that somebody changed meanwhile is not
// overwritten: what it should get is appended, what it should lose stays, and the next
// run looks again. Backups go by retention, and where what they quote is forgotten; a file
// that holds a secret is not backed up, nor pruned (backups.go).
const (
	upkeepType  pagevm.Type = "upkeep"
	upkeepKey               = "upkeep"
	upkeepField             = "runs"
)

// runKind says what a run does.
type runKind string

const (
	runCurate runKind = "curate"
	runPrune  runKind = "prune"
	runUndo   runKind = "undo"
	// runSeen only keeps what MEMORY.md is.
	runSeen runKind = "seen"
)

// upkeepRun is the promise of a run.
type upkeepRun struct {
	Kind runKind   `json:"kind"`
	Time time.Time `json:"time"`
	Day  string    `json:"day"`
	// Steps are what becomes of files, in order.
	Steps []upkeepStep `json:"steps,omitempty"`
	// Graves are what leaves memory.
	Graves []entryGrave `json:"graves,omitempty"`
	// Reads are what was read of files that are emptied.
	Reads []readMark `json:"reads,omitempty"`
	// Entries counts what a curation gave MEMORY.md; Undoes is the run that an undo
	// takes back.
	Entries int    `json:"entries,omitempty"`
	Undoes  string `json:"undoes,omitempty"`
}

// upkeepStep is what becomes of one file. Hashes name backups.
type upkeepStep struct {
	Path string `json:"path"`
	// Before is what the file was, "" if there was none; Since is when it was last
	// changed.
	Before string    `json:"before,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	// Add is what it gets at its end under ID, After what it becomes. Clear takes
	// away its first Bytes, which have the hash Before.
	ID    string `json:"id,omitempty"`
	Add   string `json:"add,omitempty"`
	After string `json:"after,omitempty"`
	Clear bool   `json:"clear,omitempty"`
	Bytes int    `json:"bytes,omitempty"`
}

// entryGrave is the tombstone of an entry: what it said, by hash.
type entryGrave struct {
	Key  string `json:"key"`
	From string `json:"from"`
	To   string `json:"to,omitempty"`
	Why  string `json:"why"`
}

// readMark is what was read of a file.
type readMark struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
	Hash  string `json:"hash"`
}

// upkeepDone is that a run is through.
type upkeepDone struct {
	Run string `json:"run"`
	// Files are the hashes of what its files are, Kept what was left alone, and why.
	Files map[string]string `json:"files"`
	Kept  []string          `json:"kept,omitempty"`
}

// upkeepEntry is an entry of the page: one of the two.
type upkeepEntry struct {
	Run  *upkeepRun  `json:"run,omitempty"`
	Done *upkeepDone `json:"done,omitempty"`
}

// loggedRun is a run with what became of it.
type loggedRun struct {
	id     string
	run    upkeepRun
	done   *upkeepDone
	undone bool
}

// upkeepLog are the runs that the journal holds, in order.
func (s *session) upkeepLog() ([]loggedRun, error) {
	if s.journal == nil {
		return nil, nil
	}
	p, _ := s.journal.Store().Page(s.address(upkeepKey))
	f, _ := p.Field(upkeepField)
	var out []loggedRun
	at := map[string]int{}
	for _, e := range f.Entries {
		var b upkeepEntry
		if err := json.Unmarshal(e.Current().Value, &b); err != nil {
			return nil, fmt.Errorf("read entry %s of the project's journal: %w", e.ID, err)
		}
		if b.Done != nil {
			if i, ok := at[b.Done.Run]; ok {
				out[i].done = b.Done
			}
			continue
		}
		if b.Run == nil {
			continue
		}
		at[e.ID] = len(out)
		out = append(out, loggedRun{id: e.ID, run: *b.Run})
		if i, ok := at[b.Run.Undoes]; ok && b.Run.Kind == runUndo {
			out[i].undone = true
		}
	}
	return out, nil
}

// logUpkeep commits an entry to the journal.
func (s *session) logUpkeep(id string, e upkeepEntry, now time.Time) error {
	value, err := json.Marshal([]struct {
		ID    string      `json:"id"`
		Value upkeepEntry `json:"value"`
	}{{id, e}})
	if err != nil {
		return err
	}
	out, err := s.writeback(journal.Transaction{Key: "upkeep:" + id, Time: now, Point: journal.PointFlush,
		By: journal.Principal{Name: "upkeep", Session: s.name},
		Updates: []journal.Update{{Key: upkeepKey, Type: upkeepType, Field: upkeepField, Op: journal.OpAppend, Value: value,
			Scope: memkernel.ScopeSession, EvidenceRef: s.evidence()}}})
	if err == nil && len(out.Rejected) > 0 {
		err = &journal.RejectionError{Code: out.Rejected[0].Code, Detail: out.Rejected[0].Detail}
	}
	if err == nil && out.Outcome == journal.Conflict {
		err = errors.New("the run was promised with other contents")
	}
	return err
}

// graves are the tombstones that hold: those of runs that were not taken back.
func gravesOf(log []loggedRun) map[string]bool {
	out := map[string]bool{}
	for i := range log {
		if log[i].undone {
			continue
		}
		for _, g := range log[i].run.Graves {
			out[g.Key] = true
		}
	}
	return out
}

// asIs gives a text the line ends of the file that it is for.
func asIs(before, text string) string {
	if n := strings.Count(before, "\n"); n == 0 || strings.Count(before, "\r\n") != n {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// marked tells whether a text holds the marker of an entry.
func marked(text, id string) bool {
	return strings.Contains(text, "\n"+markerOf(id)) || strings.HasPrefix(text, markerOf(id))
}

func markerOf(id string) string { return "<!-- mk:" + id + " -->" }

// instructions tells a file that only grows by being replaced: nothing else may
// append to it.
func instructions(path string) bool {
	c, ok := markdownstore.Classify(path)
	return ok && c.Kind == markdownstore.KindInstructions
}
