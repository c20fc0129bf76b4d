package main

import (
	"fmt"
	"strings"

	"github.com/memkernel/memkernel/kernel"
)

// netsText says what stands of the working state in the workspace's Markdown.
func netsText(b *strings.Builder, n *kernel.NetsStatus, p painter) {
	if s := &n.SessionState; s.Bytes > 0 || s.Detail != "" {
		fmt.Fprintf(b, "%s  %s\n", p.do(bold, "working state"), s.Path)
		switch {
		case s.Detail != "":
			textLine(b, "can't be read: "+printable(s.Detail))
		case s.Session == "":
			textLine(b, fmt.Sprintf("%s, none of it the kernel's", size(int64(s.Bytes))))
		default:
			edited := ""
			if s.Edited {
				edited = ", edited since"
			}
			textLine(b, fmt.Sprintf("%s, %s of it not the kernel's; session %s after %s%s%s", size(int64(s.Bytes)), size(int64(s.OtherBytes)),
				clip(s.Session, columns-40), plural(s.Messages, "message"), atTime(s.Time), edited))
		}
	}
	if f := &n.Buffer; f.Bytes > 0 || f.Detail != "" {
		fmt.Fprintf(b, "%s  %s\n", p.do(bold, "working buffer"), f.Path)
		if f.Detail != "" {
			textLine(b, "can't be read: "+printable(f.Detail))
			return
		}
		dump := "never dumped"
		if !f.LastDump.IsZero() {
			dump = "last dump" + strings.TrimPrefix(atTime(f.LastDump), ", at")
		}
		textLine(b, fmt.Sprintf("%s, %s, last%s; %s", entries(f.Entries), size(int64(f.Bytes)), strings.TrimPrefix(atTime(f.Newest), ", at"), dump))
	}
}

// textLine writes a line of a section, wrapped.
func textLine(b *strings.Builder, text string) {
	for _, l := range wrap(text, columns-2) {
		fmt.Fprintf(b, "  %s\n", l)
	}
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return thousands(n) + " entries"
}
