package verbs

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval"
)

// searchFlags are the flags of search.
type searchFlags struct {
	api.SearchRequest
	explain bool
	// all prints every hit, and not only those that a terminal's rows hold.
	all bool
}

func searchVerb(a *cli.App) *cobra.Command {
	s := &searchFlags{}
	cmd := &cobra.Command{
		Long: `search looks for what memory holds on a question: by words, and by meaning too if the
configuration names a provider of vectors. The question is plain text, of as many
arguments as you like; nothing in it is syntax. A word that begins with a dash goes
behind --.

With retrieval.sessions.enabled it looks in what was said in other sessions too.

The index is made by the first search, and what was written since is in it before
a search looks. That takes as long as it takes: --wait answers earlier from what
there is by then, --wait 0s from the index as it is. Vectors are made by reindex.

A hit is a place: what answers in one section of a file or in one stretch of a
session, its best lines first in rank, all of them as they stand, with their numbers.
--lines makes a hit of each passage instead: an item, a paragraph, or whole sentences
of a long one. … is where a sentence was too long to be shown whole. On a terminal the
hits that its rows hold are printed, the best first; --max-results prints all.

Above a hit is the address of its best lines, such as memory/deploys.md:3, which get, edit,
forget, why and history take.`,
		Example: `  memkernel search when do we deploy
  memkernel search --explain --max-results 3 "which port does staging use?"`,
		Args: queryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("wait") {
				s.Wait = -1
			} else if s.Wait < 0 {
				return cli.Usagef("--wait %v: give how long to wait, such as 2s", s.Wait)
			}
			s.all = s.explain || cmd.Flags().Changed("max-results")
			return runSearch(cmd.Context(), a, strings.Join(args, " "), s)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&s.MaxResults, "max-results", "n", retrieval.DefaultLimit, "show at most `N` hits")
	f.Float64Var(&s.MinScore, "min-score", 0, "leave out hits with a smaller `score`, 0 to 1")
	f.StringVarP(&s.SessionKey, "session", "s", "", "search what left the prompts of this session too, by its `key`")
	f.StringVar(&s.Source, "source", "", "look in one `part` of memory only: memory (files) or sessions")
	f.StringVar(&s.Collection, "collection", "", "look in one `folder` of index.folders only, by its name, or in workspace")
	f.StringSliceVar(&s.Scope, "scope", nil, "look only in the files of these folders or tags, or whose front matter has one of these `names` under scope or project; -name leaves one out")
	f.BoolVar(&s.Lines, "lines", false, "a hit for each passage that answers, several of one place too")
	f.BoolVar(&s.explain, "explain", false, "show what every score is made of")
	f.DurationVar(&s.Wait, "wait", 0, "how long to wait for the index, such as 2s (default as long as it takes)")
	nowFlag(cmd, &s.Now)
	a.SharedFlag(f)
	return cmd
}

// queryArgs returns an error for an empty question. It also returns an error for the question -,
// which is reserved for standard input.
func queryArgs(cmd *cobra.Command, args []string) error {
	switch q := strings.TrimSpace(strings.Join(args, " ")); q {
	case "":
		return cli.Usagef("search needs a question")
	case "-":
		return cli.Usagef("search doesn't read its question from standard input: give it as arguments")
	}
	return nil
}

func runSearch(ctx context.Context, a *cli.App, query string, s *searchFlags) error {
	switch {
	case s.MaxResults < 1:
		return cli.Usagef("--max-results %d: give a number from 1", s.MaxResults)
	case s.Scope != nil && len(s.Scope) == 0:
		return cli.Usagef("--scope names nothing: give folders, tags or projects")
	case !(s.MinScore >= 0 && s.MinScore <= 1):
		return cli.Usagef("--min-score %v: scores lie in 0 to 1", s.MinScore)
	}
	if s.Source != "" && s.Source != api.SourceMemory && s.Source != api.SourceSessions {
		return cli.Usagef("--source %s: give memory or sessions", s.Source)
	}
	req := s.SearchRequest
	req.Query, req.Private, req.Progress = query, a.Private(), a.IndexProgress()
	res, err := ask(ctx, a, cli.Needs{Vectors: true, AsItIs: s.Wait == 0}, "", (*kernel.Kernel).Search, req)
	if err != nil {
		return err
	}
	if why := a.IgnoredIn("embedding."); why != "" && res.Detail == "" {
		res.Detail = "searched by words alone: " + why
	}
	err = cli.Answer(a, document.OfSearch(query, res), res, func(sheet *display.Sheet, res *retrieval.Result) {
		if s.all {
			sheet.Rows = 0
		}
		showHits(sheet, query, res, s.explain)
	})
	if err != nil {
		return err
	}
	if names := unsearched(ctx, a); len(res.Hits) == 0 && res.Reason == retrieval.NoMatch && len(names) > 0 {
		a.Tip("not searched, since agents read it by themselves: %s; index.include takes it in", strings.Join(names, ", "))
	}
	return concludeSearch(a, res)
}

