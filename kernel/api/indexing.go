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
	// Full builds the index anew. Only the vectors of the old one are taken over. A file in its
	// place that is no index, or an index of a newer format, is moved aside.
	Full bool
	// Wait is how long to wait for another process that is indexing; default 10 s.
	Wait time.Duration
	// Approved sends texts to the embedder even if they exceed the limit in the kernel's
	// MemoryOptions.
	Approved bool
	// Progress, if not nil, is called with the progress of the reindex.
	Progress func(ReindexProgress)
}

// The stages of a reindex, and of a migration.
const (
	StageIndex = "index"
	StageEmbed = "embed"
	// StageVectors is the stage of a migration in which vectors are copied.
	StageVectors = "vectors"
)

// ReindexProgress is the progress of a reindex: in bytes of files to read, then in texts to
// embed.
type ReindexProgress struct {
	Stage       string
	Done, Total int64
	// FilesTotal is the number of files to read, 0 in other stages.
	Files, FilesTotal int
	Chunks            int
}

// Reindexed is the outcome of a reindex.
type Reindexed struct {
	index.SyncReport
	// Rebuilt is why the index was built anew; "" if it was not.
	Rebuilt string
	// Aside is the path to which the old file was moved, "" if it was not.
	Aside string
	// Skipped are files that look like memory and were not indexed.
	Skipped []SkippedFile
	// Notes are oddities of files that were indexed all the same.
	Notes []SkippedFile
	// Left is the Markdown of the workspace that is no memory.
	Left markdownstore.LeftOut
	// Estimate is the amount that had to be embedded, nil without an embedder.
	Estimate *EmbedEstimate
	// Embedded counts the new vectors, nil without an embedder. EmbedErr is why some are missing.
	Embedded *embed.FillReport
	EmbedErr error
	// Sessions reports which past sessions were read.
	Sessions sessions.Report
	// Stats is the index afterwards.
	Stats index.Stats
}

// SkippedFile is a file that was skipped, with the reason.
type SkippedFile struct {
	// Path ends in :line if the reason concerns one line.
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// EmbedEstimate is the amount that a reindex has to embed, counted before anything is sent.
type EmbedEstimate struct {
	// Texts is the number of texts without a vector of the model. Tokens estimates their size for
	// the model.
	Texts, Tokens int
	// Free: the model is on this machine. Otherwise Price is the price of its tokens, nil if that
	// is not known.
	Free  bool
	Price *embed.Price
}

// USD returns the estimated cost; ok is false if no price is known.
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

// EmbedLimit is the amount that a reindex may send without asking to a model that is not on this
// machine. Zero fields are no limit.
type EmbedLimit struct {
	USD    float64
	Tokens int
}

// EmbedLimitError is returned where a reindex would send more than its limit.
// Nothing was sent; kernel.Options.Approved sends it.
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

// Allow returns a *[LimitError] if the estimate exceeds the limit.
func (l EmbedLimit) Allow(e EmbedEstimate) error {
	usd, _ := e.USD()
	if e.Free || (l.USD == 0 || usd <= l.USD) && (l.Tokens == 0 || e.Tokens <= l.Tokens) {
		return nil
	}
	return &EmbedLimitError{Estimate: e, Limit: l}
}
