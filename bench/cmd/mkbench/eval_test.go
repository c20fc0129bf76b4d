package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
)

// evalSample is a small set: two notes and two questions.
func evalSample(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"memory/2026-03-01.md": "- Ann: the harbour pilot is Torunn\n- Bo: good\n",
		"memory/2026-03-02.md": "- Bo: the crane is broken\n",
		"qa.jsonl": `{"id":"a","category":"fact","question":"Who is the pilot?","evidence":[{"file":"memory/2026-03-01.md","line":1}]}
{"id":"b","category":"miss","question":"crane","evidence":[{"file":"memory/2026-03-01.md","line":2}]}
`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestEval(t *testing.T) {
	dir := evalSample(t)
	code, out, stderr := invoke(t, "eval", "--workspace", dir, "--set", dir, "--json")
	if code != cli.ExitOK || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	var doc struct {
		Questions  int                           `json:"questions"`
		RecallAt10 float64                       `json:"recall_at_10"`
		Categories map[string]map[string]any     `json:"categories"`
		Intervals  map[string]map[string]float64 `json:"intervals"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Questions != 2 || doc.RecallAt10 != .5 || doc.Categories["fact"]["mrr"] != 1.0 || doc.Categories["miss"]["mrr"] != 0.0 {
		t.Errorf("%+v", doc)
	}
	if i := doc.Intervals["recall_at_10"]; i["low"] >= .5 || i["high"] <= .5 {
		t.Errorf("intervals %v", i)
	}
	code, out, _ = invoke(t, "eval", "--set", dir, "--set", dir, "--with", "unit=chunk", "--color", "never")
	if code != cli.ExitOK || !strings.Contains(out, "4 questions") || !strings.Contains(out, "difference") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestEvalTuned(t *testing.T) {
	dir := evalSample(t)
	code, out, stderr := invoke(t, "eval", "--set", dir+","+dir, "--ablate", "--with", "Feedback=0", "--json")
	var doc struct {
		With     []string `json:"with"`
		Ablation []struct {
			Signal string  `json:"signal"`
			Value  float64 `json:"value"`
		} `json:"ablation"`
	}
	if code != cli.ExitOK || json.Unmarshal([]byte(out), &doc) != nil {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	if len(doc.With) != 1 || doc.With[0] != "Feedback=0" || len(doc.Ablation) == 0 || doc.Ablation[0].Signal != "before" || doc.Ablation[0].Value != .6 {
		t.Errorf("%+v", doc)
	}
	for _, a := range doc.Ablation {
		if a.Signal == "feedback" {
			t.Error("what is out already was taken out")
		}
	}
	code, out, stderr = invoke(t, "eval", "--set", dir+","+dir, "--ablate", "--color", "never")
	if code != cli.ExitOK || !strings.Contains(out, "without each signal once") {
		t.Errorf("exit %d, %s%s", code, stderr, out)
	}
}

// What is wrong is said, with the place and the way out.
func TestEvalBad(t *testing.T) {
	dir := evalSample(t)
	bad := t.TempDir()
	if err := os.WriteFile(filepath.Join(bad, "qa.jsonl"), []byte("{\"id\":\"a\"}\n{nonsense\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args string
		code int
		want string
	}{
		{"eval", cli.ExitUsage, "--set DIR"},
		{"eval --set " + dir + " --vectors right", cli.ExitUsage, "--mode hybrid"},
		{"eval --set " + dir + " --mode hybrid", cli.ExitUsage, "embedding.provider"},
		{"eval --set " + dir + " --mode hybrid --vectors right --ablate", cli.ExitUsage, "leave out --mode"},
		{"eval --known-items --set " + dir, cli.ExitUsage, "--workspace"},
		{"eval --known-items --n 0 --workspace " + dir, cli.ExitUsage, "--n 0"},
		{"eval --set " + dir + " --with session", cli.ExitUsage, "name=value"},
		{"eval --set " + dir + " --with session=much", cli.ExitUsage, "no number"},
		{"eval --set " + dir + " --with nothing=1", cli.ExitUsage, "no such setting"},
		{"eval --set " + dir + " --with unit=word", cli.ExitUsage, "passage, chunk or place"},
		{"eval --set " + dir + " --set " + bad + " --questions x", cli.ExitUsage, "one set"},
		{"eval --set " + dir + " --with luck=0", cli.ExitUsage, "there are before"},
		{"eval --set " + bad, cli.ExitError, "qa.jsonl:2"},
		{"eval --set " + filepath.Join(dir, "nowhere"), cli.ExitError, "qa.jsonl"},
	} {
		code, out, stderr := invoke(t, strings.Fields(tc.args)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) || out != "" {
			t.Errorf("%s: exit %d, stderr %q, want %d and %q", tc.args, code, stderr, tc.code, tc.want)
		}
	}
}

// Every figure is compared with what FTS5 finds. Vectors are made of the set.
func TestEvalModes(t *testing.T) {
	dir := evalSample(t)
	type report struct {
		Mode    string  `json:"mode"`
		Vectors string  `json:"vectors"`
		MRR     float64 `json:"mrr"`
		Plain   struct {
			Questions   int              `json:"questions"`
			MRR         float64          `json:"mrr"`
			Differences []map[string]any `json:"differences"`
		} `json:"plain"`
	}
	for _, tc := range []struct {
		args string
		mrr  float64
	}{{"", .5}, {"--mode vectors --vectors right", 1}, {"--mode hybrid --vectors right", .75}} { // a word that stands there comes before what vectors find
		code, out, stderr := invoke(t, append([]string{"eval", "--set", dir, "--json"}, strings.Fields(tc.args)...)...)
		var doc report
		if code != cli.ExitOK || json.Unmarshal([]byte(out), &doc) != nil {
			t.Fatalf("%s: exit %d, %s", tc.args, code, stderr)
		}
		if doc.MRR != tc.mrr || doc.Plain.Questions != 2 || doc.Plain.MRR != .5 || len(doc.Plain.Differences) == 0 || !strings.Contains("--mode words"+tc.args, "--mode "+doc.Mode) {
			t.Errorf("%s: %+v", tc.args, doc)
		}
	}
}

func TestEvalWorkspace(t *testing.T) {
	type items map[string]struct {
		N       float64            `json:"n"`
		Holding *float64           `json:"hits_holding_share"`
		Within  map[string]float64 `json:"lines_within_tokens"`
	}
	var known, places struct {
		Known items `json:"known_items"`
		Plain items `json:"plain"`
	}
	for with, doc := range map[string]any{"unit=passage": &known, "unit=place": &places} {
		code, out, stderr := invoke(t, "eval", "--known-items", "--workspace", "../../../testdata/workspace", "--n", "5", "--json", "--with", with)
		if err := json.Unmarshal([]byte(out), doc); code != cli.ExitOK || err != nil {
			t.Fatalf("exit %d, %v, %s", code, err, stderr)
		}
	}
	if w := "2000"; places.Known["word"].Within[w] < known.Known["word"].Within[w] || known.Known["word"].Within[w] == 0 {
		t.Errorf("places %+v, passages %+v", places, known)
	}
	if k := known.Known["phrase"]; k.N != 5 || len(known.Known) != 8 || len(known.Plain) != 8 {
		t.Errorf("%+v", known)
	}
	if known.Known["word"].Holding == nil {
		t.Errorf("words: %v", known.Known["word"])
	}
	before := listed(t, "../../../testdata/workspace")
	code, out, stderr := invoke(t, "eval", "--known-items", "--workspace", "../../../testdata/workspace", "--n", "5")
	if code != cli.ExitOK || !strings.Contains(out, "identifier ") {
		t.Errorf("exit %d, %s%s", code, stderr, out)
	}
	if after := listed(t, "../../../testdata/workspace"); after != before {
		t.Errorf("the workspace has %s, had %s", after, before)
	}
}

// listed are the names in a folder.
func listed(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, e := range entries {
		names += e.Name() + " "
	}
	return names
}
