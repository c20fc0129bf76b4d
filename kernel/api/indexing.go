package api

import (
	"fmt"
	"time"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/sessions"
)

// ReindexOptions are settings of one reindex; nil means the defaults.
type ReindexOptions struct {
	// Full rebuilds the index. Only the vectors of the old index are taken over. If the file at
	// the index's path is not an index, or is an index of a newer format, the file is moved
	// aside.
	Full bool
	// Wait is how long to wait for another process that is indexing; default 10 s.
	Wait time.Duration
	// Approved sends texts to the embedder even if they exceed the limit in the kernel's
	// MemoryOptions.
	Approved bool
	// Progress, if not nil, is called with the progress of the reindex.
	Progress func(ReindexProgress)
}

// ReindexProgress is the progress of a reindex. It is measured in bytes of files while files are
// read, then in texts to embed.
type ReindexProgress struct {
	// Stage is index, then embed.
	Stage       string
	Done, Total int64
	// FilesTotal is the number of files to read, 0 in other stages.
	Files, FilesTotal int
	Chunks            int
}

// Reindexed is the outcome of a reindex.
type Reindexed struct {
	index.SyncReport
	// Rebuilt is why the index was rebuilt; "" if it was not rebuilt.
	Rebuilt string
	// Aside is the path to which the old file was moved, "" if it was not moved.
	Aside string
	// Skipped are files that look like memory and were not indexed.
	Skipped []SkippedFile
	// Notes are oddities of files that were indexed all the same.
	Notes []SkippedFile
	// Left is the Markdown of the workspace that is not memory.
	Left markdownstore.LeftOut
	// Estimate is the amount that had to be embedded, nil without an embedder.
	Estimate *EmbedEstimate
	// Embedded counts the new vectors, nil without an embedder.
	Embedded *embed.FillReport
	// EmbedErr is why some vectors are missing.
	EmbedErr error
	// Sessions reports which past sessions were read.
	Sessions sessions.Report
	// Stats describes the index after the reindex.
	Stats index.Stats
}

// SkippedFile is a file that was skipped, with the reason.
type SkippedFile struct {
	// Path ends in :line if the reason concerns one line.
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// EmbedEstimate is the amount that a reindex has to embed. It is counted before anything is sent.
type EmbedEstimate struct {
	// Texts is the number of texts without a vector of the model. Tokens estimates their size for
	// the model.
	Texts, Tokens int
	// Free reports that the model runs on this machine.
	Free bool
	// Price is the price of tokens if the model runs elsewhere, nil if it is not known.
	Price *embed.Price
}

// USD returns the estimated cost. The result ok is false if no price is known.
func (e EmbedEstimate) USD() (usd float64, ok bool) {
	switch {
	case e.Free || e.Tokens == 0:
		return 0, true
	case e.Price == nil:
		return 0, false
	}
	return float64(e.Tokens) * e.Price.USD / 1e6, true
}

// String describes the estimate in one line.
func (e EmbedEstimate) String() string {
	s := fmt.Sprintf("about %d tokens in %d texts", e.Tokens, e.Texts)
	switch usd, known := e.USD(); {
	case e.Free:
		return s + ", on this machine"
	case !known:
		return s + ", at a price that is not known"
	case usd < 0.005:
		return s + ", under a cent"
	default:
		return s + fmt.Sprintf(", about $%.2f", usd)
	}
}

// EmbedLimit is the amount that a reindex may send to a model that is not on this machine without
// approval. A zero field sets no limit.
type EmbedLimit struct {
	USD    float64
	Tokens int
}

// EmbedLimitError is returned if a reindex would send more than its limit. Nothing was sent. To
// send the texts, set [ReindexOptions.Approved].
type EmbedLimitError struct {
	Estimate EmbedEstimate
	Limit    EmbedLimit
}

func (e *EmbedLimitError) Error() string {
	limit := fmt.Sprintf("%d tokens", e.Limit.Tokens)
	if usd, known := e.Estimate.USD(); known && e.Limit.USD > 0 && usd > e.Limit.USD {
		limit = fmt.Sprintf("$%.2f", e.Limit.USD)
	}
	return fmt.Sprintf("embed: %v, is more than the %s that are sent unasked", e.Estimate, limit)
}

// Allow returns an *[EmbedLimitError] if the estimate exceeds the limit.
func (l EmbedLimit) Allow(e EmbedEstimate) error {
	usd, _ := e.USD()
	if e.Free || (l.USD == 0 || usd <= l.USD) && (l.Tokens == 0 || e.Tokens <= l.Tokens) {
		return nil
	}
	return &EmbedLimitError{Estimate: e, Limit: l}
}
