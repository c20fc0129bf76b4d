package pagevm

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// toolResult is a call and its result as found in a recorded session.
type toolResult struct {
	in   EvidenceInput
	name string // of the session
}

// recordedResults reads the text results of the Claude Code sessions in the
// data folder, or skips the test.
func recordedResults(t testing.TB) (out []toolResult) {
	t.Helper()
	files, _ := filepath.Glob("../../shared/data/transcripts/claude-code/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions under ../../shared/data/transcripts")
	}
	for _, f := range files {
		out = append(out, readResults(t, f)...)
	}
	return out
}

func readResults(t testing.TB, file string) (out []toolResult) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type block struct {
		Type, ID, Name string
		Input          json.RawMessage
		ToolUseID      string `json:"tool_use_id"`
		IsError        bool   `json:"is_error"`
		Text           string
		Content        json.RawMessage
	}
	calls := map[string]block{}
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		var rec struct {
			Message struct{ Content []block }
		}
		if json.Unmarshal(line, &rec) == nil {
			for _, b := range rec.Message.Content {
				switch b.Type {
				case "tool_use":
					calls[b.ID] = b
				case "tool_result":
					text := contentText(b.Content)
					sum := sha256.Sum256([]byte(text))
					hash := hex.EncodeToString(sum[:])
					c := calls[b.ToolUseID]
					out = append(out, toolResult{name: filepath.Base(file), in: EvidenceInput{
						Tool: c.Name, Input: string(c.Input), Text: text, IsError: b.IsError,
						PageID: "p_" + hash[:10], Blob: hash, Resolver: "memkernel get",
					}})
				}
			}
		}
		if err != nil {
			return out
		}
	}
}

func contentText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct{ Text string }
	json.Unmarshal(raw, &blocks)
	for _, b := range blocks {
		s += b.Text
	}
	return s
}

// headAndTail is what the representations must beat: the first and the last
// n/2 bytes.
func headAndTail(text string, n int) string {
	if n >= len(text) {
		return text
	}
	return text[:n/2] + "\n…\n" + text[len(text)-(n-n/2):]
}

var (
	rePath  = regexp.MustCompile(`(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]+`)
	reFile  = regexp.MustCompile(`\b[\w-]+\.[A-Za-z][A-Za-z0-9]{0,7}\b`)
	reIdent = regexp.MustCompile(`[A-Za-z_]\w{4,}`)
	reInner = regexp.MustCompile(`^.+[_0-9]|[a-z][A-Z]`)
	reNum   = regexp.MustCompile(`\b\d{3,}\b`)
	reError = regexp.MustCompile(`(?i)\b(error|fatal|panic|fail(ed|ure|s)?|exception|traceback|warn(ing)?)\b`)
)

// facts are the distinct things in a text whose survival is measured.
func facts(text string) map[string]map[string]bool {
	m := map[string]map[string]bool{"paths": {}, "identifiers": {}, "numbers": {}, "error lines": {}}
	for _, p := range rePath.FindAllString(text, -1) {
		if len(p) >= 5 {
			m["paths"][p] = true
		}
	}
	for _, p := range reFile.FindAllString(text, -1) {
		m["paths"][p] = true
	}
	for _, id := range reIdent.FindAllString(text, -1) {
		if reInner.MatchString(id) {
			m["identifiers"][id] = true
		}
	}
	for _, n := range reNum.FindAllString(text, -1) {
		m["numbers"][n] = true
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) < maxUnit && reError.MatchString(line) {
			m["error lines"][line] = true
		}
	}
	return m
}

type survival struct{ ours, trunc, n, byLine, truncByLine float64 }

// survived is the share of what that stands in shown, by itself and in a whole
// line of the source.
func survived(what map[string]bool, lines map[string][]string, shown string) (token, byLine float64) {
	for w := range what {
		if strings.Contains(shown, w) {
			token++
		}
		for _, l := range lines[w] {
			if strings.Contains(shown, l) {
				byLine++
				break
			}
		}
	}
	return token / float64(len(what)), byLine / float64(len(what))
}

// sourceLines maps every fact to the trimmed lines that hold it, at most 80
// characters either side.
func sourceLines(text string, all map[string]map[string]bool) map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for class, set := range facts(line) {
			for w := range set {
				if all[class][w] && len(m[w]) < 20 {
					m[w] = append(m[w], window(line, w))
				}
			}
		}
	}
	return m
}

func window(line, w string) string {
	i := strings.Index(line, w)
	return line[max(0, i-80):min(len(line), i+len(w)+80)]
}

// Of the real results that are long enough to be shortened, the extracts keep
// more paths, identifiers and error lines than the first and last bytes of the
// same size do. Macro averages over results.
func TestBeatsHeadAndTail(t *testing.T) {
	for _, level := range []Level{Compressed, Structured} {
		tally, kinds := map[string]*survival{}, map[string]*survival{}
		var full, shown, n int
		for _, r := range recordedResults(t) {
			rep := repAt(RepresentEvidence(r.in, nil), level)
			if rep == nil {
				continue
			}
			n++
			full += len(r.in.Text)
			shown += len(rep.Text)
			trunc := headAndTail(r.in.Text, len(rep.Text))
			all := facts(r.in.Text)
			lines := sourceLines(r.in.Text, all)
			k, _ := detectKind(r.in.Text)
			for class, set := range all {
				if len(set) == 0 {
					continue
				}
				a, al := survived(set, lines, rep.Text)
				b, bl := survived(set, lines, trunc)
				for _, s := range []*survival{entry(tally, class), entry(kinds, k.String()+" "+class)} {
					s.ours, s.trunc, s.byLine, s.truncByLine, s.n = s.ours+a, s.trunc+b, s.byLine+al, s.truncByLine+bl, s.n+1
				}
			}
		}
		t.Logf("%s: %d results, %.1f %% of their bytes", level, n, 100*float64(shown)/float64(full))
		report(t, tally)
		if testing.Verbose() {
			report(t, kinds)
		}
		for _, class := range []string{"paths", "identifiers", "error lines"} {
			if s := tally[class]; s.ours <= s.trunc || s.byLine <= s.truncByLine {
				t.Errorf("%s: %s survive less than in head and tail", level, class)
			}
		}
	}
}

func entry(m map[string]*survival, k string) *survival {
	if m[k] == nil {
		m[k] = &survival{}
	}
	return m[k]
}

func report(t *testing.T, m map[string]*survival) {
	for _, class := range slices.Sorted(maps.Keys(m)) {
		s := m[class]
		t.Logf("%-26s n=%4.0f  ours %.3f head-and-tail %.3f   in whole lines %.3f %.3f",
			class, s.n, s.ours/s.n, s.trunc/s.n, s.byLine/s.n, s.truncByLine/s.n)
	}
}

func repAt(reps []Rep, l Level) *Rep {
	for i := range reps {
		if reps[i].Level == l {
			return &reps[i]
		}
	}
	return nil
}

// The representations of one session's worth of results, about 400 of them.
func BenchmarkRepresentEvidence(b *testing.B) {
	all := recordedResults(b)
	total := 0
	var some []toolResult
	for _, r := range all {
		if total < 750_000 {
			some = append(some, r)
			total += len(r.in.Text)
		}
	}
	b.SetBytes(int64(total))
	b.ReportAllocs()
	for b.Loop() {
		for i := range some {
			RepresentEvidence(some[i].in, nil)
		}
	}
	b.ReportMetric(float64(len(some)), "results")
}
