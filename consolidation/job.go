package consolidation

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
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
// names in OpenClaw's run logs (jobId, ts in milliseconds, status).
type jobLine struct {
	Job    string    `json:"job"`
	JobID  string    `json:"jobId"`
	Name   string    `json:"name"`
	Time   time.Time `json:"time"`
	Ts     float64   `json:"ts"`
	Status string    `json:"status"`
	Error  string    `json:"error"`
}

// jobFile is OpenClaw's cron/jobs.json.
type jobFile struct {
	Jobs []struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Enabled *bool  `json:"enabled"`
		State   struct {
			LastRunAtMs float64 `json:"lastRunAtMs"`
			LastStatus  string  `json:"lastStatus"`
			LastError   string  `json:"lastError"`
		} `json:"state"`
	} `json:"jobs"`
}

// ReadJobs reads the last run of every job in a record. The record is a document of OpenClaw's,
// or lines of JSON, of which the last line of each job counts. place names the record in errors.
func ReadJobs(place string, data []byte) ([]Job, error) {
	var doc jobFile
	if err := json.Unmarshal(data, &doc); err == nil && doc.Jobs != nil {
		return doc.list(place), nil
	}
	byName := map[string]Job{}
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		var l jobLine
		if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s:%d: no record of a job: %w; want a line such as {\"time\":\"2026-03-01T03:00:00Z\",\"job\":\"nightly\",\"error\":\"\"}", place, n, err)
		}
		j := l.job(fmt.Sprintf("%s:%d", place, n))
		byName[j.Name] = j
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	return sortJobs(byName), nil
}

func (l *jobLine) job(place string) Job {
	j := Job{Name: firstOf(l.Job, l.Name, l.JobID, "unnamed"), Time: l.Time, Error: l.Error, Place: place}
	if j.Time.IsZero() && l.Ts > 0 {
		j.Time = time.UnixMilli(int64(l.Ts))
	}
	if j.Error == "" && failed(l.Status) {
		j.Error = "status " + l.Status
	}
	return j
}

func (f *jobFile) list(place string) []Job {
	byName := map[string]Job{}
	for _, e := range f.Jobs {
		if e.Enabled != nil && !*e.Enabled {
			continue
		}
		j := Job{Name: firstOf(e.Name, e.ID, "unnamed"), Place: place}
		if e.State.LastRunAtMs > 0 {
			j.Time = time.UnixMilli(int64(e.State.LastRunAtMs))
		}
		if failed(e.State.LastStatus) {
			j.Error = firstOf(e.State.LastError, "status "+e.State.LastStatus)
		}
		byName[j.Name] = j
	}
	return sortJobs(byName)
}

func failed(status string) bool {
	switch strings.ToLower(status) {
	case "error", "failed", "failure", "timeout":
		return true
	}
	return false
}

func sortJobs(byName map[string]Job) []Job {
	out := []Job{}
	for _, j := range byName {
		out = append(out, j)
	}
	slices.SortFunc(out, func(a, b Job) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// jobs reports the recorded jobs whose last run failed recently.
func (a *auditor) jobs() {
	for _, j := range a.Jobs {
		old := a.Now.Sub(j.Time)
		if j.Error == "" || !j.Time.IsZero() && old > jobAge {
			continue
		}
		what := fmt.Sprintf("job %s failed: %s", j.Name, oneLine(j.Error))
		if !j.Time.IsZero() {
			what = fmt.Sprintf("job %s failed at %s: %s", j.Name, j.Time.In(a.Timezone).Format("2006-01-02 15:04"), oneLine(j.Error))
		}
		a.add(health.Finding{Severity: health.Error, What: what, Hint: "mend the cause and run it again; it is recorded in " + j.Place})
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
