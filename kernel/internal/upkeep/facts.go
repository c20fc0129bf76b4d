package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/markdownstore"
)

// forgetFacts takes out of the files of facts the rows that clean would change, or whose
// lines it would, and removes the backups of such a file: a fact has words of its own.
func (k *Keeper) forgetFacts(ctx context.Context, clean func(string) string) error {
	if k.Files == nil {
		return nil
	}
	for path := range markdownstore.FactFiles(k.Files) {
		changed, err := k.forgetFactsOf(ctx, path, clean)
		if err != nil {
			return fmt.Errorf("take what is forgotten out of the facts of %s: %w", path, err)
		}
		if !changed {
			continue
		}
		old, err := k.Quoting(func(text string) string {
			if strings.HasPrefix(text, markdownstore.FactsHead(path)) {
				return ""
			}
			return text
		})
		if err != nil {
			return err
		}
		for _, h := range old {
			if err := k.Backups.Delete(h); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *Keeper) forgetFactsOf(ctx context.Context, path string, clean func(string) string) (changed bool, err error) {
	file, ok := markdownstore.FactsPath(path)
	if !ok {
		return false, nil
	}
	for {
		l, err := k.Files.ReadFile(file)
		if err != nil {
			return false, err
		}
		log, err := k.Files.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		rest := unquoting(l.Text, path, log.Text, clean)
		if rest == l.Text {
			return false, nil
		}
		_, err = k.Files.Redact(ctx, file, l.Hash, rest)
		if !errors.Is(err, markdownstore.ErrConflict) || ctx.Err() != nil {
			return true, err
		}
	}
}

// unquoting returns the facts of a log without the rows that clean would change, or whose
// lines it would.
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
