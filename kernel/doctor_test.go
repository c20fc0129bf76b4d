package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

// looked is a moment at which the embedded prices are fresh.
var looked = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// sickbed makes a workspace of some files.
func sickbed(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		// The index doubts times so young that the file may change within them.
		if old := time.Now().Add(-time.Hour); os.Chtimes(path, old, old) != nil {
			t.Fatal("the file's time can't be set")
		}
	}
	return dir
}

func diagnose(t *testing.T, dir string, opts *kernel.Options, o health.DoctorOptions) *health.Report {
	t.Helper()
	if o.Now.IsZero() {
		o.Now = looked
	}
	d, err := kernel.Doctor(context.Background(), dir, opts, &o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range d.Findings {
		if s.What == "" || s.Severity != health.OK && s.Hint == "" {
			t.Errorf("a symptom without words or without a way out: %+v", s)
		}
	}
	return d
}

// has looks for a symptom of an area and a state that says something.
func has(d *health.Report, area health.Code, state health.Severity, what string) bool {
	for _, s := range d.Findings {
		if s.Code == area && s.Severity == state && strings.Contains(s.What, what) {
			return true
		}
	}
	return false
}

func wantSymptom(t *testing.T, d *health.Report, area health.Code, state health.Severity, what string) {
	t.Helper()
	if !has(d, area, state, what) {
		t.Errorf("no %s of %s says %q; there are %+v", state, area, what, d.Findings)
	}
}

func reindexed(t *testing.T, dir string, opts *kernel.Options) {
	t.Helper()
	k, err := kernel.Open(context.Background(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if r, err := k.Reindex(context.Background(), nil); err != nil || r.EmbedErr != nil {
		t.Fatal(err, r.EmbedErr)
	}
}

// TestDoctorOnMarkdown: every oddity is told by its place, and nothing is written.
func TestDoctorOnMarkdown(t *testing.T) {
	dir := sickbed(t, map[string]string{
		"MEMORY.md": "facts\n", "memory.md": "old facts\n", "AGENTS.md": "rules\n\xff\n", "memory/fine.md": "fine\n",
		"memory/blob.md": "a\x00b", "memory/latin.md": "one\ncaf\xe9\n", "memory/front.md": "---\na: [\n---\nx\n",
		"memory/large.md": strings.Repeat("line\n", 500),
	})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "memory", "link.md")); err != nil {
		t.Skip(err)
	}
	before := tree(t, dir)
	d := diagnose(t, dir, &kernel.Options{Memory: kernel.MemoryOptions{Store: markdownstore.Options{MaxFileBytes: 1000}}}, health.DoctorOptions{Network: true})
	for _, what := range []string{"AGENTS.md:2: ", "memory.md: is not used", "memory/blob.md: it holds zero bytes", "memory/latin.md:2: ", "memory/front.md:1: ",
		"memory/large.md: can't be read", `"memory/link.md": denied`} {
		wantSymptom(t, d, health.Workspace, health.Warning, what)
	}
	if has(d, health.Workspace, health.Warning, "fine.md") {
		t.Error("a fine file is told")
	}
	wantSymptom(t, d, health.Index, health.Warning, "there is no index yet")
	if d.Count(health.Error) > 0 {
		t.Errorf("something fails: %+v", d.Findings)
	}
	if after := tree(t, dir); len(after) != len(before) {
		t.Errorf("files before %v, after %v", before, after)
	}
}

// TestDoctorCounts: many symptoms of one sort are told as a few and a number.
func TestDoctorCounts(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("memory/f%02d.md", i)] = "caf\xe9\n"
	}
	d := diagnose(t, sickbed(t, files), nil, health.DoctorOptions{})
	told := 0
	for _, s := range d.Findings {
		if strings.Contains(s.What, "no UTF-8") {
			told++
		}
	}
	if told != 5 {
		t.Errorf("%d files are told one by one, want 5", told)
	}
	wantSymptom(t, d, health.Workspace, health.Warning, "35 more like this")
}

