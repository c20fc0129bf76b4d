package consolidation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel/health"
)

// Job is the last run of a recorded job.
type Job struct {
	Name string
	// Time is the time of the run, zero if that was not recorded.
	Time time.Time
	// Error is the error, "" if there was none.
	Error string
	// Place is the place of the run's record.
	Place string
}

// jobLine is a run as a line of JSON: {"time":…,"job":…,"error":…}. The line may instead have the
// names in OpenClaw's run logs (jobId, ts in milliseconds, status), or those of a job of its
// cron/jobs.json.
type jobLine struct {
	Job     string    `json:"job"`
	JobID   string    `json:"jobId"`
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Time    time.Time `json:"time"`
	Ts      float64   `json:"ts"`
	Status  string    `json:"status"`
	Error   string    `json:"error"`
	Enabled *bool     `json:"enabled"`
	State   struct {
		LastRunAtMs float64 `json:"lastRunAtMs"`
		LastStatus  string  `json:"lastStatus"`
		LastError   string  `json:"lastError"`
	} `json:"state"`
}

// ReadJobs reads the last run of every job in a record. The record is a document of OpenClaw's,
// or lines of JSON, of which the last line of each job counts. place names the record in errors.
func ReadJobs(place string, data []byte) ([]Job, error) {
	var doc struct{ Jobs []jobLine }
	byName := map[string]Job{}
	if err := json.Unmarshal(data, &doc); err == nil && doc.Jobs != nil {
		for i := range doc.Jobs {
			if l := &doc.Jobs[i]; l.Enabled == nil || *l.Enabled {
				l.run(place, byName)
			}
		}
	} else {
		n := 0
		for line := range bytes.Lines(data) {
			var l jobLine
			if n++; len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			if err := json.Unmarshal(line, &l); err != nil {
				return nil, fmt.Errorf("%s:%d: no record of a job: %w; want a line such as {\"time\":\"2026-03-01T03:00:00Z\",\"job\":\"nightly\",\"error\":\"\"}", place, n, err)
			}
			l.run(fmt.Sprintf("%s:%d", place, n), byName)
		}
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b Job) int { return strings.Compare(a.Name, b.Name) }), nil
}

// run notes the run of a record in place of an earlier one.
func (l *jobLine) run(place string, byName map[string]Job) {
	j := Job{Name: cmp.Or(l.Job, l.Name, l.JobID, l.ID, "unnamed"), Time: l.Time, Error: cmp.Or(l.Error, l.State.LastError), Place: place}
	if ms := cmp.Or(l.Ts, l.State.LastRunAtMs); j.Time.IsZero() && ms > 0 {
		j.Time = time.UnixMilli(int64(ms))
	}
	switch status := strings.ToLower(cmp.Or(l.Status, l.State.LastStatus)); status {
	case "error", "failed", "failure", "timeout":
		j.Error = cmp.Or(j.Error, "status "+status)
	default:
		if l.Error == "" {
			j.Error = "" // of an earlier run
		}
	}
	byName[j.Name] = j
}

// jobs reports the recorded jobs whose last run failed recently.
func (a *auditor) jobs() {
	for _, j := range a.Jobs {
		if j.Error == "" || !j.Time.IsZero() && a.Now.Sub(j.Time) > jobAge {
			continue
		}
		when := ""
		if !j.Time.IsZero() {
			when = " at " + j.Time.In(a.Timezone).Format("2006-01-02 15:04")
		}
		a.tell(health.Error, health.Place{}, fmt.Sprintf("job %s failed%s: %s", j.Name, when, oneLine(j.Error)), "mend the cause and run it again; it is recorded in "+j.Place)
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
