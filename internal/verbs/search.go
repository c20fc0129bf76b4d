package verbs

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/index"
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
	now     cli.TimeValue
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

With retrieval.sessions.enabled it looks in what was said in other sessions too;
--source narrows it down, and so does --collection to one of the folders of
index.folders.

--scope looks only in the files of a folder, with a tag, or whose front matter has a
name under scope or project: --scope shop,ops takes what matches one of them, and
--scope=-archive leaves out what matches archive.

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
	f.StringSliceVar(&s.Scope, "scope", nil, "look only in the files of these folders, tags or projects, by `names`; -name leaves one out")
	f.BoolVar(&s.Lines, "lines", false, "a hit for each passage that answers, several of one place too")
	f.BoolVar(&s.explain, "explain", false, "show what every score is made of")
	f.DurationVar(&s.Wait, "wait", 0, "how long to wait for the index, such as 2s (default as long as it takes)")
	f.Var(&s.now, "now", "the moment that ages are counted to, in RFC 3339 (default now)")
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
	req.Query, req.Private, req.Now, req.Progress = query, a.Private(), s.now.Time, a.IndexProgress()
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
		display.Hits(sheet, query, res, s.explain)
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
		a.Tip("files have changed since they were indexed%s: run 'memkernel reindex'", display.BehindBy(res.Behind))
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
