package cachelayout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// bookVersion is the format of a price file.
//
//	1: first format
const bookVersion = 1

// priceRow is one dated line of a price file:
//
//	{"version": 1, "rows": [
//	  {"id": "...", "provider": "...", "tokenizer": "...",
//	   "context_window": 0, "max_output": 0, "min_cache_tokens": 0,
//	   "cache": "anthropic", "ttls": ["5m", "1h"],
//	   "effective_from": "2026-10-07", "as_of": "...", "source": "...",
//	   "tiers": [{"above_tokens": 0, "input": 2, "output": 10,
//	              "write_5m": 2.5, "write_1h": 4, "read": 0.1}]}]}
//
// Prices are US dollars per million tokens. null means unknown. In an overlay, an absent field is
// taken from the newest row of the same model in the book below.
type priceRow struct {
	ID                string    `json:"id"`
	Aliases           []string  `json:"aliases,omitempty"`
	Provider          string    `json:"provider,omitempty"`
	Tokenizer         string    `json:"tokenizer,omitempty"`
	ContextWindow     int       `json:"context_window,omitempty"`
	MaxOutput         int       `json:"max_output,omitempty"`
	MinCacheTokens    int       `json:"min_cache_tokens,omitempty"`
	Cache             cacheKind `json:"cache,omitempty"`
	TTLs              []string  `json:"ttls,omitempty"`
	StepTokens        int       `json:"step_tokens,omitempty"`
	PreservedThinking bool      `json:"preserved_thinking,omitempty"`
	DropsThinking     bool      `json:"drops_thinking,omitempty"`
	EffectiveFrom     string    `json:"effective_from,omitempty"`
	AsOf              string    `json:"as_of,omitempty"`
	Source            string    `json:"source,omitempty"`
	Note              string    `json:"note,omitempty"`
	Tiers             []Tier    `json:"tiers"`
}

// bookFile is a price file. Sources are those that several rows name by a word.
type bookFile struct {
	Version int               `json:"version"`
	Sources map[string]string `json:"sources,omitempty"`
	Rows    []json.RawMessage `json:"rows"`
}

// parseRows reads a price file. name is the name of the file in error messages. An unknown key is
// an error, since a misspelt price would otherwise be lost silently.
func parseRows(r io.Reader, name string) ([]priceRow, error) {
	var f bookFile
	if err := decodeStrict(r, &f); err != nil {
		return nil, fmt.Errorf("parse prices: %s: %w", name, err)
	}
	if f.Version != bookVersion {
		return nil, fmt.Errorf("parse prices: %s: version %d, want %d: write the file anew with the importer", name, f.Version, bookVersion)
	}
	rows := make([]priceRow, 0, len(f.Rows))
	for i, raw := range f.Rows {
		var row priceRow
		err := decodeStrict(bytes.NewReader(raw), &row)
		if err == nil {
			err = row.check()
		}
		if err != nil {
			return nil, fmt.Errorf("parse prices: %s: row %d (%s): %w", name, i+1, row.ID, err)
		}
		row.Source = cmp.Or(f.Sources[row.Source], row.Source)
		rows = append(rows, row)
	}
	return rows, nil
}

// decodeStrict decodes one JSON document and refuses unknown keys and anything after it.
func decodeStrict(r io.Reader, into any) error {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON document")
	}
	return nil
}

var (
	knownTokenizers = []string{"", "o200k", "cl100k", "claude-old", "claude-new", "gemini", "bytes"}
	knownCaches     = []cacheKind{"", CacheAnthropic, CacheOpenAIExplicit, CacheOpenAIAuto, cacheGemini, cacheDeepSeek, CacheNone}
)

// check refuses values that would lead to wrong bills.
func (r *priceRow) check() error {
	if strings.TrimSpace(r.ID) == "" {
		return errors.New("id is empty")
	}
	if !slices.Contains(knownTokenizers, r.Tokenizer) {
		return fmt.Errorf("tokenizer %q is none of %q", r.Tokenizer, knownTokenizers[1:])
	}
	if !slices.Contains(knownCaches, r.Cache) {
		return fmt.Errorf("cache %q is none of %q", r.Cache, knownCaches[1:])
	}
	if min(r.ContextWindow, r.MaxOutput, r.MinCacheTokens, r.StepTokens) < 0 {
		return errors.New("a size is negative")
	}
	for _, d := range []string{r.EffectiveFrom, r.AsOf} {
		if d == "" {
			continue
		}
		if _, err := time.Parse(time.DateOnly, d); err != nil {
			return fmt.Errorf("date %q is not YYYY-MM-DD", d)
		}
	}
	if r.DropsThinking && !r.PreservedThinking {
		return errors.New("drops_thinking is set without preserved_thinking")
	}
	if err := r.checkTTLs(); err != nil {
		return err
	}
	return r.checkTiers()
}

