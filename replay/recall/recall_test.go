package recall

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"pgregory.net/rapid"
)

// The grammars as regular expressions: the oracle of the scanners.
var (
	rePath   = regexp.MustCompile(`(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]+`)
	reFile   = regexp.MustCompile(`\b[\w-]+\.[A-Za-z][A-Za-z0-9]{0,7}\b`)
	reIdent  = regexp.MustCompile(`[A-Za-z_]\w{4,}`)
	reMarked = regexp.MustCompile(`\w[_0-9]\w|[a-z][A-Z]`)
	reNumber = regexp.MustCompile(`\b[0-9]{3,}\b`)
	reHash   = regexp.MustCompile(`\b[0-9A-Fa-f]{7,40}\b`)
	reQuote  = regexp.MustCompile("\"([^\"\n]{4,80})\"|'([^'\n]{4,80})'|`([^`\n]{4,80})`")
)

// span is the bounds of a token.
type span [2]int

func oracleTokens(s string) []span {
	var out []span
	add := func(all [][]int, keep func(string) bool) {
		for _, m := range all {
			if keep == nil || keep(s[m[0]:m[1]]) {
				out = append(out, span{m[0], m[1]})
			}
		}
	}
	add(rePath.FindAllStringIndex(s, -1), func(t string) bool { return len(t) >= 5 })
	add(reFile.FindAllStringIndex(s, -1), nil)
	add(reIdent.FindAllStringIndex(s, -1), reMarked.MatchString)
	add(reNumber.FindAllStringIndex(s, -1), nil)
	add(reHash.FindAllStringIndex(s, -1), nil)
	return unique(out)
}

func oracleQuotes(s string) []span {
	var out []span
	for _, m := range reQuote.FindAllStringSubmatchIndex(s, -1) {
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				out = append(out, span{m[g], m[g+1]})
			}
		}
	}
	return unique(out)
}

func unique(s []span) []span {
	slices.SortFunc(s, func(a, b span) int { return (a[0]-b[0])<<20 + a[1] - b[1] })
	return slices.Compact(s)
}

func scanned(s string) (toks, quotesFound []span) {
	tokens(s, func(i, j int) { toks = append(toks, span{i, j}) })
	quotes(s, func(i, j int) { quotesFound = append(quotesFound, span{i, j}) })
	return unique(toks), unique(quotesFound)
}

func checkScan(t interface{ Fatalf(string, ...any) }, s string) {
	toks, qs := scanned(s)
	if d := cmp.Diff(oracleTokens(s), toks); d != "" {
		t.Fatalf("tokens of %q (-regexp +scanner):\n%s", s, d)
	}
	if d := cmp.Diff(oracleQuotes(s), qs); d != "" {
		t.Fatalf("quotes of %q (-regexp +scanner):\n%s", s, d)
	}
}

func TestScannerTable(t *testing.T) {
	tests := []struct {
		in   string
		want []string
	}{
		{"see ./a/b.go and ~/x/y", []string{"./a/b.go", "b.go", "~/x/y"}},
		{"//a/b//c/d/", []string{}},
		{"/srv/app/main.go:12", []string{"/srv/app/main.go", "main.go"}},
		{"fooBar foo_bar plain Plain page2 sha256 _ab12", []string{"fooBar", "foo_bar", "sha256", "_ab12"}},
		{"12 123 x1234567 deadbeef 1234567", []string{"123", "x1234567", "deadbeef", "1234567"}},
		{"a.b-c.d x.toolongext9 y.go_", []string{"a.b", "-c.d"}},
		{"https://host.tld/path/to", []string{"/host.tld/path/to", "host.tld"}},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			checkScan(t, tt.in)
			toks, _ := scanned(tt.in)
			var got []string
			for _, s := range toks {
				if w := tt.in[s[0]:s[1]]; !slices.Contains(got, w) {
					got = append(got, w)
				}
			}
			if len(tt.want) > 0 {
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			}
		})
	}
}

func TestScannerIsRegexp(t *testing.T) {
	letters := rapid.StringOfN(rapid.SampledFrom([]rune("aAbf01_-.@+/~ \n\"'`é文:x")), 0, 60, -1)
	broken := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes")) })
	rapid.Check(t, func(t *rapid.T) {
		checkScan(t, letters.Draw(t, "text"))
		checkScan(t, broken.Draw(t, "broken"))
		n := rapid.IntRange(0, 90).Draw(t, "n")
		checkScan(t, "x '"+strings.Repeat("é", n)+"' y")
	})
}

