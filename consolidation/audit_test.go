package consolidation_test

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/health"
)

func TestHealthyWorkspaceIsSilent(t *testing.T) {
	r := audit(t, healthy(), nil)
	for _, f := range r.Findings {
		t.Errorf("%s %s: %s", f.Code, f.Place, f.What)
	}
	if len(r.Checks) != len(consolidation.ListChecks()) || r.Files != 11 || r.Entries == 0 {
		t.Errorf("%d checks, %d files, %d entries", len(r.Checks), r.Files, r.Entries)
	}
}

// Each row breaks one thing, and only its check may report it.
func TestEachCheckFiresAlone(t *testing.T) {
	long := func(lines int) string {
		var b strings.Builder
		for i := range lines {
			fmt.Fprintf(&b, "- observation number %d was made\n", i)
		}
		return b.String()
	}
	old := func(name string, d time.Duration) fstest.MapFS {
		w := healthy()
		w[name].ModTime = now.Add(-d)
		return w
	}
	secret := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	tests := []struct {
		name, what string
		check      health.Code
		fsys       fstest.MapFS
		place      string
		change     func(*consolidation.Options)
	}{
		{"state", "ago", health.SessionState, old("SESSION-STATE.md", 25*time.Hour), "SESSION-STATE.md", nil},
		{"observations", "101 lines", health.Observations, with(map[string]string{"memory/observations.md": long(101)}), "memory/observations.md:101", nil},
		{"no log today", "2026-03-08", health.DailyLog, with(map[string]string{"memory/2026-03-09.md": "", "AGENTS.md": "# AGENTS.md\n"}), "memory/2026-03-09.md", nil},
		{"job", "disk full", health.Jobs, healthy(), "", func(o *consolidation.Options) {
			o.Jobs = []consolidation.Job{{Name: "nightly", Time: now, Error: "disk full", Place: "jobs.jsonl:3"}, {Name: "fine"}}
		}},
		{"stale topic", "8 days", health.StaleFiles, old("memory/ports.md", 8*24*time.Hour), "memory/ports.md", nil},
		{"old memory", "2026-03-04", health.MemoryAge, with(map[string]string{"MEMORY.md": "# M\n\n## 2026-03-04\n\n- Something.\n"}), "MEMORY.md:3", nil},
		{"buffer", "1 entry", health.WorkingBuffer, with(map[string]string{"memory/working-buffer.md": "# B\n\nleft over\n"}), "memory/working-buffer.md:3", nil},
		{"large file", "18055 characters", health.BootstrapSize, with(map[string]string{"SOUL.md": strings.Repeat("Be kind.\n", 2006) + "#"}), "SOUL.md", nil},
		{"link", "nowhere.md", health.Links, with(map[string]string{"memory/ports.md": "+\nSee [it](nowhere.md).\n"}), "memory/ports.md:7", nil},
		{"anchor", "#caches", health.Links, with(map[string]string{"memory/ports.md": "+\nSee [it](../TOOLS.md#caches).\n"}), "memory/ports.md:7", nil},
		{"wiki link", "[[gone]]", health.Links, with(map[string]string{"memory/ports.md": "+\nSee [[gone]].\n"}), "memory/ports.md:7", nil},
		{"mention", "memory/gone.md", health.Links, with(map[string]string{"MEMORY.md": "+\nMore in memory/gone.md.\n"}), "MEMORY.md:12", nil},
		{"path in code", "lab/walk.md", health.Links, with(map[string]string{"MEMORY.md": "+\nMore in `lab/run.md`, `lab/walk.md` and `other/project.go`.\n"}), "MEMORY.md:12", nil},
		{"line", "line 99", health.Links, with(map[string]string{"MEMORY.md": "+\nMore in [it](memory/ports.md#L99).\n"}), "MEMORY.md:12", nil},
		{"duplicate", "repeats MEMORY.md:10", health.Duplicates, with(map[string]string{"TOOLS.md": "+- **Deployments** happen on Tuesdays and Thursdays: never on Fridays\n"}), "TOOLS.md:7", nil},
		{"near duplicate", "nearly repeats MEMORY.md:12", health.Duplicates, with(map[string]string{
			"MEMORY.md": "+\n- The statement timeout of the replica is deliberate and what needs longer than that is a bug or belongs elsewhere.\n",
			"TOOLS.md":  "+\n- The statement timeout of the replica is deliberate and what needs longer than that is a bug, or belongs somewhere.\n"}), "TOOLS.md:8", nil},
		{"changed source", "now says", health.Drift, with(map[string]string{
			"MEMORY.md":       "+\n- [tool-config] The staging proxy listens on port 8443 <!-- from memory/ports.md#L7 -->\n",
			"memory/ports.md": "+\n- The staging proxy listens on port 9443\n"}), "MEMORY.md:12", nil},
		{"struck source", "superseded", health.Drift, with(map[string]string{
			"MEMORY.md":       "+\n- The staging proxy listens on port 8443 <!-- from memory/ports.md#L7 -->\n",
			"memory/ports.md": "+\n- ~~The staging proxy listens on port 8443~~\n"}), "MEMORY.md:12", nil},
		{"secret", "rule github", health.Secrets, with(map[string]string{"memory/ports.md": "+\nThe token is " + secret + " for now.\n"}), "memory/ports.md:7", nil},
		{"conflict", "both sides", health.Conflicts, with(map[string]string{"SOUL.md": "# S\n\n<<<<<<< HEAD\nBe kind.\n=======\nBe quick.\n>>>>>>> other\n"}), "SOUL.md:3-7", nil},
		{"invalid UTF-8", "no UTF-8", health.Files, with(map[string]string{"SOUL.md": "# S\n\nSk\xe5rven\n"}), "SOUL.md:3", nil},
		{"utf-16", "UTF-16", health.Files, with(map[string]string{"SOUL.md": "\xff\xfe#\x00 \x00S\x00\n\x00"}), "SOUL.md", nil},
		{"zero byte", "zero bytes", health.Files, with(map[string]string{"SOUL.md": "# S\n\na\x00b\n"}), "SOUL.md", nil},
		{"shadowed", "MEMORY.md", health.Files, with(map[string]string{"memory.md": "# other\n"}), "memory.md", nil},
		{"pointer", "ev-0123456789abcdef", health.Pointers, with(map[string]string{"SOUL.md": "# S\n\nSee ev-0123456789abcdef.\n"}), "SOUL.md:3", func(o *consolidation.Options) { o.Resolves = func(string) bool { return false } }},
		{"contradiction", "5433", health.Contradictions, with(map[string]string{"TOOLS.md": "# T\n\n- Postgres port: 5433\n"}), "TOOLS.md:3", nil},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := audit(t, tt.fsys, tt.change)
			if len(r.Findings) != 1 {
				t.Fatalf("%d findings: %+v", len(r.Findings), r.Findings)
			}
			f := r.Findings[0]
			if f.Code != tt.check || !strings.HasPrefix(f.Place.String(), tt.place) || !strings.Contains(f.What, tt.what) || f.Hint == "" {
				t.Errorf("%s at %s: %q, %q", f.Code, f.Place, f.What, f.Hint)
			}
			if strings.Contains(f.What, secret) {
				t.Error("the secret is repeated")
			}
			if i%4 != 0 && !suite.Long() {
				return
			}
			if again := audit(t, tt.fsys, tt.change); !reflect.DeepEqual(r, again) {
				t.Error("a second audit says something else")
			}
			skip := audit(t, tt.fsys, func(o *consolidation.Options) { o.Skip = []health.Code{tt.check} })
			if tt.change == nil && len(skip.Findings) != 0 {
				t.Errorf("skipped, it finds %+v", skip.Findings)
			}
		})
	}
}

