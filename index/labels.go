package index

import (
	"context"
	"strings"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// Labels returns the labels of all files that have labels, by path. The caller must not change
// them.
func (ix *Index) Labels(ctx context.Context) (labels map[string][]string, err error) {
	err = ix.read(ctx, "read labels", func(h *handles, v *view) error {
		if known := v.labels.Load(); known != nil {
			labels = *known
			return nil
		}
		labels = map[string][]string{}
		var path, stored string
		err := drv.Each(ctx, h.read, []any{&path, &stored}, func() error {
			labels[path] = SplitLabels(stored)
			return nil
		}, "SELECT path, labels FROM files WHERE labels<>''")
		if err == nil {
			v.labels.Store(&labels)
		}
		return err
	})
	return labels, err
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
