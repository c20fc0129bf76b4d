package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel"
)

// short is a record in one line: id, scope, source with lines, title, day,
// text.
func short(r *Record) string {
	lines := ""
	if r.StartLine > 0 {
		lines = fmt.Sprintf("#%d-%d", r.StartLine, r.EndLine)
	}
	return strings.Join([]string{r.ID, string(r.Scope), r.Source + lines, r.Title, r.Date(), r.Text}, "|")
}

// shapes are the answers that the systems give, by version, in invented words.
var shapes = []struct {
	name   string
	format Format
	doc    string
	want   []string
}{
	{"qmd 0.x, before docids", QMD, `[{"score":0.71,"file":"notes/ferry.md","title":"Ferry","snippet":"@@ -12,3 @@ (11 before, 30 after)\nThe ferry leaves at six.\nBring cash."}]`,
		[]string{"notes/ferry.md|session|notes/ferry.md#12-14|Ferry||The ferry leaves at six.\nBring cash."}},
	{"qmd --json", QMD, `[{"docid":"#a1b2c3","score":0.9,"file":"qmd://notes/ferry.md","line":13,"title":"Ferry","context":"travel","snippet":"@@ -12,3 @@ (11 before, 30 after)\nThe ferry leaves at six."}]`,
		[]string{"a1b2c3|session|qmd://notes/ferry.md#12-14|Ferry||The ferry leaves at six."}},
	{"qmd --json --full --line-numbers", QMD, `[{"docid":"#a1b2c3","score":1,"file":"qmd://notes/ferry.md","title":"Ferry","body":"1: # Ferry\n2: It leaves at six."}]`,
		[]string{"a1b2c3|session|qmd://notes/ferry.md|Ferry||# Ferry\nIt leaves at six."}},
	{"qmd over MCP", QMD, `{"content":[{"type":"text","text":"Found 1 result"}],"structuredContent":{"results":[{"docid":"#a1b2c3","file":"notes/ferry.md","title":"Ferry","score":0.5,"context":null,"line":2,"snippet":"1: @@ -1,2 @@ (0 before, 9 after)\n2: # Ferry\n3: At six."}]}}`,
		[]string{"a1b2c3|session|notes/ferry.md#1-2|Ferry||# Ferry\nAt six."}},
	{"mem0 v1.0", mem0, `[{"id":"m-1","memory":"Prefers tea","user_id":"kim","metadata":{},"categories":["food"],"created_at":"2026-02-07T05:31:56Z","updated_at":"2026-03-01T05:31:56Z"}]`,
		[]string{"m-1|session|||2026-03-01|Prefers tea"}},
	{"mem0 v1.1 with a graph", mem0, `{"results":[{"id":"m-1","memory":"Prefers tea","hash":"d4","metadata":null,"score":0.61,"created_at":"2026-02-07T05:31:56.123456-08:00","updated_at":null,"user_id":"kim"}],"relations":[{"source":"kim","relationship":"likes","destination":"tea"}]}`,
		[]string{"m-1|session|||2026-02-07|Prefers tea", hashOf("kim likes tea")[:16] + "|session||||kim likes tea"}},
	{"mem0 2.0, a page of an agent's", mem0, `{"count":1,"next":null,"previous":null,"results":[{"id":"m-2","memory":"The build needs Go","agent_id":"builder","user_id":null}]}`,
		[]string{"m-2|project||||The build needs Go"}},
	{"mem0 TypeScript", mem0, `{"results":[{"id":"m-3","memory":"Lives in Bergen","createdAt":"2026-01-02T03:04:05.000Z","metadata":{"userId":"kim"},"score":0.4}]}`,
		[]string{"m-3|session|||2026-01-02|Lives in Bergen"}},
	{"mem0 over MCP", mem0, `{"content":[{"type":"text","text":"[{\"id\":\"m-4\",\"data\":{\"memory\":\"Has a dog\"},\"run_id\":\"r\",\"agent_id\":\"a\"}]"}]}`,
		[]string{"m-4|session||||Has a dog"}},
	{"cognee under access control", cognee, `[{"search_result":["The heron cluster is for staging."],"dataset_id":"d-1","dataset_name":"ops","graphs":null},{"search_result":null,"dataset_id":"d-2","dataset_name":"none"}]`,
		[]string{hashOf("The heron cluster is for staging.")[:16] + "|session|ops|||The heron cluster is for staging."}},
	{"cognee chunks under access control", cognee, `[{"search_result":[[{"id":"c-1","text":"Chunk one","created_at":1754285557013,"type":"IndexSchema"},{"id":"c-2","text":"Chunk two"}]],"dataset_id":"d-1","dataset_name":null}]`,
		[]string{"c-1|session|d-1||2025-08-04|Chunk one", "c-2|session|d-1|||Chunk two"}},
	{"cognee verbose", cognee, `[{"text_result":null,"context_result":null,"objects_result":[{"id":"c-1","score":0.3,"payload":{"text":"Scored chunk","document_name":"a.md"}}],"dataset_id":"d-1","dataset_name":"ops"}]`,
		[]string{"c-1|session|ops|a.md||Scored chunk"}},
	{"cognee bare chunks", cognee, `[{"id":"c-1","created_at":1754285557013,"updated_at":1754285557013,"ontology_valid":false,"version":1,"type":"IndexSchema","text":"\n Alice's mother is Mary.\n "}]`,
		[]string{"c-1|session|||2025-08-04|Alice's mother is Mary."}},
	{"cognee bare answers", cognee, `["Mary is the mother."]`, []string{hashOf("Mary is the mother.")[:16] + "|session||||Mary is the mother."}},
	{"cognee insights", cognee, `[[{"name":"Alice"},{"relationship_name":"child_of"},{"name":"Mary"}]]`, []string{hashOf("Alice child_of Mary")[:16] + "|session||||Alice child_of Mary"}},
	{"cognee edges", cognee, `[{"source_node_id":"1","target_node_id":"2","source_node_attributes":{"name":"Alice"},"target_node_attributes":{"name":"Mary"},"edge_attributes":{"relationship_name":"child_of"},"directed":true}]`,
		[]string{hashOf("Alice child_of Mary")[:16] + "|session||||Alice child_of Mary"}},
	{"cognee normalized", cognee, `{"query":"q","search_type":"CHUNKS","results":[{"kind":"chunk","search_type":"CHUNKS","text":"Chunk","score":0.2,"dataset_id":"d","dataset_name":"ops","metadata":{},"raw":{"id":"c"},"structured":null}],"total":1}`,
		[]string{hashOf("Chunk")[:16] + "|session|ops|||Chunk"}},
	{"cognee combined", cognee, `{"result":"Mary","context":{"d":"ctx"},"graphs":null,"datasets":[{"id":"d","name":"ops"}]}`, []string{hashOf("Mary")[:16] + "|session|ops|||Mary"}},
	{"cognee combined, context only", cognee, `{"result":null,"context":{"b":"two","a":"one"},"datasets":[{"id":"a"},{"id":"b"}]}`,
		[]string{hashOf("one")[:16] + "|session||||one", hashOf("two")[:16] + "|session||||two"}},
	{"nothing found", "", ` []`, nil},
	{"nothing found, in an envelope", "", "\ufeff{\"results\":[]}", nil},
	{"mem0 found nothing", mem0, `{"results":[],"relations":[]}`, nil},
}

