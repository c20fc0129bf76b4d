package document

import (
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// Reindex is the document of reindex.
type Reindex struct {
	Schema string `json:"schema"`
	// Index is the index file, or the database without its password.
	Index string `json:"index"`
	// Rebuilt is the reason why the index was rebuilt, "" if it was not rebuilt.
	Rebuilt string `json:"rebuilt"`
	// Aside is the place of the old file, "" if the old file is not kept.
	Aside   string         `json:"aside"`
	Files   reindexFiles   `json:"files"`
	Chunks  reindexChunks  `json:"chunks"`
	Vectors reindexVectors `json:"vectors"`
	// Sessions counts the past sessions, if past sessions are searched.
	Sessions reindexSessions `json:"sessions"`
	// Skipped lists the files that were not indexed. Notes lists oddities of the indexed files.
	Skipped []api.SkippedFile `json:"skipped"`
	Notes   []api.SkippedFile `json:"notes"`
	// LeftOut is the Markdown of the workspace that is not memory.
	LeftOut markdownstore.LeftOut `json:"left_out"`
	// Bytes is the number of bytes read. Seconds is the duration of the run.
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	// MBPerSecond is the number of megabytes (10⁶ bytes) read per second. ChunksPerSecond is the
	// number of chunks added per second.
	MBPerSecond     float64 `json:"mb_per_second"`
	ChunksPerSecond float64 `json:"chunks_per_second"`
	// IndexBytes is the size of the index on disk after the run.
	IndexBytes int64 `json:"index_bytes"`
}

// reindexSessions counts past sessions.
type reindexSessions struct {
	Listed int `json:"listed"`
	// Read counts the new, grown or rewritten sessions. Turns counts the turns read from these
	// sessions.
	Read  int `json:"read"`
	Turns int `json:"turns"`
	// Forgotten counts the forgotten sessions, which are not indexed again.
	Forgotten int `json:"forgotten"`
	// Removed counts the sessions that were removed because their transcript is gone or they were
	// forgotten.
	Removed int `json:"removed"`
}

// reindexFiles counts files.
type reindexFiles struct {
	Listed    int `json:"listed"`
	Added     int `json:"added"`
	Changed   int `json:"changed"`
	Removed   int `json:"removed"`
	Unchanged int `json:"unchanged"`
	// Read counts the files that were opened.
	Read int `json:"read"`
}

// reindexChunks counts chunks.
type reindexChunks struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Kept counts the unchanged chunks of changed files.
	Kept int `json:"kept"`
	// Reanalysed counts the chunks whose words were made again by newer rules.
	Reanalysed int `json:"reanalysed"`
	// Total is the number of chunks after the run.
	Total int64 `json:"total"`
}

// reindexVectors counts vectors.
type reindexVectors struct {
	// Model is "" without vectors.
	Model    string `json:"model"`
	Embedded int    `json:"embedded"`
	// Refused counts the texts that the provider rejects.
	Refused int `json:"refused"`
	// RefusedReason is the reason for the first refusal, "" if no text was refused.
	RefusedReason string `json:"refused_reason"`
	// Total is the number of chunks with a vector after the run.
	Total int64 `json:"total"`
	// Estimate is the amount of text to embed, counted before the run. It is null without a
	// provider.
	Estimate *estimate `json:"estimate"`
	// Error is the reason why vectors are missing, "" if no vector is missing.
	Error string `json:"error"`
}

// estimate counts the texts without a vector, and the price of their vectors.
type estimate struct {
	Texts int `json:"texts"`
	// Tokens is the approximate number of tokens.
	Tokens int `json:"tokens"`
	// CostUSD is null if the price is not known.
	CostUSD *float64 `json:"cost_usd"`
	// PriceSource is "" without a price.
	PriceSource string `json:"price_source"`
	PriceAsOf   string `json:"price_as_of"`
	// Text describes the estimate in words.
	Text string `json:"-"`
}

func ofEstimate(e *api.EmbedEstimate) *estimate {
	if e == nil {
		return nil
	}
	doc := &estimate{Texts: e.Texts, Tokens: e.Tokens, Text: e.String()}
	if usd, known := e.USD(); known {
		doc.CostUSD = &usd
	}
	if e.Price != nil {
		doc.PriceSource, doc.PriceAsOf = e.Price.Source, e.Price.AsOf
	}
	return doc
}

// OfReindex returns the document of a run on the index at path.
func OfReindex(r *api.Reindexed, path string) *Reindex {
	doc := &Reindex{Schema: "memkernel/reindex/v1", Index: path, Rebuilt: r.Rebuilt, Aside: r.Aside,
		Files:    reindexFiles{Listed: r.Files, Added: r.Added, Changed: r.Changed, Removed: r.Removed, Unchanged: r.Unchanged + r.Touched, Read: r.Read},
		Chunks:   reindexChunks{Added: r.ChunksAdded, Removed: r.ChunksRemoved, Kept: r.ChunksKept, Reanalysed: r.Reanalysed, Total: r.Stats.Chunks},
		Vectors:  reindexVectors{Model: r.Stats.Model, Total: r.Stats.Vectors},
		Sessions: reindexSessions{Listed: r.Sessions.Conversations, Read: r.Sessions.Read, Turns: r.Sessions.Turns, Forgotten: r.Sessions.Forgotten, Removed: r.Sessions.Removed},
		Skipped:  List(r.Skipped), Notes: List(r.Notes), LeftOut: r.Left, Bytes: r.Bytes, Seconds: r.Elapsed.Seconds(),
		MBPerSecond: r.MBPerSecond(), ChunksPerSecond: r.ChunksPerSecond(), IndexBytes: r.Stats.FileBytes}
	doc.LeftOut.Reasons, doc.LeftOut.First = List(r.Left.Reasons), List(r.Left.First)
	for _, f := range r.Failed {
		doc.Skipped = append(doc.Skipped, api.SkippedFile{Path: f.Path, Reason: f.Err.Error()})
	}
	doc.Vectors.Estimate = ofEstimate(r.Estimate)
	if e := r.Embedded; e != nil {
		doc.Vectors.Embedded, doc.Vectors.Refused = e.Embedded, e.Refused
		if e.RefusedErr != nil {
			doc.Vectors.RefusedReason = e.RefusedErr.Error()
		}
	}
	if r.EmbedErr != nil {
		doc.Vectors.Error = r.EmbedErr.Error()
	}
	return doc
}
