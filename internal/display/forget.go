package display

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/kernel/api"
)

// Forgotten lists the entries that were, or would be, forgotten.
func Forgotten(w io.Writer, out *api.Forgotten) error {
	for _, p := range out.Pages {
		what := strings.TrimSpace(cmp.Or(p.Tool, string(p.Type)) + " " + p.Path)
		fmt.Fprintf(w, "%s  %s  %s%s\n", Printable(p.ID), Printable(what), Size(p.Bytes), AtTime(p.Created))
	}
	for _, t := range out.Transcripts {
		fmt.Fprintf(w, "%s of agent %s  searched: %s  %s stays\n", Printable(t.Key), Printable(t.Agent), Plural(t.Turns, "turn"), Printable(t.Path))
	}
	for _, m := range out.Memory {
		fmt.Fprintf(w, "%s  brought in or written down: %s\n", Printable(m.Path), Plural(m.Entries, "block"))
	}
	for _, e := range out.Elsewhere {
		fmt.Fprintf(w, "stays: %s\n", Printable(e))
	}
	if n := len(out.Backups); n > 0 {
		fmt.Fprintf(w, "goes too: %s of memory's files that quote it; what was pruned then can't be undone\n", Plural(n, "backup"))
	}
	done := "would be forgotten"
	if out.Applied {
		done = "forgotten"
	}
	_, err := fmt.Fprintf(w, "%s of %s %s, %s removed, %d kept for others\n", Plural(len(out.Pages), "page"), Size(out.Bytes), done, Plural(len(out.Blobs), "blob"), len(out.Kept))
	return err
}