// TestDoctorOnIndex: each state of the index file has its symptom.
func TestDoctorOnIndex(t *testing.T) {
	dir := sickbed(t, map[string]string{"memory/a.md": "alpha\n"})
	file := filepath.Join(dir, ".memkernel", "index.sqlite")
	reindexed(t, dir, nil)
	d := diagnose(t, dir, nil, health.DoctorOptions{})
	wantSymptom(t, d, health.Index, health.OK, "holds 1 chunks")
	if err := os.WriteFile(filepath.Join(dir, "memory", "b.md"), []byte("beta\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantSymptom(t, diagnose(t, dir, nil, health.DoctorOptions{}), health.Index, health.Warning, "behind the files")

	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	patched := func(at int, b ...byte) []byte {
		out := append([]byte(nil), whole...)
		copy(out[at:], b)
		return out
	}
	for name, tt := range map[string]struct {
		file  []byte
		state health.Severity
		what  string
	}{
		"foreign": {[]byte("Somebody's file."), health.Error, "not an index of memkernel"},
		"newer":   {patched(60, 0, 0, 1, 0), health.Error, "written by a newer version"},
		"older":   {patched(60, 0, 0, 0, 0), health.Warning, "written by an older version"},
		"damaged": {patched(0, make([]byte, 16)...), health.Error, "the index is damaged"},
	} {
		for _, end := range []string{"-wal", "-shm"} {
			os.Remove(file + end)
		}
		if err := os.WriteFile(file, tt.file, 0o600); err != nil {
			t.Fatal(err)
		}
		d := diagnose(t, dir, nil, health.DoctorOptions{})
		if !has(d, health.Index, tt.state, tt.what) || (d.Count(health.Error) > 0) != (tt.state == health.Error) {
			t.Errorf("%s: %+v", name, d.Findings)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != string(tt.file) {
			t.Errorf("%s: the file changed, %v", name, err)
		}
	}
}

// fakeVectors is an embedder, or one that is down.
type fakeVectors struct {
	model string
	err   error
	asked int
}

func (f *fakeVectors) Model() string { return f.model }

func (f *fakeVectors) EmbedQuery(context.Context, string) ([]float32, error) {
	f.asked++
	return []float32{1, 0}, f.err
}

func (f *fakeVectors) EmbedDocuments(_ context.Context, texts []string) (embed.Result, error) {
	var r embed.Result
	for range texts {
		r.Vectors = append(r.Vectors, []float32{1, 0})
	}
	return r, f.err
}

// TestDoctorOnVectors: the embedder is asked only if that was allowed, and its
// model is compared with the index's.
func TestDoctorOnVectors(t *testing.T) {
	dir := sickbed(t, map[string]string{"memory/a.md": "alpha\n"})
	with := func(f *fakeVectors) *kernel.Options {
		return &kernel.Options{Memory: kernel.MemoryOptions{Embedder: f}}
	}
	reindexed(t, dir, nil)
	f := &fakeVectors{model: "m1"}
	wantSymptom(t, diagnose(t, dir, with(f), health.DoctorOptions{}), health.Index, health.Warning, "the vectors are of no model, questions would be embedded by m1")
	if f.asked != 0 {
		t.Error("the embedder was asked without leave")
	}
	reindexed(t, dir, with(f))
	if d := diagnose(t, dir, with(f), health.DoctorOptions{}); has(d, health.Index, health.Warning, "") {
		t.Errorf("a whole index: %+v", d.Findings)
	}
	wantSymptom(t, diagnose(t, dir, with(&fakeVectors{model: "m2"}), health.DoctorOptions{}), health.Index, health.Warning, "the vectors are of m1")
	wantSymptom(t, diagnose(t, dir, with(f), health.DoctorOptions{Network: true}), health.Embedding, health.OK, "a vector of 2 numbers")
	f.err = errors.New("nobody answers")
	wantSymptom(t, diagnose(t, dir, with(f), health.DoctorOptions{Network: true}), health.Embedding, health.Error, "nobody answers")
}

// TestDoctorOnState: what the state folder lost is told, and so are old prices.
func TestDoctorOnState(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(7, 2, 2, 60_000)
	if _, err := k.PlanContext(context.Background(), request(c)); err != nil {
		t.Fatal(err)
	}
	k.Close()
	if d := diagnose(t, dir, nil, health.DoctorOptions{}); d.Count(health.Error) > 0 {
		t.Errorf("a sound state: %+v", d.Findings)
	}
	damageOneBlob(t, dir)
	wantSymptom(t, diagnose(t, dir, nil, health.DoctorOptions{}), health.State, health.Error, "")
	old := diagnose(t, dir, nil, health.DoctorOptions{Now: looked.AddDate(2, 0, 0)})
	wantSymptom(t, old, health.Prices, health.Warning, "days ago")
	wantSymptom(t, diagnose(t, filepath.Join(dir, "nowhere"), nil, health.DoctorOptions{}), health.Workspace, health.Error, "nowhere")
	off := diagnose(t, dir, &kernel.Options{Memory: kernel.MemoryOptions{Off: true}}, health.DoctorOptions{Network: true})
	wantSymptom(t, off, health.Workspace, health.OK, "switched off")
}

// TestDoctorRights: folders that can't be read or written.
func TestDoctorRights(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may do everything")
	}
	dir := sickbed(t, map[string]string{"memory/a.md": "alpha\n"})
	os.Chmod(filepath.Join(dir, "memory", "a.md"), 0)
	os.Chmod(dir, 0o500)
	defer os.Chmod(dir, 0o700)
	d := diagnose(t, dir, nil, health.DoctorOptions{})
	wantSymptom(t, d, health.Workspace, health.Error, "memory/a.md can't be read")
	wantSymptom(t, d, health.Workspace, health.Warning, "can't be written")
	wantSymptom(t, d, health.State, health.Error, "can't be written")
}

// TestDoctorStops: the context's end is the only error.
func TestDoctorStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := kernel.Doctor(ctx, t.TempDir(), nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// TestIncludedNamesWorkspaceFiles: a block that shows a file goes by the type of its
// page and names the file; one below full knows what it would cost in full.
func TestIncludedNamesWorkspaceFiles(t *testing.T) {
	dir := sickbed(t, map[string]string{"AGENTS.md": "# Rules\n\n" + strings.Repeat("Prose that can be left out of a structure. ", 400),
		"MEMORY.md": "# Facts\n- the port is 4711\n"})
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: kernel.MemoryOptions{WorkspaceTokens: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	req := request(session(3, 1, 1, 100))
	req.Private, req.Prompt = true, "what now?"
	p, err := k.Peek(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]api.Included{}
	for _, r := range p.Debug.Included {
		kinds[r.Note] = r
	}
	for file, kind := range map[string]string{"AGENTS.md": "bootstrap", "MEMORY.md": "preference"} {
		if kinds[file].Kind != kind {
			t.Errorf("%s is %+v, want kind %s", file, kinds[file], kind)
		}
	}
	if a := kinds["AGENTS.md"]; a.Level.String() != "compressed" || a.Tokens < 700 || a.Tokens > 1000 || a.FullTokens < 4500 {
		t.Errorf("AGENTS.md is %+v, want what there is room for and its size in full", a)
	}
}

// System prompt and tools that alone don't fit are an error with their sizes, and a finding of
// the doctor until a request like it fits.
func TestFixedPartTooLarge(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	req := request(session(5, 1, 1, 500))
	req.ContextWindow, req.Reserve = 20_000, 4_000
	req.System = []memkernel.Part{{Kind: memkernel.PartText, Text: strings.Repeat("Write down every barge that comes in. ", 900)}}
	req.Tools = []memkernel.Tool{{Name: "Look", Raw: `{"name":"Look","description":"` + strings.Repeat("looks at the quay ", 2400) + `"}`}}
	_, err := k.PlanContext(t.Context(), req)
	var small *budget.TooSmallError
	if !errors.As(err, &small) || !small.Always() || small.System < 5_000 || small.Tools < 7_000 || small.System+small.Tools > small.Fixed {
		t.Fatalf("%v: %+v", err, small)
	}
	for _, want := range []string{fmt.Sprint(small.System), fmt.Sprint(small.Tools), "20000", "plan.context_window"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	wantSymptom(t, diagnose(t, dir, nil, health.DoctorOptions{}), health.Window, health.Warning, model+": the fixed part does not fit: a system prompt of "+fmt.Sprint(small.System)+" tokens and tools of "+fmt.Sprint(small.Tools))
	side := request(session(6, 1, 1, 500)) // without tools: it says nothing of them
	side.SessionKey, side.ContextWindow = "another", 20_000
	mustPlan(t, k, side)
	wantSymptom(t, diagnose(t, dir, nil, health.DoctorOptions{}), health.Window, health.Warning, model)
	req.ContextWindow = 60_000
	mustPlan(t, k, req)
	wantSymptom(t, diagnose(t, dir, nil, health.DoctorOptions{}), health.Window, health.OK, "")
}
