package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/summary"
)

// Bounds of a request for facts. A byte is counted as a third of a token, as for notes. English
// has fewer tokens per byte, other languages and code have more.
const (
	factsTime      = 2 * time.Minute
	factsTokens    = 8000
	factsBytes     = 64 << 10
	bytesPerToken  = 3
	leastFactLines = 2
)

// FactOptions select the days whose facts are stated, and the model.
type FactOptions struct {
	// Day is one day, YYYY-MM-DD. The day before it is read as well.
	Day string
	// Model is the model to ask. If Model is nil, no model is asked.
	Model summary.Model
	// Tokens and Price are as in [api.CurateRequest].
	Tokens int
	Price  func(inputTokens, outputTokens int) (usd float64, ok bool)
	// Least is the least number of lines with content for a request. It is at least two.
	Least int
	// Apply asks, and writes. Without it, Facts only returns the requests that it would send.
	Apply bool
}

// Facts asks a model, once for each log of two days, for facts of the lines that were not read
// before. It writes the facts that occur in the lines into a file next to the log. If the model
// fails, nothing is written. A request with an unusable answer is not repeated. No lock is held
// while the model is asked. If another process writes meanwhile, its writes are kept, and the
// lines are asked about another time.
func (k *Keeper) Facts(ctx context.Context, o *FactOptions) ([]api.Facts, error) {
	if o.Model == nil || k.Files == nil {
		return nil, nil
	}
	var out []api.Facts
	day, err := time.Parse(time.DateOnly, o.Day)
	if err != nil {
		return nil, nil
	}
	for _, before := range [...]int{-1, 0} { // the log of the day before, then that of the day
		path := "memory/" + day.AddDate(0, 0, before).Format(time.DateOnly) + ".md"
		if f, err := k.factsOf(ctx, o, path); err != nil {
			return out, err
		} else if f != nil {
			out = append(out, *f)
		}
	}
	return out, nil
}

// factsOf returns the request for one log, or nil if the log has nothing to ask about.
func (k *Keeper) factsOf(ctx context.Context, o *FactOptions, path string) (*api.Facts, error) {
	file, _ := markdownstore.FactsPath(path)
	log, err := k.Files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || log.Unsettled {
		return nil, nil
	}
	var before markdownstore.Loaded
	if err == nil {
		before, err = k.Files.ReadFile(file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	text := k.Masker.Lines(log.Text)
	lines := strings.Split(text, "\n")
	read := markdownstore.ReadTo(before.Text, text)
	from, to := sent(lines, read, o.Tokens, max(o.Least, leastFactLines))
	if to == 0 {
		return nil, nil
	}
	f := &api.Facts{Path: path, FromLine: from, ToLine: to, Model: o.Model.Name(), File: file, OutputTokens: factsTokens, Extracted: consolidation.Extracted{Why: []string{}}}
	p := summary.Prompt{System: consolidation.FactsSystem, User: consolidation.FactsUser(lines, from, to), MaxTokens: factsTokens, Limit: factsBytes}
	f.InputTokens = (len(p.System) + len(p.User) + bytesPerToken - 1) / bytesPerToken
	if o.Apply {
		k.extract(ctx, o, p, text, f)
	}
	if o.Price != nil && f.InputTokens > 0 {
		if usd, ok := o.Price(f.InputTokens, f.OutputTokens); ok {
			f.USD = &usd
		}
	}
	if !f.Reason.Spent() || ctx.Err() != nil {
		return f, ctx.Err()
	}
	var kept []markdownstore.Fact
	if read > 0 {
		kept, _ = markdownstore.ParseFacts(before.Text, path, text)
	}
	rows := markdownstore.FactsHead(path)
	for _, fact := range append(kept, f.Extracted.Facts...) {
		rows += markdownstore.FactRow(path, fact)
	}
	if _, err := k.Files.Replace(ctx, file, before.Hash, rows+markdownstore.ReadMark(text, to)); err != nil {
		f.Reason, f.Detail, f.Taken = summary.ReasonNotWritten, err.Error(), 0
		return f, nil
	}
	k.Changed()
	return f, nil
}

// extract asks a model for the facts of some lines, and takes the facts that occur in the lines.
func (k *Keeper) extract(ctx context.Context, o *FactOptions, p summary.Prompt, text string, f *api.Facts) {
	ctx, cancel := context.WithTimeout(ctx, factsTime)
	defer cancel()
	answer, failed := k.ask(ctx, o.Model, true, p, func(answer string) error {
		done, err := consolidation.Extract(k.Masker.Text(answer), text, f.ToLine)
		if err == nil {
			f.Extracted = *done
		}
		return err
	})
	if answer.InputTokens > 0 || answer.Text == "" {
		f.InputTokens, f.OutputTokens = answer.InputTokens, answer.OutputTokens
	}
	if f.Reason = summary.ReasonOK; failed != nil {
		f.Reason, f.Detail = failed.Reason, k.Masker.Text(failed.Err.Error())
	}
}

// sent returns the range of a log's lines that one request sends. The range begins after the
// lines already read and has as many lines as fit. to is 0 if too few lines of the range have
// content.
func sent(lines []string, read, tokens, least int) (from, to int) {
	if tokens == 0 {
		tokens = 24_000 // the log of most days is smaller
	}
	room, said := tokens*bytesPerToken, 0
	for n := read + 1; n <= len(lines); n++ {
		l := strings.TrimSpace(lines[n-1])
		if l == "" || strings.HasPrefix(l, "#") || strings.HasPrefix(l, "<!--") {
			continue
		}
		if room -= len(l); room < 0 && said > 0 {
			break
		}
		said, to = said+1, n
	}
	if said < least {
		return 0, 0
	}
	return read + 1, to
}

// forgetFacts removes rows from the files of facts. It removes a row if clean would change the
// row or the row's lines. These files have no backups.
func (k *Keeper) forgetFacts(ctx context.Context, clean func(string) string) error {
	if k.Files == nil {
		return nil
	}
	for path := range k.Files.FactFiles() {
		if err := k.forgetFactsOf(ctx, path, clean); err != nil {
			return fmt.Errorf("take what is forgotten out of the facts of %s: %w", path, err)
		}
	}
	return nil
}

func (k *Keeper) forgetFactsOf(ctx context.Context, path string, clean func(string) string) error {
	file, ok := markdownstore.FactsPath(path)
	if !ok {
		return nil
	}
	for {
		l, err := k.Files.ReadFile(file)
		if err != nil {
			return err
		}
		log, err := k.Files.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		rest := unquoting(l.Text, path, k.Masker.Lines(log.Text), clean)
		if rest == l.Text {
			return nil
		}
		_, err = k.Files.Redact(ctx, file, l.Hash, rest)
		if !errors.Is(err, markdownstore.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
}

// unquoting returns the facts of a log without the quoting rows. A row quotes if clean would
// change the row or the row's lines.
func unquoting(facts, path, log string, clean func(string) string) string {
	lines := strings.Split(log, "\n")
	quoting := map[int]bool{}
	known, _ := markdownstore.ParseFacts(facts, path, log)
	for _, f := range known {
		quoting[f.Row] = slices.ContainsFunc(f.Lines, func(at markdownstore.LineRange) bool {
			said := strings.Join(lines[at.From-1:at.To], "\n")
			return clean(said) != said
		})
	}
	var rest strings.Builder
	n := 0
	for row := range strings.Lines(facts) {
		if n++; !quoting[n] && (!strings.HasPrefix(row, "- ") || clean(row) == row) {
			rest.WriteString(row)
		}
	}
	return rest.String()
}
