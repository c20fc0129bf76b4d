package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/transcript"
)

// The benchmarks of package index are compared with a bare FTS5 table that is
// given the same analysed words in the same run, since times of two runs on
// one machine differ more than two methods do.
//
//	go test -C bench -run '^$' -bench Index
//
// Metrics, beside those of package testing:
//
//	x-bare-fts5      time against the bare table's; for a full sync, the fastest
//	                 run of each, since it needs both cores and others may too
//	x-find           time against find -printf over the same files
//	p50-µs, p95-µs   of single searches
//	µs-bare          the bare table's p50
//	MB/s, chunks/s   of the fastest run, in 10⁶ bytes of the chunks' text
//
// MEMKERNEL_BENCH_LARGE=1 measures 100,000 chunks beside 10,000.

const realData = "../../shared/data"

// chunkBytes is about the default chunk of markdownstore, 400 tokens.
const chunkBytes = 1600

// perFile is how many chunks a file has.
const perFile = 10

// corpus is a workspace in memory and questions to it.
type corpus struct {
	files     map[string][]index.Chunk
	stats     []index.FileStat
	bytes     int64
	questions []string
}

func (c *corpus) read(path string) ([]index.Chunk, error) { return c.files[path], nil }

func (c *corpus) list() iter.Seq2[index.FileStat, error] {
	return func(yield func(index.FileStat, error) bool) {
		for _, s := range c.stats {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// add appends a chunk to the file it belongs in.
func (c *corpus) add(i int, trail []string, text string) {
	p := fmt.Sprintf("memory/%02d/note-%06d.md", i/1000, i/perFile)
	at := i%perFile*20 + 1
	c.files[p] = append(c.files[p], index.Chunk{StartLine: at, EndLine: at + 18, Trail: trail, Text: text, Tokens: len(text) / 4})
	c.bytes += int64(len(text))
}

func (c *corpus) finish() *corpus {
	for p, chunks := range c.files {
		var size int64
		for i := range chunks {
			size += int64(len(chunks[i].Text))
		}
		c.stats = append(c.stats, index.FileStat{Path: p, Size: size, ModTime: time.Date(2026, 3, 1, 12, 0, 0, 1, time.UTC)})
	}
	slices.SortFunc(c.stats, func(a, b index.FileStat) int { return strings.Compare(a.Path, b.Path) })
	return c
}

// corpora are the texts measured, by name: "notes" is drawn from real notes and
// talks and asked real questions; "zipf" is made of words as frequent as in
// real text, and its questions are of frequent words only, which no person asks
// but which cost most.
var corpora = map[string]func(testing.TB, int) *corpus{"notes": notesCorpus, "zipf": zipfCorpus}

// notesCorpus puts paragraphs of English notes, conversations and articles
// together at random until there are n chunks. The share of chunks that hold a
// word is then as in the real text, whatever n.
func notesCorpus(b testing.TB, n int) *corpus {
	pool := paragraphs(b)
	rng := rand.New(rand.NewSource(1))
	c := &corpus{files: map[string][]index.Chunk{}, questions: questions(b)}
	for i := range n {
		var text strings.Builder
		for text.Len() < chunkBytes {
			text.WriteString(pool[rng.Intn(len(pool))])
			text.WriteString("\n\n")
		}
		title := strings.Fields(pool[rng.Intn(len(pool))])
		c.add(i, []string{"Notes", strings.Join(title[:min(4, len(title))], " ")}, text.String())
	}
	return c.finish()
}

// paragraphs are those of the English workspaces and retrieval sets, and of
// what was said in the transcripts.
func paragraphs(b testing.TB) []string {
	var all []string
	for _, glob := range []string{"workspaces/LumenBot*/memory/*.md", "retrieval/locomo-*/memory/*.md", "retrieval/xquad-en/memory/*/*.md"} {
		files, _ := filepath.Glob(filepath.Join(realData, glob))
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, string(text))
		}
	}
	files, _ := filepath.Glob(filepath.Join(realData, "transcripts/*/*.jsonl"))
	for _, f := range files {
		s, err := transcript.LoadFile(f, nil)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, said(s.View(transcript.Full))...)
	}
	if len(all) == 0 {
		b.Skip("no texts at ../shared/data")
	}
	return cut(all)
}

// said is the running text of a conversation, without tools.
func said(msgs []memkernel.Message) []string {
	var out []string
	for i := range msgs {
		for j := range msgs[i].Parts {
			if p := &msgs[i].Parts[j]; p.Kind == memkernel.PartText {
				out = append(out, p.Text)
			}
		}
	}
	return out
}

// cut cuts texts into paragraphs no longer than half a chunk; dialogue, which
// has a line each, into groups of lines.
func cut(texts []string) []string {
	var out []string
	for _, text := range texts {
		for para := range strings.SplitSeq(text, "\n\n") {
			var piece strings.Builder
			for l := range strings.SplitSeq(para, "\n") {
				piece.WriteString(l[:min(len(l), chunkBytes/2)] + "\n")
				if piece.Len() >= chunkBytes/4 {
					out = append(out, piece.String())
					piece.Reset()
				}
			}
			if len(strings.Fields(piece.String())) > 3 {
				out = append(out, piece.String())
			}
		}
	}
	return out
}

// questions are those of the English retrieval sets that have five to eight
// words.
func questions(b testing.TB) []string {
	var out []string
	files, _ := filepath.Glob(filepath.Join(realData, "retrieval/*/qa.jsonl"))
	for _, name := range files {
		if !strings.Contains(name, "locomo") && !strings.Contains(name, "xquad-en") {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for sc := bufio.NewScanner(f); sc.Scan(); {
			var q struct{ Question string }
			if err := json.Unmarshal(sc.Bytes(), &q); err != nil {
				b.Fatal(err)
			}
			if n := len(strings.Fields(q.Question)); n >= 5 && n <= 8 {
				out = append(out, q.Question)
			}
		}
	}
	rand.New(rand.NewSource(1)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// zipfCorpus makes n chunks of 260 words, about chunkBytes. Its questions hold
// six words of rank 200 to 400, each in about a third of the chunks.
func zipfCorpus(_ testing.TB, n int) *corpus {
	rng := rand.New(rand.NewSource(1))
	zipf := rand.NewZipf(rng, 1.1, 4, 60000)
	c := &corpus{files: map[string][]index.Chunk{}}
	for i := range n {
		var text strings.Builder
		for range 260 {
			text.WriteString(word(zipf.Uint64()) + " ")
		}
		c.add(i, []string{"Notes", "Part " + word(uint64(i%50))}, text.String())
	}
	for range 200 {
		var q []string
		for range 6 {
			q = append(q, word(200+uint64(rng.Intn(200))))
		}
		c.questions = append(c.questions, strings.Join(q, " "))
	}
	return c.finish()
}

// word is the n-th word of an invented language.
func word(n uint64) string {
	const letters = "etaoinshrdlucmfwypvbgkjqxz"
	var w []byte
	for n += 700; n > 0; n /= 26 {
		w = append(w, letters[n%26])
	}
	return string(w)
}

// indexSizes are the numbers of chunks measured.
func indexSizes() []int {
	if os.Getenv("MEMKERNEL_BENCH_LARGE") != "" {
		return []int{10000, 100000}
	}
	return []int{10000}
}

// eachCorpus runs f on every corpus of every size.
func eachCorpus(b *testing.B, f func(*testing.B, *corpus)) {
	for _, name := range []string{"notes", "zipf"} {
		for _, n := range indexSizes() {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) { f(b, corpora[name](b, n)) })
		}
	}
}
