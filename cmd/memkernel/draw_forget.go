package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/kernel"
)

func drawForgotten(w io.Writer, out *kernel.Forgotten) error {
	for _, p := range out.Pages {
		what := strings.TrimSpace(cmp.Or(p.Tool, string(p.Type)) + " " + p.Path)
		fmt.Fprintf(w, "%s  %s  %s%s\n", printable(p.ID), printable(what), size(p.Bytes), atTime(p.Created))
	}
	for _, t := range out.Transcripts {
		fmt.Fprintf(w, "%s of agent %s  searched: %s  %s stays\n", printable(t.Key), printable(t.Agent), plural(t.Turns, "turn"), printable(t.Path))
	}
	for _, e := range out.Elsewhere {
		fmt.Fprintf(w, "stays: %s\n", printable(e))
	}
	if n := len(out.Backups); n > 0 {
		fmt.Fprintf(w, "goes too: %s of memory's files that quote it; what was pruned then can't be undone\n", plural(n, "backup"))
	}
	done := "would be forgotten"
	if out.Applied {
		done = "forgotten"
	}
	_, err := fmt.Fprintf(w, "%s of %s %s, %s removed, %d kept for others\n", plural(len(out.Pages), "page"), size(out.Bytes), done, plural(len(out.Blobs), "blob"), len(out.Kept))
	return err
}
