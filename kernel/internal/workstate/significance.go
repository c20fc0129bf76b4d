package workstate

import (
	"strings"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/choice"
	"github.com/memkernel/memkernel/markdownstore"
)

// reuseDays is how many past days' logs are looked at for what is said again.
const reuseDays = 7

// Judge tags what a flush writes down, by what was captured of it.
func Judge(tag, text string, before map[string]bool) consolidation.Tags {
	e := consolidation.Evidence{}
	if before[consolidation.Key(text)] {
		e.Days = 1
	}
	switch tag {
	case "decision":
		e.Decided, e.UserWords = true, choice.Words(text)
	case "lesson":
		e.Failed, e.OtherWay = true, otherWay(text)
	}
	return consolidation.Judge(e)
}

// otherWay tells a learning whose way out was another call than the one that failed,
// as package checkpoint writes it: the call's name comes before "worked".
func otherWay(text string) bool {
	i := strings.LastIndex(text, " → ")
	return i >= 0 && !strings.HasPrefix(text[i:], " → worked")
}

// identityTouched are lines for the files of a checkpoint that say what the agent is.
func identityTouched(c *checkpoint.Checkpoint) []string {
	var out []string
	for _, f := range c.Resources.FilesModified {
		if consolidation.IsIdentity(string(f)) {
			out = append(out, "changed "+string(f))
		}
	}
	return out
}

// saidBefore are the keys of what the logs of the past days say. A log that can't be
// read says nothing: what is written down must not wait for it.
func saidBefore(shared *markdownstore.Store, now time.Time) map[string]bool {
	out := map[string]bool{}
	for n := 1; n <= reuseDays; n++ {
		l, err := shared.ReadFile(shared.DailyPath(now.AddDate(0, 0, -n)))
		if err != nil {
			continue
		}
		for key := range consolidation.Sayings(consolidation.Entries(markdownstore.Parse(l.Path, l.Text))) {
			out[key] = true
		}
	}
	return out
}
