package api

import (
	"errors"
	"time"

	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/sessions"
)

// ForgetRequest selects the pages to forget.
type ForgetRequest struct {
	SessionKey string
	// IDs are pages and spans of the session, and hashes of blobs. A blob is
	// forgotten with every page that holds it, in all sessions.
	IDs []string
	// Session forgets all of the session; IDs must be empty then.
	Session bool
	// Reason is kept with the tombstones, secrets masked.
	Reason string
	// Apply does it. Without it the answer lists the planned changes, and nothing is written.
	Apply bool
	Now   time.Time
}

// Forgotten lists the pages that were forgotten, or would be.
type Forgotten struct {
	// Applied reports whether it was done.
	Applied bool            `json:"applied"`
	Pages   []ForgottenPage `json:"pages"`
	// Blobs are the removed blobs. Kept are blobs of these pages that other pages need too.
	Blobs []string `json:"blobs"`
	Kept  []string `json:"kept_blobs"`
	// Backups are those backups of memory's files that quote the pages, by hash. They are
	// removed, and their prunings can't be undone.
	Backups []string `json:"backups"`
	// Bytes is the size of the pages.
	Bytes int64 `json:"bytes"`
	// Already are ids that were forgotten before.
	Already []string `json:"already"`
	// Elsewhere names places that say the same in other words, and stay: pages of equal content,
	// texts that hosts wrote, entries of memory files.
	Elsewhere []string `json:"elsewhere"`
	// Transcripts are searchable documents that were made from the session. Their source
	// transcripts stay, and are not read again.
	Transcripts []sessions.Forgotten `json:"transcripts"`
	// Memory are files of facts that the session imported from other programs: its entries are
	// removed.
	Memory []ForgottenFacts `json:"memory"`
}

// ForgottenFacts are entries of a file of memory that were forgotten.
type ForgottenFacts struct {
	Path    string `json:"path"`
	Entries int    `json:"entries"`
}

// ForgottenPage is a page that was forgotten.
type ForgottenPage struct {
	// Session is the key of its session.
	Session string      `json:"session"`
	ID      string      `json:"id"`
	Type    pagevm.Type `json:"type"`
	// Tool is "" for a message, Path "" if the call names none.
	Tool    string    `json:"tool"`
	Path    string    `json:"path"`
	Bytes   int64     `json:"bytes"`
	Created time.Time `json:"created,omitzero"`
}

// ErrRetainRuns is returned where another process applies retention already.
var ErrRetainRuns = errors.New("another process is removing what is kept too long")

// RetainRequest sets how long data is kept; 0 is for ever.
type RetainRequest struct {
	// Blobs is the age from which large contents and media may be removed. The page stays, with
	// its shorter forms. Get answers FORGOTTEN for its content, which is stored again when the
	// host sends the message again.
	Blobs time.Duration
	// Usage is the age from which calls are dropped from usage.jsonl. Traces is the age from
	// which a trace that was put aside is removed.
	Usage, Traces time.Duration
	// Sessions is the age from which an unused session is removed as a whole. A session that this
	// or another process works with stays, and so does one whose pages memory names.
	Sessions time.Duration
	// Backups is the age of a run over memory's files from which its backups are removed. Those
	// that an undo of the newest pruning needs stay.
	Backups time.Duration
	// Apply does it. Without it the answer lists the planned changes, and nothing is written.
	Apply bool
	// Now is the moment that ages are counted to; zero takes the kernel's clock.
	Now time.Time
}

// Retained lists the data that was removed, or would be.
type Retained struct {
	// Applied reports whether it was done.
	Applied bool `json:"applied"`
	// Ended are sessions that are removed as a whole. Cited are the keys of equally old sessions
	// that stay, because memory names pages of them.
	Ended []EndedSession `json:"ended"`
	Cited []string       `json:"cited"`
	// Sessions are those that lose data, or that are old and stay.
	Sessions []RetainedSession `json:"sessions"`
	// Unreadable are sessions that can't be read. None of their data is removed, and no blob at
	// all, since they may hold it.
	Unreadable []health.Finding `json:"unreadable"`
	// Blobs and BlobBytes are the removed blobs, orphans among them: a kill between two writes
	// leaves blobs that no page of any session holds.
	Blobs     int   `json:"blobs"`
	BlobBytes int64 `json:"blob_bytes"`
	// Orphans are blobs that no page holds.
	Orphans     int   `json:"orphans"`
	OrphanBytes int64 `json:"orphan_bytes"`
	// Backups and BackupBytes are those of memory's files that are removed.
	Backups     int   `json:"backups"`
	BackupBytes int64 `json:"backup_bytes"`
}