func TestShapes(t *testing.T) {
	for _, s := range shapes {
		a, err := Parse([]byte(s.doc), "")
		if err != nil || len(a.Bad) > 0 {
			t.Errorf("%s: %v %v", s.name, err, a)
			continue
		}
		var got []string
		for i := range a.Records {
			r := &a.Records[i]
			got = append(got, short(r))
			if err := r.Check(); err != nil || r.Format != s.format {
				t.Errorf("%s: record %d of %q: %v", s.name, i, r.Format, err)
			}
		}
		if d := cmp.Diff(s.want, got); d != "" || a.Format != s.format {
			t.Errorf("%s: detected as %q\n%s", s.name, a.Format, d)
		}
		if s.format == "" {
			continue
		}
		if b, err := Parse([]byte(s.doc), s.format); err != nil || cmp.Diff(a, b, cmp.AllowUnexported(Record{})) != "" {
			t.Errorf("%s: read as %s it says something else: %v", s.name, s.format, err)
		}
	}
}

// A number may be a string, a time seconds, and what has another shape leaves its field empty.
func TestFields(t *testing.T) {
	a, err := Parse([]byte(`[{"id":7,"memory":" Likes tea ","score":"0.5","user_id":"kim","agent_id":"a","run_id":"r","created_at":1754285557,
		"updated_at":"soon","mood":{"x":[1]},"empty":null}]`), "")
	if err != nil {
		t.Fatal(err)
	}
	want := Record{Format: mem0, ID: "7", Text: "Likes tea", Score: 0.5, Scope: memkernel.ScopeSession, owner: "kimar",
		Created: time.Date(2025, 8, 4, 5, 32, 37, 0, time.UTC)}
	if d := cmp.Diff([]Record{want}, a.Records, cmp.AllowUnexported(Record{})); d != "" {
		t.Error(d)
	}
	if got := a.Records[0].Ref(); got.Path != "mem0:7" || got.Hash != hashOf("Likes tea") || a.Records[0].Origin() != "mem0 7" {
		t.Errorf("%+v %q", got, a.Records[0].Origin())
	}
}

