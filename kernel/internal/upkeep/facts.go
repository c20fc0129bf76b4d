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