func text(role memkernel.Role, s string) memkernel.Message {
	return memkernel.Message{Role: role, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: s}}}
}

func tool(id, name, input string) memkernel.Message {
	c := &memkernel.ToolCall{ID: id, Name: name, Input: input, Custom: !strings.HasPrefix(input, "{")}
	return memkernel.Message{Role: memkernel.RoleAssistant, Parts: []memkernel.Part{
		{Kind: memkernel.PartThinking, Text: "thought_of_it"}, {Kind: memkernel.PartToolUse, Call: c}}}
}

func outcome(id, s string) memkernel.Message {
	r := &memkernel.ToolResult{CallID: id, Content: []memkernel.Part{{Kind: memkernel.PartText, Text: s}}}
	return memkernel.Message{Role: memkernel.RoleTool, Parts: []memkernel.Part{{Kind: memkernel.PartToolResult, Result: r}}}
}

// filler is a message as long as the last 8,000 tokens.
func filler() memkernel.Message { return text(memkernel.RoleUser, strings.Repeat("x ", recentChars/2)) }

func TestTextAndUse(t *testing.T) {
	m := memkernel.Message{Parts: []memkernel.Part{
		{Kind: memkernel.PartThinking, Text: "hidden"},
		{Kind: memkernel.PartText, Text: "said"},
		{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{Input: `{"path":"a\n\u00e9","n":3,"deep":{"k":["x","y",{"z":"w"}],"t":true},"e":""}`}},
		{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{Input: "plain \"text", Custom: true}},
		{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{Input: `{"cut":"off`}},
		{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{Content: []memkernel.Part{{Kind: memkernel.PartText, Text: "result"}, {Kind: memkernel.PartImage}}}},
	}}
	use := "said\na\né\nx\ny\nw\n\nplain \"text\n{\"cut\":\"off"
	if got := useOf(m); got != use {
		t.Errorf("UseOf = %q, want %q", got, use)
	}
	if got := TextOf(m); got != use+"\nresult" {
		t.Errorf("TextOf = %q, want %q", got, use+"\nresult")
	}
}

