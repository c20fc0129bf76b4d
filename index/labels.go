package index

import (
	"context"
	"strings"
)

// Labels returns the labels of all files that have labels, by path. The caller must not change
// them.
func (ix *Index) Labels(ctx context.Context) (map[string][]string, error) {
	h, done, err := ix.door.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	v, err := h.look(ctx)
	if err != nil {
		return nil, explain("read labels", ix.door.path, err)
	}
	if known := v.labels.Load(); known != nil {
		return *known, nil
	}
	rows, err := h.read.QueryContext(ctx, "SELECT path, labels FROM files WHERE labels<>''")
	if err != nil {
		return nil, explain("read labels", ix.door.path, err)
	}
	defer rows.Close()
	out := map[string][]string{}
	for rows.Next() {
		var path, labels string
		if err := rows.Scan(&path, &labels); err != nil {
			return nil, explain("read labels", ix.door.path, err)
		}
		out[path] = SplitLabels(labels)
	}
	if err := rows.Err(); err != nil {
		return nil, explain("read labels", ix.door.path, err)
	}
	v.labels.Store(&out)
	return out, nil
}

// LabelsOf returns the stored form of the labels of a file with these chunks: one on each line.
func LabelsOf(chunks []ReadyChunk) string {
	if len(chunks) == 0 {
		return ""
	}
	var out []string
	for _, l := range chunks[0].Labels {
		if l = strings.Join(strings.Fields(l), " "); l != "" {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// SplitLabels reads labels as they are stored.
func SplitLabels(stored string) []string { return strings.Split(stored, "\n") }
