package bench

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
)

// analysed is a chunk's words, ready for a full-text table.
type analysed struct{ body, trail, path string }

// analyse makes the words of a corpus as package index does, in the order in
// which it would.
func analyse(b testing.TB, c *corpus) []analysed {
	a := analysis.New()
	var out []analysed
	for _, s := range c.stats {
		for _, ch := range c.files[s.Path] {
			body, lang := a.AppendIndex(nil, ch.Text)
			out = append(out, analysed{string(body),
				string(a.AppendIndexAs(nil, strings.Join(ch.Trail, "\n"), lang)),
				string(a.AppendIndexAs(nil, s.Path, lang))})
		}
	}
	return out
}

// peer is a bare FTS5 table in a file of its own, opened with the same driver
// and the same settings that an index has. MEMKERNEL_BENCH_TUNED=1 gives it the
// settings of FTS5 too by which an index makes large syncs fast.
type peer struct {
	testing.TB
	db *sql.DB
}

func newPeer(b testing.TB) peer {
	const common = "?_busy_timeout=5000&_journal_mode=WAL&_synchronous=NORMAL&_txlock=immediate"
	file := "file:" + filepath.Join(b.TempDir(), "bare.sqlite") + common
	driver := "sqlite"
	if index.Driver == "sqlite3" {
		driver, file = "sqlite3", file+"&_cache_size=-65536"
	} else {
		file += "&_pragma=cache_size(-65536)&_pragma=page_size(16384)"
	}
	db, err := sql.Open(driver, file)
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	p := peer{b, db}
	p.exec("PRAGMA page_size=16384")
	p.exec(`CREATE VIRTUAL TABLE f USING fts5(body, trail, path, content='', contentless_delete=1, tokenize="ascii")`)
	if os.Getenv("MEMKERNEL_BENCH_TUNED") != "" {
		p.exec("INSERT INTO f(f, rank) VALUES('hashsize', 4194304)")
		p.exec("INSERT INTO f(f, rank) VALUES('automerge', 16)")
	}
	b.Cleanup(func() { db.Close() })
	return p
}

func (p peer) exec(q string) {
	if _, err := p.db.Exec(q); err != nil {
		p.Fatal(err)
	}
}

// peerBatch is how many chunks go into one transaction; package index has the
// same default.
const peerBatch = 2000

func (p peer) insert(all []analysed) {
	for first := 0; first < len(all); first += peerBatch {
		tx, err := p.db.Begin()
		if err != nil {
			p.Fatal(err)
		}
		stmt, err := tx.Prepare("INSERT INTO f(rowid, body, trail, path) VALUES(?, ?, ?, ?)")
		if err != nil {
			p.Fatal(err)
		}
		for i, w := range all[first:min(first+peerBatch, len(all))] {
			if _, err := stmt.Exec(first+i+1, w.body, w.trail, w.path); err != nil {
				p.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			p.Fatal(err)
		}
	}
}

// search asks for the rows of the best k, without their texts.
func (p peer) search(expr string, k int) (rows []int64) {
	got, err := p.db.Query("SELECT rowid, bm25(f, 1, 3, 1.5) AS s FROM f WHERE f MATCH ? ORDER BY s LIMIT ?", expr, k)
	if err != nil {
		p.Fatal(err)
	}
	defer got.Close()
	for got.Next() {
		var row int64
		var score float64
		if err := got.Scan(&row, &score); err != nil {
			p.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// anyOf is an expression that any of the words satisfies.
func anyOf(terms []string) string { return `"` + strings.Join(terms, `" OR "`) + `"` }