// EndedSession is a session that is removed.
type EndedSession struct {
	// Session is its key, Last when it was used last.
	Session string    `json:"session"`
	Last    time.Time `json:"last"`
	// Bytes is the size of its folder, without blobs.
	Bytes int64 `json:"bytes"`
}

// RetainedSession is the data of one session that is removed.
type RetainedSession struct {
	// Session is its key.
	Session string `json:"session"`
	// Pages lose their content. Pointed are equally old pages that keep it, because a prompt or
	// memory points to them.
	Pages   int `json:"pages"`
	Pointed int `json:"pointed"`
	// Idle: the session has not been planned for so long that it has no prompt left.
	Idle bool `json:"idle"`
	// UsageRows is the number of rows that leave usage.jsonl. TraceBytes is the size of the
	// removed trace.
	UsageRows  int   `json:"usage_rows"`
	TraceBytes int64 `json:"trace_bytes"`
}

// SalvageRequest names a damaged session.
type SalvageRequest struct {
	SessionKey string
	// Project selects the state that all sessions share, instead of a session.
	Project bool
	// Apply moves damaged files aside, and continues with the sound records. Without it nothing
	// is written.
	Apply bool
}

// Salvaged lists the sound and the lost parts of a session.
type Salvaged struct {
	Session string `json:"session"`
	// Applied reports whether damaged files were put aside.
	Applied bool `json:"applied"`
	// Sound: nothing is damaged, and nothing was done.
	Sound bool `json:"sound"`
	// Records, Pages and Turns count the sound entries of the journal.
	Records int `json:"records"`
	Pages   int `json:"pages"`
	Turns   int `json:"turns"`
	// Lost are the stretches of the journal that can't be read. Unfit are whole records that
	// can't be used without them.
	Lost  []journal.Lost `json:"lost"`
	Unfit []string       `json:"unfit"`
	// Files are the other files that are damaged.
	Files []DamagedFile `json:"files"`
	// Aside are the paths to which damaged files were moved. Nothing reads them, and nothing
	// removes them.
	Aside []string `json:"aside"`
}

// DamagedFile is a file that can't be used.
type DamagedFile struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// EverywhereRequest selects words to forget wherever they occur.
type EverywhereRequest struct {
	// Words match without regard to case and to the blanks between them. If they are the key of a
	// session, that whole session is meant.
	Words string
	// Reason is kept with the tombstones, secrets masked.
	Reason string
	// Apply does it. Without it the answer lists the planned changes, and nothing is written.
	Apply bool
	Now   time.Time
}

// Everywhere lists the data that was forgotten wherever it occurred, or would be.
type Everywhere struct {
	// Applied reports whether it was done.
	Applied bool `json:"applied"`
	// Sessions are those that held the words, with the parts that are removed.
	Sessions []SessionForgotten `json:"sessions"`
	// Lines are the removed lines of the workspace's files.
	Lines []ForgottenLine `json:"lines"`
	// Backups are the removed backups of memory's files, by hash. Indexed reports that the index
	// was made anew without the words.
	Backups []string `json:"backups"`
	Indexed bool     `json:"indexed"`
	// Files and Bytes were searched for the words in the end: the whole state folder, as it is on
	// the disk, and the files that are memory. Left are places that still hold the words.
	Files int         `json:"files"`
	Bytes int64       `json:"bytes"`
	Left  []LeftPlace `json:"left"`
}

// SessionForgotten is the forgotten data of one session.
type SessionForgotten struct {
	Session string `json:"session"`
	// Whole: all of the session.
	Whole bool `json:"whole"`
	*Forgotten
}

// ForgottenLine is a line of a file of the workspace, from 1.
type ForgottenLine struct {
	Path string `json:"path"`
	// Line counts from 1, before anything was taken out.
	Line int    `json:"line"`
	Text string `json:"text"`
}

// LeftPlace is a place that still holds the words to be forgotten.
type LeftPlace struct {
	Path string `json:"path"`
	// Why says why the place still holds them, or what to do.
	Why string `json:"why"`
}