// unsearched returns the files of standing instructions that a search leaves out.
func unsearched(ctx context.Context, a *cli.App) (names []string) {
	st, err := a.OpenStore(ctx, a.Private())
	if err != nil || st == nil {
		return nil
	}
	defer st.Close()
	for _, name := range a.Config.Workspace.Bootstrap {
		f, err := st.Stat(name)
		if err == nil && !f.ModTime.IsZero() && !f.Memory {
			names = append(names, name)
		}
	}
	return names
}

// concludeSearch prints the reason why a search found nothing, or less than it could. It returns
// an error only for an index that can't be read.
func concludeSearch(a *cli.App, res *retrieval.Result) error {
	if res.Note != "" && len(res.Hits) > 0 {
		a.Tip("%s", res.Note)
	}
	if line := retrieval.AlsoLine(res.Also); line != "" && len(res.Hits) > 0 {
		a.Tip("%s", line)
	}
	if len(res.Withheld) > 0 && len(res.Hits) > 0 {
		a.Tip("%s", retrieval.WithheldLine(res.Withheld))
	}
	switch {
	case res.Reason == retrieval.BackendError:
		return indexError(res.Err)
	case res.Reason == retrieval.StaleIndex && res.Err == nil:
		a.Tip("files have changed since they were indexed%s: run 'memkernel reindex'", behindBy(res.Behind))
	case res.Reason == retrieval.Indexing:
		a.Tip("%s; search again, or run 'memkernel reindex'", res.Detail)
	case errors.Is(res.Err, index.ErrMissing):
		a.Tip("there is no index yet: run 'memkernel reindex'")
	case len(res.Hits) == 0:
		a.Tip("nothing found: %s", res.Detail)
	case res.Err != nil && cli.HintFor(indexError(res.Err)) != "":
		a.Tip("%s; %s", res.Detail, cli.HintFor(indexError(res.Err)))
	case res.Err != nil || res.Detail != "" && res.Note == "":
		a.Tip("%s", res.Detail)
	}
	return nil
}

// mostWeak is the number of hits printed if even the best hit is weak.
const mostWeak = 2

// leastScore is the least score that is not printed as 0.00.
const leastScore = 0.005

// showHits prints a block per hit and marks the words of the query. If explain is set, it also prints
// the parts of each score. On a terminal it prints the hits that the rows hold, at least one.
func showHits(s *display.Sheet, query string, res *retrieval.Result, explain bool) {
	mark := marker(query, s.Style)
	hits := res.Hits
	if !explain {
		hits = slices.DeleteFunc(slices.Clone(hits), func(h retrieval.Hit) bool { return h.Score < leastScore })
	}
	all, rows := len(hits), 0
	if res.Weak && all > 0 {
		rows = 2
		s.Line("{}\n", display.Inked("yellow", "The best hit is weak: this is likely beside the question."))
		if !explain {
			hits = hits[:min(all, mostWeak)]
		}
	}
	shown := 0
	for ; shown < len(hits); shown++ {
		one := s.Text(func(s *display.Sheet) { hit(s, &hits[shown], mark, explain) })
		if shown > 0 {
			one = "\n" + one
		}
		if rows += strings.Count(one, "\n"); shown > 0 && s.Rows > 0 && rows > s.Rows-rowsBelow {
			break
		}
		s.Line(strings.TrimSuffix(one, "\n"))
	}
	switch more := all - shown; {
	case more > 0 && shown < len(hits):
		s.Line("\n{}", display.Inked("gray", fmt.Sprintf("%d more: --max-results %d shows them, too", more, all)))
	case more > 0:
		s.Line("\n{}", display.Inked("gray", fmt.Sprintf("%d more are as weak; --explain shows them", more)))
	}
}

// rowsBelow is the number of terminal lines that stay free below the hits: for the number of further
// hits, a hint and the next prompt, each with a blank line or a second line.
const rowsBelow = 5

// hit prints a hit.
func hit(s *display.Sheet, h *retrieval.Hit, mark func(string) string, explain bool) {
	by := ""
	if strings.HasPrefix(h.Origin, retrieval.WrittenBy) {
		by = "  " + h.Origin
	}
	s.Line("{}  {%.2f}{?  }{}{}", display.Inked("bold", citedAt(h.Citation)), h.Score, h.Date != "", h.Date, by)
	runs := h.Runs()
	if t := trailText(above(runs[0].Trail, runs[0].Text), s.Columns()-2); t != "" {
		s.Line("  {}", display.Inked("gray", t))
	}
	if explain {
		s.Para(2, "cyan", "{}", scoreText(h))
	}
	showRuns(s, h, runs, mark)
}