// What a host drops is reported by section, and the sizes add up.
func TestTruncation(t *testing.T) {
	var b strings.Builder
	for _, h := range []string{"First", "Second", "Third", "Fourth"} {
		fmt.Fprintf(&b, "## %s\n\n%s\n", h, strings.Repeat("word ", 1600))
	}
	r := audit(t, with(map[string]string{"MEMORY.md": "2026-03-09\n\n" + b.String()}), func(o *consolidation.Options) {
		o.Only = []health.Code{health.Truncation}
	})
	if len(r.Findings) != 1 {
		t.Fatalf("%+v", r.Findings)
	}
	var names []string
	sum := 0
	for _, s := range r.Findings[0].Dropped {
		names, sum = append(names, fmt.Sprintf("%s %v", s.Heading, s.Whole)), sum+s.Chars
	}
	if want := []string{"Second false", "Third true", "Fourth false"}; !slices.Equal(names, want) {
		t.Errorf("dropped %v, want %v", names, want)
	}
	if size := b.Len() + 12; sum != size-18_000 {
		t.Errorf("%d characters dropped of %d", sum, size)
	}
}

func TestTotalLimit(t *testing.T) {
	big := map[string]string{}
	host, _ := consolidation.HostByName("openclaw")
	for _, name := range host.Files {
		big[name] = "2026-03-09\n\n" + strings.Repeat("x", 17_500)
	}
	r := audit(t, with(big), func(o *consolidation.Options) {
		o.Only = []health.Code{health.BootstrapSize, health.Truncation}
	})
	if len(r.Findings) != 1 || r.Findings[0].Path != "" || !strings.Contains(r.Findings[0].What, "140096") {
		t.Errorf("%+v", r.Findings)
	}
}