func TestAnchors(t *testing.T) {
	patch := "*** Begin Patch\n*** Update File: a\n@@ func\n keep this line\n-go\n+new and much longer line\n@@\n-second hunk\n*** Add File: b\n+x\n*** End Patch"
	inShell, _ := json.Marshal(map[string]string{"command": "apply_patch <<'E'\n" + patch + "\nE"})
	tests := []struct {
		name, input string
		want        []string
	}{
		{"edit", `{"old_string":"a\n  longest line  \nb","new_string":"c"}`, []string{"longest line"}},
		{"pi", `{"path":"p","oldText":"old one"}`, []string{"old one"}},
		{"many", `{"edits":[{"old_string":"first"},{"oldText":"second"}]}`, []string{"first", "second"}},
		{"patch", patch, []string{"keep this line", "second hunk"}},
		{"patch in a shell", string(inShell), []string{"keep this line", "second hunk"}},
		{"write", `{"path":"p","content":"x"}`, nil},
		{"empty old text", `{"old_string":"\n \n"}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, anchorsOf(tool("1", "x", tt.input))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestByHand works the definitions on sessions small enough to check by eye.
func TestByHand(t *testing.T) {
	old := outcome("c1", "intro\n  retryLimit = 5 // see notes\nend")
	long := outcome("c1", strings.Repeat("a", 100)+" retryLimit "+strings.Repeat("b", 100))
	tests := []struct {
		name    string
		history []memkernel.Message
		prompt  []string
		m       memkernel.Message
		behind  func(Place) bool
		want    Score
	}{
		{"shown", []memkernel.Message{old, filler()}, []string{"x retryLimit = 5 // see notes y"}, text("assistant", "use retryLimit"), nil, Score{References: 1, Shown: 1}},
		{"named", []memkernel.Message{old, filler()}, []string{"retryLimit = 6"}, text("assistant", "use retryLimit"), nil, Score{References: 1, Named: 1}},
		{"missing", []memkernel.Message{old, filler()}, []string{"nothing"}, text("assistant", "use retryLimit"), nil, Score{References: 1, Missing: 1}},
		{"behind a pointer", []memkernel.Message{old, filler()}, []string{"nothing"}, text("assistant", "use retryLimit"),
			func(p Place) bool { return p.CallID == "c1" && p.Message == 0 }, Score{References: 1, Pointer: 1}},
		{"another page's pointer", []memkernel.Message{old, filler()}, nil, text("assistant", "use retryLimit"),
			func(p Place) bool { return p.Message == 1 }, Score{References: 1, Missing: 1}},
		{"too recent", []memkernel.Message{old}, nil, text("assistant", "use retryLimit"), nil, Score{}},
		{"old and recent", []memkernel.Message{old, filler(), text("user", "retryLimit?")}, nil, text("assistant", "use retryLimit"), nil, Score{}},
		{"never seen", []memkernel.Message{filler(), filler()}, nil, text("assistant", "use retryLimit"), nil, Score{}},
		{"distinct per call", []memkernel.Message{old, filler()}, nil, text("assistant", "retryLimit retryLimit retryLimit"), nil, Score{References: 1, Missing: 1}},
		{"part of a word is no identifier", []memkernel.Message{outcome("c", "retryLimits"), filler()}, nil, text("assistant", "retryLimit"), nil, Score{}},
		{"quoted is a substring", []memkernel.Message{outcome("c", "retryLimits"), filler()}, []string{"retryLimits"}, text("assistant", "`retryLimit`"), nil, Score{References: 1, Shown: 1}},
		{"80 characters either side", []memkernel.Message{long, filler()}, []string{strings.Repeat("a", 79) + " retryLimit " + strings.Repeat("b", 79)},
			text("assistant", "retryLimit"), nil, Score{References: 1, Shown: 1}},
		{"79 are not enough", []memkernel.Message{long, filler()}, []string{strings.Repeat("a", 78) + " retryLimit " + strings.Repeat("b", 79)},
			text("assistant", "retryLimit"), nil, Score{References: 1, Named: 1}},
		{"any earlier occurrence will do", []memkernel.Message{outcome("a", "one retryLimit"), outcome("b", "two retryLimit"), filler()}, []string{"one retryLimit"},
			text("assistant", "retryLimit"), nil, Score{References: 1, Shown: 1}},
		{"keys and thinking are no use", []memkernel.Message{outcome("c", "thought_of_it some_key retryLimit"), filler()}, nil,
			tool("2", "x", `{"some_key":"retryLimit"}`), nil, Score{References: 1, Missing: 1}},
		{"anchor", []memkernel.Message{outcome("c", "if x {\n\treturn it\n}"), filler()}, []string{"  return it"},
			tool("2", "x", `{"old_string":"if x {\n\treturn it\n}"}`), nil, Score{Anchors: 1, AnchorsShown: 1, Edits: 1, EditsShown: 1}},
		{"recent anchor", []memkernel.Message{filler(), outcome("c", "return it")}, nil,
			tool("2", "x", `{"old_string":"return it"}`), nil, Score{Edits: 1}},
		{"whole messages", []memkernel.Message{text("user", "retryLimit "+strings.Repeat("x ", recentChars))}, nil, text("assistant", "retryLimit"), nil, Score{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := New()
			for _, m := range tt.history {
				tr.Append(m)
			}
			var p Prompt
			p.Set(tt.prompt)
			got := tr.Judge(&p, tt.m, tt.behind)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if want := naive(tt.history, tt.prompt, tt.m, tt.behind); got != want {
				t.Errorf("tracker %+v, oracle %+v", got, want)
			}
		})
	}
	if got := (Score{}).Recall(); got != 1 {
		t.Errorf("recall of nothing = %v", got)
	}
	if got := (Score{References: 4, Shown: 1}).Recall(); got != 0.25 {
		t.Errorf("recall = %v", got)
	}
}

// naive is the definition, word by word and without any index.
func naive(history []memkernel.Message, prompt []string, m memkernel.Message, behind func(Place) bool) Score {
	shownText := strings.Join(prompt, "\n")
	recent := 0
	for i, chars := len(history)-1, 0; i >= 0; i-- {
		if chars += utf8.RuneCountInString(TextOf(history[i])); chars >= 8000*3 {
			recent = i
			break
		}
	}
	use := useOf(m)
	set := map[string]bool{}
	for _, s := range oracleTokens(use) {
		set[use[s[0]:s[1]]] = false
	}
	for _, s := range oracleQuotes(use) {
		if q := use[s[0]:s[1]]; strings.TrimSpace(q) != "" {
			set[q] = true
		}
	}
	var sc Score
	for tok, quoted := range set {
		var lines []string
		var places []Place
		isRecent := false
		for i, h := range history {
			for _, p := range pieces(h) {
				for _, at := range positions(p.text, tok, quoted) {
					isRecent = isRecent || i >= recent
					lines = append(lines, naiveWindow(p.text, at, len(tok)))
					places = append(places, Place{i, h.Key, p.call})
				}
			}
		}
		if len(lines) == 0 || isRecent {
			continue
		}
		sc.References++
		switch {
		case slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(shownText, l) }):
			sc.Shown++
		case strings.Contains(shownText, tok):
			sc.Named++
		case behind != nil && slices.ContainsFunc(places, behind):
			sc.Pointer++
		default:
			sc.Missing++
		}
	}
	for _, a := range anchorsOf(m) {
		newest := -1
		for i, h := range history {
			if strings.Contains(TextOf(h), a) {
				newest = i
			}
		}
		if newest < 0 {
			continue
		}
		n := 0
		if strings.Contains(shownText, a) {
			n = 1
		}
		sc.Edits++
		sc.EditsShown += n
		if newest < recent {
			sc.Anchors++
			sc.AnchorsShown += n
		}
	}
	return sc
}

func positions(s, tok string, quoted bool) (out []int) {
	if !quoted {
		for _, sp := range oracleTokens(s) {
			if s[sp[0]:sp[1]] == tok {
				out = append(out, sp[0])
			}
		}
		return out
	}
	for i := 0; i+len(tok) <= len(s); i++ {
		if s[i:i+len(tok)] == tok {
			out = append(out, i)
		}
	}
	return out
}

func naiveWindow(s string, at, n int) string {
	before, after := []rune(s[strings.LastIndexByte(s[:at], '\n')+1:at]), s[at+n:]
	line, _, _ := strings.Cut(after, "\n")
	rest := []rune(line)
	return strings.TrimSpace(string(before[max(0, len(before)-80):]) + s[at:at+n] + string(rest[:min(80, len(rest))]))
}

func TestTrackerIsNaive(t *testing.T) {
	words := rapid.SampledFrom([]string{"fooBar", "foo_bar1", "src/a.go", "./src/b.ts", "404", "deadbeef12", "the", "`fooBar`", `"some words"`, "some words", "\n", " ", "é文",
		"  ", "main.go", "'x y z'", "=", "fooBars", strings.Repeat("long ", 30)})
	line := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(words, 0, 14).Draw(t, "words"), " ") })
	big := strings.Repeat("x ", recentChars/3)
	rapid.Check(t, func(t *rapid.T) {
		tr := New()
		var history []memkernel.Message
		var p Prompt
		behind := func(pl Place) bool { return pl.Message%3 == 0 }
		for i := range rapid.IntRange(1, 12).Draw(t, "n") {
			s := line.Draw(t, "text")
			var m memkernel.Message
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				m = text("user", s)
			case 1:
				m = outcome(fmt.Sprint(i), s)
			case 2:
				in, _ := json.Marshal(map[string]any{"old_string": s, "list": []string{line.Draw(t, "more")}})
				m = tool(fmt.Sprint(i), "x", string(in))
			case 3:
				m = text("user", s+big)
			case 4:
				m = text("assistant", s)
			}
			prompt := drawPrompt(t, history)
			p.Set(prompt)
			got := tr.Judge(&p, m, behind)
			if want := naive(history, prompt, m, behind); got != want {
				t.Fatalf("call %d: tracker %+v, oracle %+v", i, got, want)
			}
			tr.Append(m)
			history = append(history, m)
		}
	})
}

// drawPrompt keeps some of the history and cuts some texts short.
func drawPrompt(t *rapid.T, history []memkernel.Message) []string {
	var out []string
	for _, m := range history {
		s := TextOf(m)
		switch rapid.IntRange(0, 3).Draw(t, "keep") {
		case 0:
		case 1:
			out = append(out, strings.ToValidUTF8(s[:len(s)/2], ""))
		default:
			out = append(out, s)
		}
	}
	return out
}

func TestPromptIsSubstringSearch(t *testing.T) {
	piece := rapid.StringOfN(rapid.SampledFrom([]rune("ab c\n")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		var p Prompt
		var texts []string
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				s := piece.Draw(t, "piece")
				p.Append(s)
				texts = append(slices.Clone(texts), s)
			case 1:
				n := rapid.IntRange(0, len(texts)).Draw(t, "keep")
				texts = append(slices.Clone(texts[:n]), rapid.SliceOfN(piece, 0, 3).Draw(t, "tail")...)
				p.Set(texts)
			case 2:
				p.Set(nil)
				texts = nil
			}
			q := strings.ReplaceAll(piece.Draw(t, "query"), "\n", "")
			if got, want := p.Contains(q), strings.Contains(strings.Join(texts, "\n")+"\n", q) || q == ""; got != want && q != "" {
				t.Fatalf("Contains(%q) = %v in %q", q, got, texts)
			}
		}
	})
}
