package markdownstore

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// The facts of a day's log are in a file of their own: memory/.facts/2026-03-01.md for
// memory/2026-03-01.md. The file has a row for each fact, with the lines from which the fact is
// made. A search finds these lines by the words of the fact. Facts are not memory themselves. The
// folder is hidden, so no listing has it. A row counts only while its lines are unchanged.

// factsDir has the facts of the files in memory/.
const factsDir = memoryDir + "/.facts"

// FactsPath returns the path of the facts of a file. ok is false if a file like it has none: only
// files in memory/ itself have facts.
func FactsPath(p string) (facts string, ok bool) {
	dir, name := path.Split(p)
	if dir != memoryDir+"/" || !isMarkdown(name) || skippedName(name) || anywhere(name) {
		return "", false
	}
	return factsDir + "/" + name, true
}

// Fact is a statement with the lines that it is made from.
type Fact struct {
	// Text is on one line.
	Text string
	// Lines are cited, 1-based and inclusive, in order.
	Lines []LineRange
	// Row is the fact's line in the file of facts, or 0 if the fact is not from that file.
	Row int

	hash string
}

// LineRange is lines of a file, 1-based and inclusive.
type LineRange struct{ From, To int }

func (l LineRange) String() string {
	if l.From == l.To {
		return fmt.Sprintf("L%d", l.From)
	}
	return fmt.Sprintf("L%d-L%d", l.From, l.To)
}

// NewFact makes a fact of lines of a text. Text is brought on one line, without comments.
// ok is false if it is empty then, or lines are cited that the text has not.
func NewFact(text string, lines []LineRange, of string) (f Fact, ok bool) {
	text = strings.NewReplacer("<!--", " ", "-->", " ").Replace(strings.ToValidUTF8(text, "\uFFFD"))
	f.Text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	f.Lines = slices.Clone(lines)
	slices.SortFunc(f.Lines, func(a, b LineRange) int { return a.From - b.From })
	f.hash, ok = hashLines(splitFile(of), f.Lines, 0)
	return f, ok && f.Text != ""
}

// FactsFile returns the file of the facts of the file p. Unless read is 0, it records that text, the
// content of p, was read for facts up to that line.
func FactsFile(p string, facts []Fact, text string, read int) string {
	var b strings.Builder
	b.WriteString("# Facts of " + p + "\n\nThe lines that a row cites are found by the words of the row, too. A row is no memory of\nits own: once its lines have changed it does not count. This file may be deleted.\n\n")
	for _, f := range facts {
		refs := make([]string, len(f.Lines))
		for i, l := range f.Lines {
			refs[i] = p + "#" + l.String()
		}
		b.WriteString("- " + f.Text + " <!-- from " + strings.Join(refs, ", ") + " = " + f.hash + " -->\n")
	}
	if read > 0 {
		hash, _ := hashLines(splitFile(text), []LineRange{{1, read}}, 0)
		fmt.Fprintf(&b, "\n<!-- read L1-L%d = %s -->\n", read, hash)
	}
	return b.String()
}

// factRow is a row of facts: its text, the lines that it cites, and their hash.
var factRow = textutil.LazyRegexp(`^- (.+?) <!-- from ([^<>]+) = ([0-9a-f]{16}) -->\s*$`)

// factLines are lines as rows cite them: L12 or L12-L14.
var factLines = textutil.LazyRegexp(`^L(\d{1,9})(?:-L(\d{1,9}))?$`)

// ParseFacts reads the facts of a file from the text of its file of facts. It counts the facts
// whose lines text does not have any more, and every other unusable row. Lines that have only
// moved are found again.
func ParseFacts(facts, p, text string) (out []Fact, unused int) {
	lines := splitFile(text)
	n := 0
	for row := range strings.Lines(facts) {
		if n++; !strings.HasPrefix(row, "- ") {
			continue
		}
		f, ok := parseFact(strings.TrimRight(row, "\r\n"), p)
		if ok {
			f.Row, ok = n, f.settle(lines)
		}
		if !ok {
			unused++
			continue
		}
		out = append(out, f)
	}
	return out, unused
}