func TestHosts(t *testing.T) {
	claude, _ := consolidation.HostByName("claude-code")
	r := audit(t, with(map[string]string{"MEMORY.md": "2026-03-09\n" + strings.Repeat("\n", 220) + "## Last\n\nend\n"}), func(o *consolidation.Options) {
		o.Host, o.Only = claude, []health.Code{health.Truncation}
	})
	if len(r.Findings) != 1 || r.Findings[0].StartLine != 201 || len(r.Findings[0].Dropped) != 1 || r.Findings[0].Dropped[0].Heading != "Last" {
		t.Errorf("%+v", r.Findings)
	}
	if _, ok := consolidation.HostByName("none such"); ok {
		t.Error("a host that is none was found")
	}
}

func TestOnlyAndUnknownChecks(t *testing.T) {
	r := audit(t, healthy(), func(o *consolidation.Options) { o.Only = []health.Code{health.Links} })
	if len(r.Checks) != 1 || r.Checks[0].ID != health.Links {
		t.Errorf("%+v", r.Checks)
	}
	_, err := auditOf(t.Context(), healthy(), consolidation.Options{Now: now, Timezone: time.UTC, Only: []health.Code{"linsk"}})
	if err == nil || !strings.Contains(err.Error(), "linsk") || !strings.Contains(err.Error(), "links") {
		t.Errorf("error %v", err)
	}
}

// refusing can list its files and not read one of them.
type refusing struct {
	fstest.MapFS
	name string
}

func (r refusing) Open(name string) (fs.File, error) {
	if name == r.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return r.MapFS.Open(name)
}

func (r refusing) ReadFile(name string) ([]byte, error) {
	if name == r.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return r.MapFS.ReadFile(name)
}

func TestUnreadableFileIsAFinding(t *testing.T) {
	host, _ := consolidation.HostByName("openclaw")
	r, err := auditOf(t.Context(), refusing{healthy(), "SOUL.md"}, consolidation.Options{Host: host, Now: now, Timezone: time.UTC})
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Path != "SOUL.md" || r.Findings[0].Code != health.Files {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = auditOf(t.Context(), refusing{healthy(), "."}, consolidation.Options{Now: now, Timezone: time.UTC})
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v", err)
	}
}

func TestReadJobs(t *testing.T) {
	jobs, err := consolidation.ReadJobs("cron/jobs.json", []byte(`{"version":1,"jobs":[
		{"id":"1","name":"curation","enabled":true,"state":{"lastRunAtMs":1773000000000,"lastStatus":"error","lastError":"quota"}},
		{"id":"2","name":"audit","enabled":true,"state":{"lastStatus":"ok"}},
		{"id":"3","name":"off","enabled":false,"state":{"lastStatus":"error"}}]}`))
	if err != nil || len(jobs) != 2 || jobs[0].Name != "audit" || jobs[1].Error != "quota" || jobs[1].Time.IsZero() {
		t.Errorf("%+v, %v", jobs, err)
	}
	jobs, err = consolidation.ReadJobs("jobs.jsonl", []byte("{\"time\":\"2026-03-08T03:00:00Z\",\"job\":\"nightly\",\"error\":\"disk full\"}\n\n"+
		"{\"time\":\"2026-03-09T03:00:00Z\",\"job\":\"nightly\",\"error\":\"\"}\n{\"ts\":1773000000000,\"jobId\":\"b\",\"status\":\"error\"}\n"))
	if err != nil || len(jobs) != 2 || jobs[0].Error != "status error" || jobs[1].Error != "" {
		t.Errorf("%+v, %v", jobs, err)
	}
	if _, err = consolidation.ReadJobs("jobs.jsonl", []byte("{}\nnot json\n")); err == nil || !strings.Contains(err.Error(), "jobs.jsonl:2") {
		t.Errorf("error %v", err)
	}
}