// A bad record is named and does not take the others with it.
func TestBadRecordsAreNamed(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{`[{"id":"a","memory":"x"},{"id":"b"}]`, `mem0 record 2 (id "b"): it has no "memory"`},
		{`[{"id":"a","memory":"x"},{"id":"b","memory":["y"]}]`, `mem0 record 2 (id "b"): "memory" is no string`},
		{`[{"id":"a","memory":"x"},{"id":"b","memory":"  "}]`, `mem0 record 2 (id "b"): it has no text`},
		{`[{"id":"a","memory":"x"},"y"]`, `mem0 record 2: it is no object`},
		{`[{"docid":"#a","file":"f","snippet":"x"},{"docid":"#b","file":"g"}]`, `qmd record 2 (id "b"): it has no "snippet"`},
		{`[{"docid":"#a","file":"f","snippet":"x"},{"docid":"#b","file":"g","snippet":"@@ -1,4 @@ (0 before, 0 after)\n"}]`, `qmd record 2 (id "b"): it has no text`},
		{`[{"id":"a","text":"x"},{"id":"b","payload":{}}]`, `cognee record 2 (id "b"): it has no "text"`},
		{`[{"id":"a","text":"x"},[1,2]]`, `cognee record 2: it is a list and no triplet`},
		{`[{"id":"a","memory":"x"},{"id":"b\u001b[2J","memory":"y"}]`, `mem0 record 2 (id "b\x1b[2J"): its id, source or owner holds`},
		{`[{"id":"a","memory":"x"},{"id":"b","memory":"y","user_id":"\u202eeve"}]`, `mem0 record 2 (id "b"): its id, source or owner holds`},
		{`[{"docid":"#a","file":"f","snippet":"x"},{"docid":"#b","file":"qmd://notes/g\nh.md","snippet":"y"}]`, `qmd record 2 (id "b"): its id, source or owner holds`},
		{`[{"id":"a","text":"x"},5]`, `cognee record 2: it is neither a text nor an object`},
		{`[{"id":"a","text":"x"},{"id":"b","text":"` + strings.Repeat("y", maxText+1) + `"}]`, `cognee record 2 (id "b"): its text has 1048577 bytes, over 1048576`},
	} {
		a, err := Parse([]byte(c.doc), "")
		if err != nil || len(a.Records) != 1 || len(a.Bad) != 1 || !strings.HasPrefix(a.Bad[0].Error(), c.want) {
			t.Errorf("%.80s: %v %+v, want %s", c.doc, err, a, c.want)
		}
	}
}

func TestBadDocumentsAreErrors(t *testing.T) {
	for doc, want := range map[string]string{
		"":                               "no JSON",
		"No results found.":              "no JSON in line 1",
		"[\n{\"a\":1},\n}":               "no JSON in line 3",
		`[] []`:                          "no JSON",
		`5`:                              "neither a list nor an object",
		`null`:                           "neither a list nor an object",
		`{"memories":[]}`:                `no list and has none under "results"`,
		`{"results":{"a":1}}`:            `no list and has none under "results"`,
		`[{"title":"x","url":"y"}]`:      "nothing in it tells whose",
		strings.Repeat(" ", maxAnswer+1): "ask for fewer results",
		"[" + strings.Repeat(`"a",`, maxRecords) + `"a"]`: "1001 records, over 1000",
	} {
		if a, err := Parse([]byte(doc), ""); err == nil || !strings.HasPrefix(err.Error(), "read memories: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %+v, error %v, want %q", doc, a, err, want)
		}
	}
	if _, err := Parse([]byte(`[{"memory":"x"}]`), "zep"); err == nil || !strings.Contains(err.Error(), `unknown format "zep", use one of [qmd mem0 cognee]`) {
		t.Error(err)
	}
	if a, err := Parse([]byte(`[{"memory":"x"}]`), ""); err != nil || a.Format != mem0 {
		t.Errorf("%+v %v", a, err)
	}
}

// Whatever is read is refused or gives records that can be shown, and it is the
// same every time.
func TestParseTakesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(rapid.SampledFrom(shapes).Draw(t, "shape").doc)
		for range rapid.IntRange(0, 4).Draw(t, "edits") {
			i := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			b[i] = rapid.SampledFrom([]byte(`"{}[],:0129nul\ax-. `)).Draw(t, "byte")
		}
		a, err := Parse(b, "")
		if err != nil {
			if a != nil {
				t.Fatalf("an error and an answer: %v", err)
			}
			return
		}
		for i := range a.Records {
			r := &a.Records[i]
			if err := r.Check(); err != nil || r.ID == "" || len(r.ID) > maxName+4 || r.StartLine > r.EndLine || r.StartLine < 0 {
				t.Fatalf("%v: %+v\n%s", err, r, b)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Fatalf("%v: %+v", err, r)
			}
		}
		for _, bad := range a.Bad {
			if errors.Unwrap(bad) == nil || bad.Index < 1 {
				t.Fatalf("%+v", bad)
			}
		}
		again, err := Parse(b, "")
		if err != nil || cmp.Diff(a, again, cmp.AllowUnexported(Record{}), cmp.Comparer(func(x, y error) bool { return x.Error() == y.Error() })) != "" {
			t.Fatal("read again it says something else")
		}
	})
}