func parseFact(row, p string) (f Fact, ok bool) {
	m := factRow.FindStringSubmatch(row)
	if m == nil {
		return f, false
	}
	f.Text, f.hash = m[1], m[3]
	for ref := range strings.SplitSeq(m[2], ", ") {
		at, own := strings.CutPrefix(ref, p+"#")
		n := factLines.FindStringSubmatch(at)
		if !own || n == nil {
			return f, false
		}
		var l LineRange
		l.From, _ = strconv.Atoi(n[1])
		l.To, _ = strconv.Atoi(cmp.Or(n[2], n[1]))
		if l.From < 1 || l.To < l.From {
			return f, false
		}
		f.Lines = append(f.Lines, l)
	}
	return f, true
}

// readRow marks how far a file was read for facts, with the hash of that.
var readRow = textutil.LazyRegexp(`(?m)^<!-- read L1-L(\d+) = ([0-9a-f]{16}) -->\s*$`)

// ReadTo returns the line up to which a text was read for facts, as the file of facts records. It
// returns 0 if the text was not read, or if the lines have changed since.
func ReadTo(facts, text string) int {
	m := readRow.FindStringSubmatch(facts)
	if m == nil {
		return 0
	}
	to, err := strconv.Atoi(m[1])
	if hash, ok := hashLines(splitFile(text), []LineRange{{1, to}}, 0); err != nil || !ok || hash != m[2] {
		return 0
	}
	return to
}

// moved is how far lines are looked for that are not where they were.
const moved = 200

// settle finds the lines of a fact, where they are now.
func (f *Fact) settle(lines []string) bool {
	for d := range 2*moved + 1 {
		by := (d + 1) / 2
		if d%2 == 0 {
			by = -by
		}
		if h, ok := hashLines(lines, f.Lines, by); ok && h == f.hash {
			for i := range f.Lines {
				f.Lines[i].From, f.Lines[i].To = f.Lines[i].From+by, f.Lines[i].To+by
			}
			return true
		}
	}
	return false
}

// hashLines hashes the cited lines of a file, each shifted by by, without trailing white space.
func hashLines(lines []string, cited []LineRange, by int) (string, bool) {
	h := sha256.New()
	for _, l := range cited {
		from, to := l.From+by, l.To+by
		if from < 1 || to < from || to > len(lines) {
			return "", false
		}
		for _, line := range lines[from-1 : to] {
			h.Write([]byte(strings.TrimRight(line, " \t\r")))
			h.Write([]byte{'\n'})
		}
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), len(cited) > 0
}

func splitFile(text string) []string {
	return strings.Split(strings.TrimPrefix(text, bom), "\n")
}

// FactFiles lists the files of facts in a workspace, by the path of the file that the facts
// describe. It opens no file. It returns nil if the workspace has no files of facts.
func (s *Store) FactFiles() map[string]fs.FileInfo {
	entries, err := readDir(s.files, factsDir)
	if err != nil {
		return nil
	}
	out := map[string]fs.FileInfo{}
	for _, e := range entries {
		p := memoryDir + "/" + e.Name()
		if _, ok := FactsPath(p); !ok {
			continue
		}
		if fi, err := e.Info(); err == nil && fi.Mode().IsRegular() {
			out[p] = fi
		}
	}
	return out
}

// Facts returns the facts of a file of a workspace, given the searched text of the file. unused
// counts the rows that no longer hold. Facts returns none if the file has no facts or if
// they can't be read.
func (s *Store) Facts(p, text string) (facts []Fact, unused int) {
	at, ok := FactsPath(p)
	if !ok {
		return nil, 0
	}
	l, err := s.ReadFile(at)
	if err != nil || binaryWhy(l.Text) != "" {
		return nil, 0
	}
	return ParseFacts(l.Text, p, text)
}

// FactsIn yields the facts about a range of lines of a file. Each fact comes with those of its
// lines that are within the range.
func FactsIn(facts []Fact, from, to int) iter.Seq2[LineRange, Fact] {
	return func(yield func(LineRange, Fact) bool) {
		for _, f := range facts {
			for _, l := range f.Lines {
				if l.From <= to && l.To >= from && !yield(LineRange{max(l.From, from), min(l.To, to)}, f) {
					return
				}
			}
		}
	}
}

// Citation names the row of a fact of a file.
func (f *Fact) Citation(p string) string {
	at, _ := FactsPath(p)
	return fmt.Sprintf("%s#L%d", at, f.Row)
}
