package static

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func parse(t testing.TB, file string) *tokenizer {
	t.Helper()
	tok, err := parseTokenizer([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func ids(t *testing.T, tok *tokenizer, text string) []int {
	t.Helper()
	got, err := tok.encode(text)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// vocab numbers tokens from 0 on, as JSON.
func vocab(tokens ...string) string {
	m := map[string]int{}
	for i, t := range tokens {
		m[t] = i
	}
	b, _ := json.Marshal(m)
	return string(b)
}

func TestWordPieceTakesTheLongest(t *testing.T) {
	tok := parse(t, `{"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece","unk_token":"[UNK]",
		"vocab":`+vocab("[UNK]", "un", "##aff", "##able", "##a", "漢", "ab", "'", "s", "xy")+`}}`)
	for text, want := range map[string][]int{
		"una":               {1, 4},
		"UN\u0301affable's": {1, 2, 3, 7, 8},
		"漢漢ab":              {5, 5, 6},
		"x\u200by":          {9},
		"unq":               nil,
		"\x00un\t\nab":      {1, 6},
	} {
		if got := ids(t, tok, text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// The best path has the highest sum of scores, not the longest pieces; what is
// unknown costs ten more than the worst piece, and neighbours are one.
func TestUnigramTakesTheBestPath(t *testing.T) {
	tok := parse(t, `{"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true},
		"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["▁",-2],["▁ab",-3],["a",-4],["b",-4],["c",-1],["bc",-9],["abc",-8.5],["▁a",-4.5]]}}`)
	for text, want := range map[string][]int{
		"abc":    {2, 5},          // ▁ab c: -4; ▁ abc: -10.5; ▁a bc: -13.5
		"ab c":   {2, 1, 5},       // a space begins a piece
		"ca":     {1, 5, 3},       // ▁ c a
		"a漢字b":   {8, 0, 4},       // one unknown token for both
		"漢 字":    {1, 0, 1, 0},    // but not over a piece's end
		"c▁c":    {1, 5, 1, 5},    // the character itself cuts
		"bcabcc": {1, 4, 5, 7, 5}, // b c: -5, bc: -9; abc: -8.5, a b c: -9
		"":       nil,
	} {
		if got := ids(t, tok, text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// Pieces are read as encoding/json would read them, whatever is between them.
func TestScores(t *testing.T) {
	var got []scored
	err := json.Unmarshal([]byte(" [ [\"a\" , -1.5e1 ],\n[\"\\u2581\\\"b\\\\\",0],[\"]\",3]] "), &got)
	if want := ([]scored{{"a", -15}, {"▁\"b\\", 0}, {"]", 3}}); err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{`[["a"]]`, `[["a",1,2]]`, `[[1,"a"]]`, `[["a","b"]]`, `["a"]`, `{"a":1}`, `3`, `"x"`, `[["a",null]]`, `[["a",1e999]]`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s was read as %+v", bad, got)
		}
	}
}

func TestAddedTokens(t *testing.T) {
	tok := parse(t, `{"added_tokens":[{"id":7,"content":"<x>","normalized":false},{"id":8,"content":"<x>y","normalized":false},
		{"id":9,"content":"NASA","normalized":true,"single_word":true},{"id":10,"content":"|","lstrip":true,"rstrip":true}],
		"normalizer":{"type":"Lowercase"},"pre_tokenizer":{"type":"Whitespace"},"model":{"type":"WordLevel","vocab":`+vocab("a", "b", "nasal", "<")+`}}`)
	for text, want := range map[string][]int{
		"a<x>b":        {0, 7, 1},
		"a<x>y b":      {0, 8, 1},
		"A NASA nasal": {0, 9, 2},
		"a  |  b":      {0, 10, 1},
		"<x><x>":       {7, 7},
		"<":            {3},
	} {
		if got := ids(t, tok, text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if tok.tokens != 11 {
		t.Errorf("%d token numbers, want 11", tok.tokens)
	}
}

func TestNormalizers(t *testing.T) {
	for _, c := range [][3]string{
		{`{"type":"NFKC"}`, "ﬁ①", "fi1"},
		{`{"type":"Sequence","normalizers":[{"type":"NFD"},{"type":"StripAccents"},{"type":"Lowercase"}]}`, "ÀÉ", "ae"},
		{`{"type":"Sequence","normalizers":[{"type":"Strip","strip_left":true,"strip_right":true},{"type":"Prepend","prepend":"▁"}]}`, " a ", "▁a"},
		{`{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "}`, "a   b c", "a b c"},
		{`{"type":"Replace","pattern":{"String":"é"},"content":"e"}`, "éaé", "eae"},
		{`{"type":"BertNormalizer","lowercase":false,"strip_accents":false,"handle_chinese_chars":false}`, "É\u200d漢\t", "É漢 "},
		{`{"type":"Precompiled","precompiled_charsmap":""}`, "a", "a"},
		{`null`, "A", "A"},
	} {
		var f *normalizerFile
		got, err := "", json.Unmarshal([]byte(c[0]), &f)
		if n, e := f.normalizer(); err == nil && e == nil {
			got, err = n(c[1])
		}
		if err != nil || got != c[2] {
			t.Errorf("%s: %q became %q, %v; want %q", c[0], c[1], got, err, c[2])
		}
	}
}

// A trie by hand with one key: "A" becomes "bc". Unit 0 is the root, whose
// children lie at offset 0; "A" is unit 0x41, whose leaf lies at 0x41^2 = 0x43.
func TestPrecompiled(t *testing.T) {
	trie := make([]uint32, 256)
	trie[0x41] = 2<<10 | 1<<8 | 0x41
	trie[0x43] = 1 << 31 // value 0: the first text
	raw := binary.LittleEndian.AppendUint32(nil, uint32(4*len(trie)))
	for _, u := range trie {
		raw = binary.LittleEndian.AppendUint32(raw, u)
	}
	raw = append(raw, "bc\x00"...)
	file, err := json.Marshal(map[string]any{"type": "Precompiled", "precompiled_charsmap": raw})
	var f *normalizerFile
	if err := errors.Join(err, json.Unmarshal(file, &f)); err != nil {
		t.Fatal(err)
	}
	n, err := f.normalizer()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := n("xAy漢A\u0301"); err != nil || got != "xbcy漢bc" {
		t.Errorf("%q, %v", got, err) // the last cluster is found by its beginning, as a whole
	}
}

func TestSplitters(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       []string
	}{
		{`{"type":"Whitespace"}`, "ab, c!? ö", []string{"ab", ",", "c", "!?", "ö"}},
		{`{"type":"WhitespaceSplit"}`, " a  b,", []string{"a", "b,"}},
		{`{"type":"BertPreTokenizer"}`, "a$b. c", []string{"a", "$", "b", ".", "c"}},
		{`{"type":"Metaspace","replacement":"_","prepend_scheme":"never"}`, "a b", []string{"a", "_b"}},
		{`{"type":"Metaspace","add_prefix_space":true}`, "a b", []string{"▁a", "▁b"}},
		{`{"type":"Metaspace","split":false}`, "a b", []string{"▁a▁b"}},
		{`{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},{"type":"Whitespace"}]}`, "a. b", []string{"a", ".", "b"}},
	} {
		var f *splitterFile
		err := json.Unmarshal([]byte(c.file), &f)
		s, e := f.splitter()
		if err != nil || e != nil {
			t.Errorf("%s: %v, %v", c.file, err, e)
			continue
		}
		if got := s([]string{c.text}, true); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q became %q, want %q", c.file, c.text, got, c.want)
		}
	}
}

func TestTokenizersThatAreRefused(t *testing.T) {
	level := `"model":{"type":"WordLevel","vocab":{"a":0}}`
	for file, want := range map[string]string{
		`{}`:                          "model: there is none",
		`{"model":{"type":"Markov"}}`: `model: type "Markov" is not known`,
		`{"model":{"type":"WordPiece","vocab":{}}}`:                                            "vocab is empty",
		`{"model":{"type":"WordPiece","vocab":{"a":-1}}}`:                                      `"a" has number -1`,
		`{"model":{"type":"WordPiece","vocab":{"a":99999999999}}}`:                             "has number",
		`{"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"a":0}}}`:                   `unk_token "[UNK]" is not in vocab`,
		`{"model":{"type":"Unigram","byte_fallback":true,"vocab":[["a",0]]}}`:                  "byte_fallback",
		`{"model":{"type":"Unigram","vocab":[]}}`:                                              "vocab is empty",
		`{"model":{"type":"Unigram","unk_id":3,"vocab":[["a",-1]]}}`:                           "unk_id 3",
		`{"model":{"type":"Unigram","vocab":[["a"]]}}`:                                         "no piece with its score",
		`{"model":{"type":"Unigram","vocab":[[1,"a"]]}}`:                                       "no piece with its score",
		`{"normalizer":{"type":"Magic"},` + level + `}`:                                        `normalizer: type "Magic"`,
		`{"normalizer":{"type":"Sequence","normalizers":[{"type":"X"}]},` + level + `}`:        "normalizers[0]",
		`{"normalizer":{"type":"Replace","pattern":{"Regex":"("},"content":""},` + level + `}`: "pattern",
		`{"normalizer":{"type":"Precompiled","precompiled_charsmap":"////"},` + level + `}`:    "precompiled_charsmap",
		`{"pre_tokenizer":{"type":"Magic"},` + level + `}`:                                     `pre_tokenizer: type "Magic"`,
		`{"model":{"type":"BPE","vocab":{"a":0},"merges":[]}}`:                                 `model: type "BPE" is not known`,
		`{"pre_tokenizer":{"type":"Metaspace","replacement":""},` + level + `}`:                "replacement",
		`{"added_tokens":[{"id":-5,"content":"x"}],` + level + `}`:                             "added_tokens",
	} {
		if _, err := parseTokenizer([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", file, err, want)
		}
	}
}
