package workstate

import (
	"maps"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/choice"
	"github.com/memkernel/memkernel/markdownstore"
)

// reuseDays is how many past days' logs are searched for repetitions.
const reuseDays = 7

// before holds the entries of past days' logs.
type before struct{ said, failed map[string]bool }

// Judge tags a flushed entry by the evidence of its worth: a decision, a learning, or a file that
// defines the agent's identity. An entry with such evidence that occurred before is tagged as
// reusable.
func Judge(tag, text string, b *before) consolidation.Tags {
	var t consolidation.Tags
	switch tag {
	case "decision":
		_, reply, _ := choice.Parts(text)
		t = consolidation.Capture(text, reply, nil)
	case "lesson":
		t = consolidation.Capture(text, "", func(sign string) bool { return b != nil && b.failed[sign] })
	}
	if len(t) > 0 && b != nil && b.said[consolidation.Key(text)] {
		t = consolidation.MakeTags(append(t, consolidation.Lesson)...)
	}
	return t
}

// identityTouched returns lines for the files of a checkpoint that define the agent's identity.
func identityTouched(c *checkpoint.Checkpoint) []string {
	var out []string
	for _, f := range c.Resources.FilesModified {
		if consolidation.IsIdentity(string(f)) {
			out = append(out, "changed "+string(f))
		}
	}
	return out
}

// saidBefore reads the logs of the past days. It skips a log that can't be read, because a flush
// must not wait for a log.
func saidBefore(shared *markdownstore.Store, now time.Time) *before {
	out := &before{map[string]bool{}, map[string]bool{}}
	for n := 1; n <= reuseDays; n++ {
		l, err := shared.ReadFile(shared.DailyPath(now.AddDate(0, 0, -n)))
		if err != nil {
			continue
		}
		entries := consolidation.Entries(markdownstore.Parse(l.Path, l.Text))
		maps.Copy(out.said, consolidation.Sayings(entries))
		maps.Copy(out.failed, consolidation.Failures(entries))
	}
	return out
}
