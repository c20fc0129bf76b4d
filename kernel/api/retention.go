package api

import (
	"errors"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/sessions"
)

// ForgetRequest selects the pages to forget.
type ForgetRequest struct {
	SessionKey string
	// IDs are ids of pages and spans of the session, and hashes of blobs. A blob is forgotten
	// together with every page that holds the blob, in all sessions.
	IDs []string
	// Session forgets the whole session. IDs must be empty then.
	Session bool
	// Reason is kept with the tombstones, secrets masked.
	Reason string
	// Apply forgets the pages. Without it the answer lists the planned changes, and nothing is
	// written.
	Apply bool
	Now   time.Time
}

// Forgotten lists the pages that were forgotten, or would be.
type Forgotten struct {
	// Applied reports whether the pages were forgotten.
	Applied bool            `json:"applied"`
	Pages   []ForgottenPage `json:"pages"`
	// Blobs are the removed blobs.
	Blobs []string `json:"blobs"`
	// Kept are the blobs of the forgotten pages that stay because other pages need them.
	Kept []string `json:"kept_blobs"`
	// Backups are the hashes of the backups of memory's files that quote the pages. These backups
	// are removed, so that their prunings can't be undone.
	Backups []string `json:"backups"`
	// Bytes is the size of the pages.
	Bytes int64 `json:"bytes"`
	// Already are ids that were forgotten before.
	Already []string `json:"already"`
	// Elsewhere names other places with the same content, which stay: pages of equal content,
	// texts that hosts wrote, and entries of memory files.
	Elsewhere []string `json:"elsewhere"`
	// Transcripts are the searchable documents that were made from the session. The source
	// transcripts stay, but they are not read again.
	Transcripts []sessions.Forgotten `json:"transcripts"`
	// Memory lists the files of facts that the session imported from other programs. The
	// session's entries in them are removed.
	Memory []ForgottenFacts `json:"memory"`
}

// ForgottenFacts are entries of a file of memory that were forgotten.
type ForgottenFacts struct {
	Path    string `json:"path"`
	Entries int    `json:"entries"`
}

// ForgottenPage is a page that was forgotten.
type ForgottenPage struct {
	// Session is the key of the page's session.
	Session string      `json:"session"`
	ID      string      `json:"id"`
	Type    pagevm.Type `json:"type"`
	// Tool is the called tool, "" for a message.
	Tool string `json:"tool"`
	// Path is the path that the call names, "" if it names no path.
	Path    string    `json:"path"`
	Bytes   int64     `json:"bytes"`
	Created time.Time `json:"created,omitzero"`
}

// ErrRetainRuns is returned if another process is already applying retention.
var ErrRetainRuns = errors.New("another process is removing what is kept too long")

// RetainRequest sets how long data is kept. An age of 0 keeps the data for ever.
type RetainRequest struct {
	// Blobs is the age from which large contents and media may be removed. The page stays, with
	// its shorter forms. Get answers FORGOTTEN for the removed content. If the host sends the
	// message again, the content is stored again.
	Blobs time.Duration
	// Usage is the age from which calls are dropped from usage.jsonl. Traces is the age from
	// which a rotated trace file is removed.
	Usage, Traces time.Duration
	// Sessions is the age from which an unused session is removed as a whole. A session stays if
	// any process works with it, or if memory names its pages.
	Sessions time.Duration
	// Backups is the age from which the backups of a run over memory's files are removed. Backups
	// that an undo of the newest pruning needs stay.
	Backups time.Duration
	// Apply removes the data. Without it the answer lists the planned changes, and nothing is
	// written.
	Apply bool
	// Now is the moment that ages are counted to; zero takes the kernel's clock.
	Now time.Time
}

