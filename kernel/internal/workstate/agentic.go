package workstate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/summary"
)

// The agentic flush asks the host's model. It shows the model the conversation since the last
// flush, with secrets masked. That text is complete by itself, so a host needs only a completion,
// without tools and without the conversation's cache.

// Bounds on an answer, its items, and the bytes of each item. A longer text is not a list of
// memories.
const maxFlushBytes, maxFlushItems, maxItemBytes = 32 << 10, 50, 2000

// maxShownBytes bounds how much of a conversation a flush shows: about 20,000 tokens of text and
// code. The newest messages take precedence.
const maxShownBytes = 72_000

// The lines that enclose memories in a longer text.
const SectionBegins, SectionEnds = "<memory>", "</memory>"

// surgeBytes is the size, in bytes, that the conversation must grow by after a flush before a model
// is asked again within the same cycle.
const surgeBytes = 24_000

// asked describes the text that was last shown to a model.
type asked struct {
	upTo string // the last message
	// cycle is the text's cycle. Cycles are counted from 1 and end with a cut. open is the size of
	// the text in bytes, 0 once it was answered.
	cycle, open int
}

// Unflushed returns the conversation since the last flush that a model answered. It returns "" if
// there is no such text, or if the conversation is not known here. It also returns "" for a short
// text if a model was already asked in this cycle. Pass the model's answer to Reply.
func (k *Keeper) Unflushed(msgs []memkernel.Message, cycle int) string {
	from, size := len(msgs), 0
	for ; from > 0 && !k.Session.Has(readUpTo(&msgs[from-1])); from-- {
		if size += len(summary.DeltaOf(msgs[from-1:from], "", k.Mask.Text, 0).Text); size > maxShownBytes && from < len(msgs) {
			break
		}
	}
	text := summary.DeltaOf(msgs[from:], "", k.Mask.Text, 2*size).Text // labels make the text longer
	if text == "" || k.asked.cycle == cycle && len(text) < k.asked.open+surgeBytes {
		return ""
	}
	k.asked = asked{readUpTo(&msgs[len(msgs)-1]), cycle, len(text)}
	return k.Mask.Text(text) // masked once more as a whole
}

// readUpTo returns the item that records that a model has read a conversation up to a message.
func readUpTo(m *memkernel.Message) string { return ingest.PageID("ft", m.Key) }

// Reply appends a model's answer to the day's log, every item once. If section is set, the answer is
// between two marker lines of a longer text. It returns OK or the reason why nothing was written,
// the number of new items, and the log's path.
func (k *Keeper) Reply(ctx context.Context, answer string, section bool, now time.Time) (reason string, n int, path string, err error) {
	l := k.Log()
	text := l.Mask.Text(answer) // masked as a whole, because the code below looks at single lines
	if section {
		text = answerSection(text)
	}
	switch {
	case strings.TrimSpace(text) == "":
		return "EMPTY", 0, "", nil
	case strings.Trim(text, "`*. \n") == api.NoReply:
		k.answered()
		return api.NoReply, 0, "", nil
	case len(text) > maxFlushBytes:
		return "TOO_LARGE", 0, "", nil
	}
	said := listed(text)
	if len(said) == 0 {
		return "EMPTY", 0, "", nil
	}
	var lines, items []string
	for _, line := range said {
		item := ingest.PageID("fi", line)
		if line == api.NoReply || len(line) > maxItemBytes || l.Session.Has(item) || slices.Contains(items, item) || len(items) == maxFlushItems {
			continue
		}
		lines, items = append(lines, "- "+line), append(items, item)
	}
	n = len(items)
	if n == 0 {
		k.answered()
		return "OK", 0, l.Shared.DailyPath(now), nil
	}
	if k.asked.upTo != "" {
		items = append(items, k.asked.upTo) // recorded with the entry, to outlive the process
	}
	err = l.write(ctx, byAgent, fmt.Sprintf("Session %s, written down by its model:\n%s", oneLine(l.Session.Key()), strings.Join(lines, "\n")), items, now)
	if k.Session.Has(items[len(items)-1]) {
		k.answered()
	}
	return "OK", n, l.Shared.DailyPath(now), err
}

// answered records that the model has read the text in asked.
func (k *Keeper) answered() {
	if k.asked.upTo != "" {
		k.Session.Keep([]string{k.asked.upTo})
		k.asked.upTo, k.asked.open = "", 0
	}
}

// answerSection returns the last section of memories in a text, or "" if the text has no section.
func answerSection(text string) string {
	at := strings.LastIndex(text, SectionBegins)
	if at < 0 {
		return ""
	}
	inner, _, closed := strings.Cut(text[at+len(SectionBegins):], SectionEnds)
	if !closed {
		return "" // the text is cut off, and the missing half may reverse the meaning
	}
	return inner
}

// anItem matches a line that begins an item: an item of a list, or a line that begins with a tag.
var anItem = textutil.LazyRegexp(`^( *)(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+|(\[\p{L}))`)

// listed returns the items of a list. Each item is one line, together with the lines that are
// indented below it, because these may be a condition of the item. Text around the list is
// ignored.
func listed(text string) []string {
	var out []string
	open, indent := false, 0
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\t", "    "), "\n") {
		m := anItem.FindStringSubmatch(line)
		plain := strings.TrimSpace(line)
		if m != nil {
			plain = strings.TrimSpace(m[2] + line[len(m[0]):])
		}
		switch {
		case plain == "":
			open = open && m == nil
		case m != nil && (len(m[1]) < indent+2 || !open):
			out, open, indent = append(out, plain), true, len(m[1])
		case m != nil && strings.HasSuffix(out[len(out)-1], ":"):
			out[len(out)-1] += " " + plain
		case m != nil:
			out[len(out)-1] += "; " + plain
		case open && line[0] == ' ':
			out[len(out)-1] += " " + plain
		default:
			open = false
		}
	}
	return out
}