func (r *priceRow) checkTTLs() error {
	last := time.Duration(0)
	for _, s := range r.TTLs {
		d, err := time.ParseDuration(s)
		if err != nil || d <= last {
			return fmt.Errorf("ttls %q are not rising durations such as 5m", r.TTLs)
		}
		last = d
	}
	return nil
}

func (r *priceRow) checkTiers() error {
	for i, t := range r.Tiers {
		if i == 0 && t.AboveTokens != 0 {
			return errors.New("the first tier's above_tokens is not 0")
		}
		if i > 0 && t.AboveTokens <= r.Tiers[i-1].AboveTokens {
			return errors.New("tiers do not rise by above_tokens")
		}
		for _, p := range []*float64{t.Input, t.Output, t.Write5m, t.Write1h, t.Read} {
			if p != nil && *p < 0 {
				return errors.New("a price is negative")
			}
		}
	}
	return nil
}

// model turns a row into the Model that the rest of the package uses.
func (r *priceRow) model() Model {
	m := Model{
		ID: r.ID, Provider: r.Provider, Tokenizer: r.Tokenizer,
		ContextWindow: r.ContextWindow, MaxOutput: r.MaxOutput, MinCacheTokens: r.MinCacheTokens,
		Cache: r.Cache, PreservedThinking: r.PreservedThinking, DropsThinking: r.DropsThinking, StepTokens: r.StepTokens,
		Tiers: r.Tiers, EffectiveFrom: r.EffectiveFrom, AsOf: r.AsOf, Source: r.Source, Note: r.Note,
	}
	for _, s := range r.TTLs {
		if d, err := time.ParseDuration(s); err == nil {
			m.TTLs = append(m.TTLs, d)
		}
	}
	switch r.Cache {
	case CacheAnthropic:
		m.MaxBreakpoints, m.LookbackPositions = 4, 20
	case CacheOpenAIExplicit:
		m.MaxBreakpoints = 4
	case CacheOpenAIAuto:
		m.StepTokens = cmp.Or(m.StepTokens, 128)
	}
	return m
}

// Overlay returns a book in which the rows of a price file take precedence over the rows of b. An
// undated row replaces all rows of its model. A dated row replaces the row of the same date, or
// is added. name is the name of the file in error messages.
func (b *Book) Overlay(r io.Reader, name string) (*Book, error) {
	over, err := parseRows(r, name)
	if err != nil {
		return nil, err
	}
	replaced := map[string]bool{} // ids with an undated row above
	dated := map[[2]string]bool{} // id and date of the rows above
	rows := make([]priceRow, 0, len(b.rows)+len(over))
	for _, r := range over {
		if below := b.find(r.ID); len(below) > 0 {
			r.inherit(&b.rows[below[len(below)-1]])
		}
		r.settle()
		rows = append(rows, r)
		dated[[2]string{r.ID, r.EffectiveFrom}] = true
		replaced[r.ID] = replaced[r.ID] || r.EffectiveFrom == ""
	}
	for _, r := range b.rows {
		if !replaced[r.ID] && !dated[[2]string{r.ID, r.EffectiveFrom}] {
			rows = append(rows, r)
		}
	}
	return newBook(rows), nil
}

// inherit fills the members that r leaves out, except prices and their dates, from base.
func (r *priceRow) inherit(base *priceRow) {
	fill(&r.Provider, base.Provider)
	fill(&r.Tokenizer, base.Tokenizer)
	fill(&r.ContextWindow, base.ContextWindow)
	fill(&r.MaxOutput, base.MaxOutput)
	fill(&r.MinCacheTokens, base.MinCacheTokens)
	fill(&r.StepTokens, base.StepTokens)
	fill(&r.Cache, base.Cache)
	r.PreservedThinking = r.PreservedThinking || base.PreservedThinking
	r.DropsThinking = r.DropsThinking || base.DropsThinking
	if r.TTLs == nil {
		r.TTLs = base.TTLs
	}
	if r.Aliases == nil && r.ID == base.ID {
		r.Aliases = base.Aliases
	}
}

// settle gives a row of an unknown model the behaviour of the model's family.
func (r *priceRow) settle() {
	m := Assume(r.ID)
	if r.Cache == "" {
		fill(&r.MinCacheTokens, m.MinCacheTokens)
		if r.TTLs == nil {
			for _, d := range m.TTLs {
				r.TTLs = append(r.TTLs, d.String())
			}
		}
		r.Cache = m.Cache
		r.PreservedThinking = r.PreservedThinking || m.PreservedThinking
	}
	fill(&r.Tokenizer, m.Tokenizer)
	fill(&r.Provider, m.Provider)
}

// fill sets *p if it is the zero value.
func fill[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// WriteRows writes rows as a price file that [Book.Overlay] reads.
func WriteRows(w io.Writer, rows []priceRow) error {
	if rows == nil {
		rows = []priceRow{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		Version int        `json:"version"`
		Rows    []priceRow `json:"rows"`
	}{bookVersion, rows})
	if err != nil {
		return fmt.Errorf("write prices: %w", err)
	}
	return nil
}
