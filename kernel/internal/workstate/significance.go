package workstate

import (
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/markdownstore"
)

// reuseDays is how many past days' logs are searched for repetitions.
const reuseDays = 7

// judged tags a flushed entry by the evidence of its worth: a decision, or a learning. An entry
// with such evidence that occurred before is tagged as reusable.
func judged(tag, text string, before map[string]bool) (t consolidation.Tags) {
	if tag == "decision" || tag == "lesson" {
		t = consolidation.Capture(text)
	}
	if len(t) > 0 && before[consolidation.Key(text)] {
		t = consolidation.MakeTags(append(t, consolidation.Lesson)...)
	}
	return t
}

// saidBefore returns the keys of the entries of the past days' logs. It skips a log that can't be
// read, because a flush must not wait for a log.
func saidBefore(shared *markdownstore.Store, now time.Time) map[string]bool {
	out := map[string]bool{}
	for n := 1; n <= reuseDays; n++ {
		l, err := shared.ReadFile(shared.DailyPath(now.AddDate(0, 0, -n)))
		if err != nil {
			continue
		}
		for _, e := range consolidation.Entries(l.Path, l.Text) {
			out[consolidation.Key(e.Plain)] = true
		}
	}
	return out
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
