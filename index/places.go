package index

import "context"

// Place names a line of a file.
type Place struct {
	Path string
	Line int
}

// At returns, for each place, the chunk that holds the line. If several chunks hold the line, it
// returns the chunk that ends last. If no chunk holds the line, the Path of the returned Hit is
// empty.
func (ix *Index) At(ctx context.Context, places []Place) ([]Hit, error) {
	out := make([]Hit, len(places))
	err := ix.read(ctx, "read chunks", func(h *handles, _ *view) error {
		for i, p := range places {
			found, err := readHits(ctx, h.read, `SELECT `+hitColumns+` FROM files AS f JOIN chunks AS c ON c.file=f.id
				WHERE f.path=? AND ? BETWEEN c.start_line AND c.end_line ORDER BY c.end_line DESC, c.seq LIMIT 1`, p.Path, p.Line)
			if err != nil {
				return err
			}
			if len(found) > 0 {
				out[i] = found[0]
			}
		}
		return nil
	})
	return out, err
}

// Paths lists all files of the index.
func (ix *Index) Paths(ctx context.Context) (paths []string, err error) {
	err = ix.read(ctx, "list indexed files", func(h *handles, _ *view) error {
		known, err := readFiles(ctx, h.read)
		for _, f := range known {
			paths = append(paths, f.path)
		}
		return err
	})
	return paths, err
}
