package index

import "context"

func knownFiles(ctx context.Context, d *door) ([]fileRow, error) {
	h, done, err := d.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return readFiles(ctx, h.read)
}

// Place names a line of a file.
type Place struct {
	Path string
	Line int
}

// At returns, for each place, the chunk that holds the line. If several chunks hold the line, it
// returns the chunk that ends last. If no chunk holds the line, the Path of the returned Hit is
// empty.
func (ix *Index) At(ctx context.Context, places []Place) ([]Hit, error) {
	h, done, err := ix.door.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	out := make([]Hit, len(places))
	for i, p := range places {
		found, err := readHits(ctx, h.read, `SELECT `+hitColumns+`, 0.0 FROM files AS f JOIN chunks AS c ON c.file=f.id
			WHERE f.path=? AND ? BETWEEN c.start_line AND c.end_line ORDER BY c.end_line DESC, c.seq LIMIT 1`, p.Path, p.Line)
		if err != nil {
			return nil, explain("read chunks", ix.door.path, err)
		}
		if len(found) > 0 {
			out[i] = found[0]
		}
	}
	return out, nil
}

// Paths lists all files of the index.
func (ix *Index) Paths(ctx context.Context) ([]string, error) {
	known, err := knownFiles(ctx, ix.door)
	out := make([]string, len(known))
	for i, f := range known {
		out[i] = f.path
	}
	return out, explain("list indexed files", ix.door.path, err)
}

// Chunker names the rules by which the index's chunks were cut.
func (ix *Index) Chunker(ctx context.Context) (string, error) {
	h, done, err := ix.door.use(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	v, err := h.look(ctx)
	if err != nil {
		return "", explain("read rules", ix.door.path, err)
	}
	return v.chunker, nil
}

// Rules returns the name of the rules by which the caller cuts files
// (Options.Chunker).
func (ix *Index) Rules() string { return ix.door.opts.Chunker }