// Retained lists the data that was removed, or would be.
type Retained struct {
	// Applied reports whether the data was removed.
	Applied bool `json:"applied"`
	// Ended are the sessions that are removed as a whole.
	Ended []EndedSession `json:"ended"`
	// Cited are the keys of equally old sessions that stay because memory names their pages.
	Cited []string `json:"cited"`
	// Sessions are the sessions that lose data, and old sessions that stay.
	Sessions []RetainedSession `json:"sessions"`
	// Unreadable are the sessions that can't be read. Nothing is removed from them. While a
	// session is unreadable no blob is removed at all, since the session may hold it.
	Unreadable []health.Finding `json:"unreadable"`
	// Blobs counts the removed blobs, including orphans.
	Blobs int `json:"blobs"`
	// BlobBytes is the size of the removed blobs.
	BlobBytes int64 `json:"blob_bytes"`
	// Orphans counts the removed blobs that no page of any session holds. A kill between two
	// writes leaves such blobs.
	Orphans     int   `json:"orphans"`
	OrphanBytes int64 `json:"orphan_bytes"`
	// Backups counts the removed backups of memory's files.
	Backups int `json:"backups"`
	// BackupBytes is the size of these backups.
	BackupBytes int64 `json:"backup_bytes"`
}

// EndedSession is a session that is removed.
type EndedSession struct {
	// Session is the session's key.
	Session string `json:"session"`
	// Last is the time of the session's last use.
	Last time.Time `json:"last"`
	// Bytes is the size of the session's folder, without blobs.
	Bytes int64 `json:"bytes"`
}

// RetainedSession is the data of one session that is removed.
type RetainedSession struct {
	// Session is the session's key.
	Session string `json:"session"`
	// Pages counts the pages that lose their content.
	Pages int `json:"pages"`
	// Pointed counts the equally old pages that keep their content because a prompt or memory
	// points to them.
	Pointed int `json:"pointed"`
	// Idle: the session was last planned so long ago that it has no prompt left.
	Idle bool `json:"idle"`
	// UsageRows is the number of rows that are removed from usage.jsonl.
	UsageRows int `json:"usage_rows"`
	// TraceBytes is the size of the removed trace.
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
	// Applied reports whether damaged files were moved aside.
	Applied bool `json:"applied"`
	// Sound: nothing is damaged, and nothing was done.
	Sound bool `json:"sound"`
	// Records counts the sound records of the journal.
	Records int `json:"records"`
	// Pages counts the pages in these records.
	Pages int `json:"pages"`
	// Turns counts the turns in these records.
	Turns int `json:"turns"`
	// Lost are the stretches of the journal that can't be read.
	Lost []store.Lost `json:"lost"`
	// Unfit are intact records that can't be used without the lost ones.
	Unfit []string `json:"unfit"`
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
	// Words are matched without regard to case and to the amount of blanks between the words. If
	// Words is the key of a session, the whole session is forgotten.
	Words string
	// Also are other wordings to forget, by the same rules, such as earlier wordings of an entry.
	// Short wordings are ignored.
	Also []string
	// Reason is kept with the tombstones, secrets masked.
	Reason string
	// Apply forgets the words. Without it the answer lists the planned changes, and nothing is
	// written.
	Apply bool
	Now   time.Time
}

// Everywhere lists the data that was forgotten wherever it occurred, or would be.
type Everywhere struct {
	// Applied reports whether the words were forgotten.
	Applied bool `json:"applied"`
	// Sessions are the sessions that held the words, with their removed parts.
	Sessions []SessionForgotten `json:"sessions"`
	// Lines are the removed lines of the workspace's files.
	Lines []ForgottenLine `json:"lines"`
	// Backups are the hashes of the removed backups of memory's files.
	Backups []string `json:"backups"`
	// Indexed reports that the index was rebuilt without the words.
	Indexed bool `json:"indexed"`
	// Files counts the files that were searched for the words in the end: all files of the state
	// folder and the files of memory.
	Files int `json:"files"`
	// Bytes is the size of these files.
	Bytes int64 `json:"bytes"`
	// Left are the places that still hold the words.
	Left []LeftPlace `json:"left"`
}

// SessionForgotten is the forgotten data of one session.
type SessionForgotten struct {
	Session string `json:"session"`
	// Whole: the whole session was forgotten.
	Whole bool `json:"whole"`
	*Forgotten
}

// ForgottenLine is a removed line of a file of the workspace.
type ForgottenLine struct {
	Path string `json:"path"`
	// Line is the line's number in the file before the removal, counted from 1.
	Line int    `json:"line"`
	Text string `json:"text"`
}

// LeftPlace is a place that still holds the words to be forgotten.
type LeftPlace struct {
	Path string `json:"path"`
	// Why is the reason why the place still holds the words, or a remedy.
	Why string `json:"why"`
}