// showRuns prints the lines of a hit's place unchanged. Lines of files have their numbers.
// Headings are printed where they change.
func showRuns(s *display.Sheet, h *retrieval.Hit, runs []retrieval.More, mark func(string) string) {
	last, shown, trail := 0, "", runs[0].Trail
	gutter := len(strconv.Itoa(runs[len(runs)-1].EndLine))
	say := func(ink string, text string) { s.Line("  {}", display.Inked(ink, text)) }
	for i, r := range runs {
		if fresh := above(r.Trail[shared(r.Trail, trail):], r.Text); i > 0 && len(fresh) > 0 {
			say("gray", trailText(fresh, s.Columns()-2))
		}
		trail = r.Trail
		if h.Path == "" && len(runs) > 1 {
			say("gray", citedAt(r.Citation))
		}
		if by := r.SupersededBy; by == r.Citation && retrieval.OutOfDate(r.Text, time.Now()) == "" {
			say("yellow", "no longer holds, it says")
		} else if by != "" && by != r.Citation {
			say("yellow", "superseded by "+citedAt(by))
		}
		for j, line := range strings.Split(r.Text, "\n") {
			no := r.StartLine + j
			if strings.TrimSpace(line) == "" || h.Path != "" && (no < last || no == last && strings.Contains(shown, line)) {
				continue // chunks overlap
			}
			last, shown = no, line
			number := "    "
			if h.Path != "" {
				number = fmt.Sprintf("  %*d  ", gutter, no)
			}
			if why := retrieval.OutOfDate(line, time.Now()); why != "" {
				say("yellow", why)
			}
			ink := "gray"
			if r.Citation == h.Citation {
				ink = "bold"
			}
			marked(s, number, line, ink, mark)
		}
	}
	if d := retrieval.DatesText(h.Dates); d != "" {
		s.Para(4, "gray", "[{}]", d)
	}
}

// marked prints a line after its number and keeps its indentation.
func marked(s *display.Sheet, number, line string, ink string, mark func(string) string) {
	text := strings.TrimLeft(line, " \t")
	in := min(display.Width(strings.ReplaceAll(line[:len(line)-len(text)], "\t", "    ")), s.Columns()/4)
	for i, l := range display.Wrap(text, s.Columns()-len(number)-in-2) {
		if i == 1 {
			number, in = strings.Repeat(" ", len(number)), in+2
		}
		s.Raw(s.Paint(ink, number) + strings.Repeat(" ", in) + mark(l))
	}
}

// above returns the headings of trail that text does not begin with.
func above(trail []string, text string) []string {
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if t != "" && !strings.HasPrefix(t, "#") {
			break
		}
		if i := slices.Index(trail, strings.TrimSpace(strings.Trim(t, "#"))); i >= 0 && t != "" {
			return trail[:i]
		}
	}
	return trail
}

// shared returns the number of headings that two trails have in common at their beginning.
func shared(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// leastHeading is the shortest part of a heading that is worth showing, in columns.
const leastHeading = 12

// trailText joins headings. It takes as many headings as fit, from the innermost outwards.
func trailText(trail []string, n int) string {
	text := ""
	for i, heading := range slices.Backward(trail) {
		room := n - display.Width(text)
		if text != "" {
			if room -= display.Width(" › "); i > 0 {
				room -= display.Width("… › ")
			}
			text = " › " + text
			if room < min(leastHeading, display.Width(display.Printable(heading))) {
				return "…" + text
			}
		}
		text = display.Clip(heading, room) + text
	}
	return text
}

// scoreText lists the parts of a score.
func scoreText(h *retrieval.Hit) string {
	s := &h.Parts
	parts := []string{fmt.Sprintf("%.3f", s.Merged)}
	if s.Decay != 1 {
		parts[0] += fmt.Sprintf(" × %.3f for %s = %.3f", s.Decay, days(s.AgeDays), s.Merged*s.Decay)
	}
	side := func(name string, score float64, rank int) {
		if rank > 0 {
			parts = append(parts, fmt.Sprintf("%s %.3f (no. %d)", name, score, rank))
		}
	}
	side("words", s.Keyword, s.KeywordRank)
	side("meaning", s.Vector, s.VectorRank)
	if s.Similarity > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %% like one above", 100*s.Similarity))
	}
	return strings.Join(parts, ", ")
}

func days(n float64) string {
	if d := time.Duration(n * 24 * float64(time.Hour)); d < 48*time.Hour {
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
	return fmt.Sprintf("%.0f days", n)
}

// behindBy returns the number of files by which an index lags, or "" if the number is not known.
func behindBy(l *index.Lag) string {
	if l == nil || l.Zero() {
		return ""
	}
	return fmt.Sprintf(" (%d changed, %d gone)", l.Files, l.Removed)
}

// aWord matches a word. In scripts without blanks between words it matches the text between two
// punctuation marks.
const aWord = `[\p{L}\p{Nd}\p{M}_]+`

// marker returns a function that paints the words of a query in a line. It compares words as the
// index does, so other forms of a word match too. Without colour it changes nothing.
func marker(query string, p display.Style) func(line string) string {
	if !p.Color {
		return func(line string) string { return line }
	}
	a, words := analysis.New(), regexp.MustCompile(aWord)
	terms := a.Query(query, nil)
	return func(line string) string {
		return words.ReplaceAllStringFunc(line, func(w string) string {
			if slices.ContainsFunc(a.Query(w, nil), func(t string) bool { return slices.Contains(terms, t) }) {
				return p.Paint("yellow", w)
			}
			return w
		})
	}
}
