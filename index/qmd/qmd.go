package qmd

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/retrieval/foreign"
)

// Options are settings for calling QMD.
type Options struct {
	// Command is the program and its first arguments, the last of which may be its verb:
	// "search" (by words, the default), "vsearch" or "query". It must not be empty.
	Command []string
	// Collection is the QMD collection that holds the workspace.
	Collection string
	// Dir is the folder in which QMD is started.
	Dir string
	// Timeout bounds the time of one answer. The default is defaultTimeout.
	Timeout time.Duration
}

// defaultTimeout is how long an answer may take.
const defaultTimeout = 5 * time.Second

// fronted is an index that passes its questions to QMD. If QMD fails, the index itself answers.
type fronted struct {
	*index.Index
	opts Options
}

// Beside puts QMD in front of an index.
func Beside(ix *index.Index, o Options) *fronted {
	if n := len(o.Command); n < 2 || !slices.Contains([]string{"search", "vsearch", "query"}, o.Command[n-1]) {
		o.Command = append(slices.Clone(o.Command), "search")
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	return &fronted{ix, o}
}

// verb returns the last word of the command.
func (ix *fronted) verb() string { return ix.opts.Command[len(ix.opts.Command)-1] }

// maxHits is the largest number of hits requested from QMD.
const maxHits = 40

// Search asks QMD. If QMD fails or finds nothing, it searches the index.
func (ix *fronted) Search(ctx context.Context, q index.Query) (index.Hits, error) {
	out, err := ix.search(ctx, q)
	if err == nil || ctx.Err() != nil {
		return out, err
	}
	out, ierr := ix.Index.Search(ctx, q)
	out.Note = "SQLite answered, not qmd: " + err.Error()
	return out, ierr
}

// errNothing is the reason for searching the index when QMD found nothing.
var errNothing = errors.New("it found nothing")

func (ix *fronted) search(ctx context.Context, q index.Query) (out index.Hits, err error) {
	text := plain(q.Text, ix.verb())
	if text == "" {
		return out, errors.New("the question holds no word for it")
	}
	printed, err := ix.ask(ctx, text, min(max(q.K, 10), maxHits))
	if err != nil {
		return out, err
	}
	answer, err := foreign.Parse(printed, foreign.QMD)
	if err != nil {
		return out, fmt.Errorf("%s answered no results of its own form: %w", ix.opts.Command[0], err)
	}
	found, unresolved, err := ix.resolve(ctx, answer.Records)
	if err != nil {
		return out, err
	}
	out.Keyword = ranked(found, q)
	if len(out.Keyword) == 0 && unresolved+len(answer.Bad) == 0 {
		return out, errNothing
	}
	if len(out.Keyword) == 0 {
		return out, fmt.Errorf("of what it found nothing is in the index of this workspace (%d of other collections or not indexed, %d unreadable): the collection must be of the workspace's folder and have its name",
			unresolved, len(answer.Bad))
	}
	out.Ranked, out.Note = true, fmt.Sprintf("ranked by qmd %s", ix.verb())
	if n := unresolved + len(answer.Bad); n > 0 {
		out.Note += fmt.Sprintf("; %d of its hits are not in this index and were left out", n)
	}
	own, err := ix.Index.Search(ctx, index.Query{Text: q.Text}) // without hits
	out.Terms, out.Outdated = own.Terms, own.Outdated
	return out, err
}

// resolve finds the chunks that contain QMD's hits. unresolved counts the hits that are in no
// chunk.
func (ix *fronted) resolve(ctx context.Context, records []foreign.Record) (found []index.Hit, unresolved int, err error) {
	paths, err := ix.paths(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, r := range records {
		var hit index.Hit
		if p, ok := ix.path(r.Source, paths); ok {
			// A snippet begins one line before the match, if there is a line before it.
			line := max(1, min(r.StartLine+1, max(r.EndLine, r.StartLine)))
			if hit, err = ix.At(ctx, p, line); err != nil {
				return nil, 0, err
			}
		}
		if hit.Path == "" {
			unresolved++
			continue
		}
		hit.Raw = r.Score
		found = append(found, hit)
	}
	return found, unresolved, nil
}

// paths returns the paths of the index's files by the spellings that QMD may use for them.
func (ix *fronted) paths(ctx context.Context) (map[string]string, error) {
	all, err := ix.Paths(ctx)
	out := make(map[string]string, 2*len(all))
	for _, p := range all {
		out[spelling(p)] = p
	}
	for _, p := range all {
		out[p] = p // a file's own name has priority
	}
	return out, err
}

// spelling returns a path as older versions of QMD spell it: in lower case, with a dash for every
// character other than letters, digits, dots and slashes.
func spelling(p string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _()[]&'\",;:!+", r) {
			return '-'
		}
		return r
	}, strings.ToLower(p))
}

// path returns the path of the workspace's file that source names.
func (ix *fronted) path(source string, paths map[string]string) (string, bool) {
	rest, ok := strings.CutPrefix(source, "qmd://")
	if !ok {
		return "", false
	}
	collection, file, ok := strings.Cut(rest, "/")
	if !ok || collection != ix.opts.Collection {
		return "", false
	}
	file = path.Clean(file)
	if p, ok := paths[file]; ok {
		return p, true
	}
	p, ok := paths[spelling(file)]
	return p, ok
}

// ranked returns each found chunk once, in QMD's order, with falling scores.
func ranked(found []index.Hit, q index.Query) []index.Hit {
	var out []index.Hit
	seen := map[string]bool{}
	last := 1.0
	for _, h := range found {
		if seen[h.ID] || q.Want != nil && !q.Want(h.Path) || len(out) == q.K {
			continue
		}
		seen[h.ID] = true
		h.Rank = len(out) + 1
		h.Score = max(min(h.Raw, last), least)
		last = h.Score * (1 - least)
		out = append(out, h)
	}
	return out
}

// least is the smallest score of a hit. It also is the relative distance between the scores of two
// hits to which QMD gives the same score.
const least = 1e-6

// maxQuestion bounds the part of a question that is sent to QMD, in bytes. The system limits a
// program's arguments, and QMD returns only hits that hold every word.
const maxQuestion = 2000

// plain returns a question in which no sign has a special meaning for QMD.
func plain(text, verb string) string {
	if len(text) > maxQuestion {
		text = strings.ToValidUTF8(text[:maxQuestion], "")
	}
	fields := strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`*:()^{}[]<>|&!?;,", r) })
	var words []string
	for _, w := range fields {
		if w = strings.Trim(w, "-+.~/\\"); w != "" {
			words = append(words, w)
		}
	}
	out := strings.Join(words, " ")
	if verb == "query" && out != "" {
		out = "expand: " + out
	}
	return out
}
