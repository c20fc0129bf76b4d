// Package represent measures what is left of a tool result when it is shown
// shortened.
//
// Each result is judged by its own facts, by patterns that know nothing of how the
// shortening works:
//
//	paths        with a slash, or a file name with an extension
//	identifiers  of five characters or more with a capital, a digit or an
//	             underscore inside
//	numbers      of three digits or more, or with a decimal point; the line numbers
//	             that a file reader puts in front of lines are none
//	error lines  lines of at most 480 bytes that speak of an error, failure, warning,
//	             panic or exception
//
// A fact survives if it is in the representation, letter by letter. Survival is the
// share of a result's distinct facts that do, as the mean over the results that
// have any; beside it is that of the first and last bytes of the result, cut to the
// same size. Tokens are those of o200k, and their share is of the sums: what is
// shown over what the same results are in full. Content kinds are those of
// [github.com/memkernel/memkernel/pagevm.ContentKind].
//
//	go test -C bench -v -run TestReport ./represent
//	go test -C bench -run '^$' -bench . ./represent
//
// The report is of the recorded sessions in ../shared/data, without which it is
// skipped. The benchmark gives the speed of all representations together as a share
// of that of sha256 over the same bytes in the same run.
package represent

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/transcript"
)

// recorded are the results of the recorded sessions, of all dialects.
func recorded(t testing.TB) (out []represent.EvidenceInput) {
	t.Helper()
	files, _ := filepath.Glob("../../../shared/data/transcripts/*/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions in ../../../shared/data/transcripts: nothing to report on")
	}
	for _, f := range suite.Some(files, 6) {
		out = append(out, session(t, f)...)
	}
	return out
}

func session(t testing.TB, file string) []represent.EvidenceInput {
	t.Helper()
	s, err := transcript.LoadFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Results(s.Messages, "memory_get")
}

// sample are the texts of testdata, one of each kind, named by it.
func sample(t testing.TB) (out []represent.EvidenceInput) {
	t.Helper()
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) == 0 {
		t.Fatal("testdata is empty")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, represent.EvidenceInput{Tool: "Bash", Input: filepath.Base(f), Text: string(b),
			PageID: "ev-1", Blob: "0123456789abcdef", Resolver: "memory_get"})
	}
	return out
}

// TestReport prints how much each kind of content shrinks and what survives of it.
// What is quoted must be more than the first and last bytes of the same size have.
func TestReport(t *testing.T) {
	r, err := Run(recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []pagevm.Level{pagevm.Compressed, pagevm.Structured, pagevm.Pointer} {
		t.Logf("\n%s", r.Table(l))
	}
	for _, c := range []Class{paths, identifiers, errorLines} {
		for _, l := range []pagevm.Level{pagevm.Compressed, pagevm.Structured} {
			if row := r[l][All]; row.Survival[c].Value() <= row.Cut[c].Value() {
				t.Errorf("%s: of the %s %s survive, fewer than in head and tail", l, c, row.cell(c))
			}
		}
	}
}

func TestSample(t *testing.T) {
	in := sample(t)
	r, err := Run(in)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s\n%s", r.Table(pagevm.Compressed), r.Table(pagevm.Structured))
	for _, text := range in {
		kind := represent.ContentKind(text.Text)
		if want := strings.ReplaceAll(strings.TrimSuffix(text.Input, ".txt"), "_", " "); kind != want {
			t.Errorf("%s is taken for %s", want, kind)
		}
		if row := r[pagevm.Compressed][kind]; row == nil || row.Share() > 0.55 {
			t.Errorf("%s does not shrink: %+v", kind, row)
		}
	}
	for _, c := range []Class{paths, identifiers, errorLines} {
		if row := r[pagevm.Compressed][All]; row.Survival[c].Value() <= row.Cut[c].Value() {
			t.Errorf("of the %s %s survive, fewer than in head and tail", c, row.cell(c))
		}
	}
	if all := r[pagevm.Compressed][All]; all.Results != len(in) {
		t.Errorf("%d of %d results are compressed", all.Results, len(in))
	}
}

func TestResults(t *testing.T) {
	in := session(t, "../../testdata/session.jsonl")
	if len(in) == 0 || in[0].Tool == "" || in[0].Input == "" || in[0].Resolver != "memory_get" {
		t.Fatalf("%d results", len(in))
	}
	r, err := Run(in)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := r[pagevm.Structured][All].Share(), r[pagevm.Compressed][All].Share(); a >= b {
		t.Errorf("structured shows %.3f of the tokens, compressed %.3f", a, b)
	}
}

func TestFacts(t *testing.T) {
	got := facts("   12→func loadAll(x) // see ./a/b.go, at 1.25 and 404\n   999→\tif err != nil { return fmt.Errorf(\"x\") }\nERROR disk full in main.go\n")
	want := [classes]map[string]bool{
		paths:       {"./a/b.go": true, "main.go": true, "fmt.Errorf": true},
		identifiers: {"loadAll": true},
		numbers:     {"1.25": true, "404": true},
		errorLines:  {"ERROR disk full in main.go": true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if s := survival(want[paths], "see ./a/b.go only"); s < 0.3 || s > 0.4 {
		t.Errorf("one of three paths survives: %.2f", s)
	}
	if s := headAndTail("ééééé", 5); s != "é\n…\né" {
		t.Errorf("cut to %q", s)
	}
	if s := headAndTail("short", 9); s != "short" {
		t.Errorf("cut to %q", s)
	}
}

// BenchmarkRepresent makes all representations of the recorded results, or of the
// bundled session's without them.
func BenchmarkRepresent(b *testing.B) {
	in := session(b, "../../testdata/session.jsonl")
	if files, _ := filepath.Glob("../../../shared/data/transcripts/*/*.jsonl"); len(files) > 0 {
		in = recorded(b)
	}
	size := 0
	for i := range in {
		size += len(in[i].Text)
	}
	before := hashTime(in)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for i := range in {
			represent.Evidence(in[i])
		}
	}
	took := b.Elapsed() / time.Duration(b.N)
	hash := (before + hashTime(in)) / 2
	b.ReportMetric(float64(took)/float64(hash), "x-sha256-time")
	b.ReportMetric(float64(size)/hash.Seconds()/1e6, "sha256-MB/s")
	b.ReportMetric(float64(len(in)), "results")
}

// hashTime is how long it takes to hash all texts once, as a mean over a while.
func hashTime(in []represent.EvidenceInput) time.Duration {
	n, start := 0, time.Now()
	for time.Since(start) < 200*time.Millisecond {
		for i := range in {
			sha256.Sum256([]byte(in[i].Text))
		}
		n++
	}
	return time.Since(start) / time.Duration(n)
}
