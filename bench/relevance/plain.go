package relevance

import (
	"context"
	"database/sql"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/blevesearch/bleve/v2/registry"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

// The kinds of rows of the FTS5 table.
const (
	rowsLine      = "line"
	rowsParagraph = "paragraph" // or an item of a list; a heading is in the row of the next line, unless that line is blank
	rowsSection   = "section"   // a heading and the lines up to the next heading
	rowsFile      = "file"
)

// plain is the baseline of a search: an FTS5 table of the same lines, porter and unicode61, any
// word of the question except its function words, ORDER BY bm25. Chinese, Japanese and Korean are
// cut into pairs of characters, because unicode61 would take a whole sentence for a word.
type plain struct {
	db    *sql.DB
	stops map[string]bool
}

// openPlain makes the table in memory, with the SQLite driver that the index uses. rows is the kind
// of the rows. A row that is a file has the file's name too.
func (b *bench) openPlain(ctx context.Context, rows string) (p plain, err error) {
	p.stops = b.stops
	driver := "sqlite"
	if !slices.Contains(sql.Drivers(), driver) {
		driver = "sqlite3"
	}
	if p.db, err = sql.Open(driver, ":memory:"); err != nil {
		return p, err
	}
	p.db.SetMaxOpenConns(1)
	if _, err := p.db.ExecContext(ctx, `CREATE VIRTUAL TABLE f USING fts5(body, path UNINDEXED, first UNINDEXED, last UNINDEXED, text UNINDEXED, tokenize='porter unicode61'); BEGIN`); err != nil {
		return p, err
	}
	for _, path := range slices.Sorted(maps.Keys(b.lines)) {
		d := markdownstore.Parse(path, strings.Join(b.lines[path], "\n"))
		for _, r := range rowsOf(d, b.lines[path], rows) {
			text := strings.Join(b.lines[path][r[0]-1:r[1]], "\n")
			words := plainWords(text)
			if rows == rowsFile {
				words = append(words, plainWords(nameOf(d))...)
			}
			if _, err := p.db.ExecContext(ctx, "INSERT INTO f VALUES(?, ?, ?, ?, ?)", strings.Join(words, " "), path, r[0], r[1], text); err != nil {
				return p, err
			}
		}
	}
	_, err = p.db.ExecContext(ctx, "COMMIT")
	return p, err
}

var startsParagraph = regexp.MustCompile(`^\s*$|^#|^\s*(?:[-*+]|\d+[.)])\s`)

// rowsOf returns the first and the last line of each row of a file.
func rowsOf(d markdownstore.Document, lines []string, rows string) (out [][2]int) {
	headings := map[int]bool{}
	for _, u := range markdownstore.Units(d) {
		headings[u.StartLine] = u.Kind == markdownstore.UnitHeading
	}
	for i, l := range lines {
		i++
		starts := i == 1 || rows == rowsLine || rows == rowsSection && headings[i]
		if starts || rows == rowsParagraph && (startsParagraph.MatchString(l) || strings.TrimSpace(lines[i-2]) == "") {
			out = append(out, [2]int{i, i})
		} else {
			out[len(out)-1][1] = i
		}
	}
	return out
}

// spoken is the least share of the lines that a language of the files must have: one line in so
// many. English always counts as a language of the files.
const spoken = 10

// functionWords returns the function words of the languages in which the files are.
func functionWords(files map[string][]string) (map[string]bool, error) {
	a := analysis.New()
	n, lines := map[string]int{}, 0
	for _, ls := range files {
		for _, l := range ls {
			if code := a.Language(l); code != "" {
				n[code]++
				lines++
			}
		}
	}
	n["en"] = max(n["en"], lines)
	out := map[string]bool{}
	for code, of := range n {
		if of*spoken < lines {
			continue
		}
		words, _ := registry.NewCache().TokenMapNamed("stop_" + code) // not every language has a list
		for w := range words {
			out[w] = true
		}
	}
	return out, nil
}

// find returns the best rows for a question. Function words count only if there is no other word.
func (p plain) find(ctx context.Context, question string, limit int) (out []retrieval.Hit, err error) {
	all := plainWords(question)
	words := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return p.stops[strings.ToLower(w)] })
	if len(words) == 0 {
		words = all
	}
	if len(words) == 0 {
		return nil, nil
	}
	rows, err := p.db.QueryContext(ctx, "SELECT path, first, last, text FROM f WHERE f MATCH ? ORDER BY bm25(f), rowid LIMIT ?", `"`+strings.Join(words, `" OR "`)+`"`, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		h := retrieval.Hit{Kind: retrieval.Memory}
		if err := rows.Scan(&h.Path, &h.StartLine, &h.EndLine, &h.Text); err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, rows.Err()
}

// plainWords cuts a text into runs of letters and digits. It cuts runs of Chinese, Japanese and
// Korean into pairs of characters.
func plainWords(text string) []string {
	var out []string
	for _, s := range wordSpans(text) {
		out = append(out, text[s.from:s.to])
		// A span has each character once, but a search uses every pair of neighbouring
		// characters.
		if s.pairs {
			run := []rune(text[s.from:s.to])
			out = out[:len(out)-1]
			if len(run) == 1 {
				out = append(out, string(run))
			}
			for i := 0; i+1 < len(run); i++ {
				out = append(out, string(run[i:i+2]))
			}
		}
	}
	return out
}

// wordSpan is the byte range of a run of letters and digits in a text. If pairs is set, the run's
// script has no spaces, so each pair of characters counts as a word.
type wordSpan struct {
	from, to int
	pairs    bool
}

func wordSpans(text string) []wordSpan {
	var out []wordSpan
	inside := false
	for i, r := range text {
		word, pairs := unicode.In(r, unicode.L, unicode.M, unicode.N), paired(r)
		switch {
		case !word:
		case inside && out[len(out)-1].pairs == pairs:
			out[len(out)-1].to = i + len(string(r))
		default:
			out = append(out, wordSpan{i, i + len(string(r)), pairs})
		}
		inside = word
	}
	return out
}

func paired(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
