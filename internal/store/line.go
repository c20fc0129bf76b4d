package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"regexp"
	"slices"
	"strconv"

	"github.com/memkernel/memkernel/internal/textutil"
)

// lineVersion is the version of a log's new lines. plainVersion is the version of lines without a
// sum: the lines of traces, and those that older versions of the program wrote.
//
//	1: first version
//	2: with a sum
const lineVersion, plainVersion = 2, 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chain is the running sum over a file's records. The sum after a record is sixteen hex digits of
// the SHA-256 over the previous sum and the record's bytes. Before the first record the sum is
// "".
type chain string

func (c chain) next(rec []byte) chain {
	h := sha256.New()
	io.WriteString(h, string(c))
	h.Write(rec)
	return chain(hex.EncodeToString(h.Sum(nil)[:8]))
}

// encodeRecord appends the line of a record and updates the sum. If sum is nil, the line has no
// sum.
func encodeRecord(b *bytes.Buffer, r *Record, sum *chain) error {
	if r.Op == "" {
		return errors.New("record without an operation")
	}
	rec, err := textutil.JSON(r)
	if err != nil {
		return fmt.Errorf("encode %s record %q: %w", r.Op, r.ID, err)
	}
	writeLine(b, sum, rec)
	return nil
}

// decodeRecord reads a record. If the body is the record's last member, as encodeRecord writes it,
// the body is only checked and copied. encoding/json decodes every other record.
func decodeRecord(rec []byte) (r Record, err error) {
	head, body, _ := bytes.Cut(rec, []byte(`,"body":`))
	if body, ok := bytes.CutSuffix(body, []byte("}")); ok && json.Valid(body) && json.Unmarshal(append(bytes.Clone(head), '}'), &r) == nil {
		r.Body = bytes.Clone(body)
		return r, nil
	}
	r = Record{}
	return r, json.Unmarshal(rec, &r)
}

// writeLine writes a record in its envelope, as one line.
func writeLine(b *bytes.Buffer, sum *chain, rec []byte) {
	crc := crc32.Checksum(rec, castagnoli)
	if sum == nil {
		fmt.Fprintf(b, `{"v":%d,"n":%d,"crc":"%08x","rec":`, plainVersion, len(rec), crc)
	} else {
		*sum = sum.next(rec)
		fmt.Fprintf(b, `{"v":%d,"n":%d,"crc":"%08x","sum":"%s","rec":`, lineVersion, len(rec), crc, *sum)
	}
	b.Write(rec)
	b.WriteString("}\n")
}

// lineReader reads records line by line and keeps count of its position.
type lineReader struct {
	file     string
	r        *bufio.Reader
	headMark // after the last good line
	// chained reports whether a line had a sum.
	chained bool
	// wantSum reports whether next must check the lines' sums.
	wantSum bool
	// noBreak reports whether the last line had no line break.
	noBreak bool
	// head is the beginning of the last good line, which begins at headAt.
	head   []byte
	headAt int64
	// last is the line that was read last, good or not.
	last []byte
}

func newLineReader(file string, r io.Reader) *lineReader {
	size := int64(64 << 10)
	if s, ok := r.(*io.SectionReader); ok {
		size = min(size, s.Size()+1) // mostly a few lines, or none, are new
	}
	return &lineReader{file: file, r: bufio.NewReaderSize(r, int(size))}
}

// next returns the next record. At the end it returns io.EOF. For a damaged line it returns a
// *LogError, and for a line of a newer version an error that wraps ErrNewer. After an error
// l.headMark is unchanged.
func (l *lineReader) next() (Record, error) {
	for {
		line, n, err := l.readLine()
		if err != nil {
			return Record{}, err
		}
		if len(line) == 0 {
			l.Off += int64(n)
			l.Lines++
			continue
		}
		env, err := decodeEnvelope(line)
		if errors.Is(err, ErrNewer) {
			return Record{}, fmt.Errorf("journal %s, line %d: %w; upgrade memkernel, or point it at another state directory", l.file, l.Lines+1, err)
		}
		if err != nil {
			return Record{}, l.damage(err)
		}
		if err := l.follow(&env); err != nil {
			return Record{}, err
		}
		rec, err := decodeRecord(env.rec)
		if err != nil {
			d := l.damage(err)
			d.whole = true
			return Record{}, d
		}
		l.headAt = l.Off
		l.Off += int64(n)
		l.Lines++
		l.head = l.last[:min(n, maxLineHead)]
		return rec, nil
	}
}

// follow updates the sum and compares it with the line's own sum.
func (l *lineReader) follow(e *envelope) error {
	if !l.wantSum {
		return nil
	}
	sum := l.Sum.next(e.rec)
	if e.sum != "" && chain(e.sum) != sum {
		d := l.damage(errors.New("it does not follow the line before it: one is missing, was moved, or stands twice"))
		d.whole = true
		return d
	}
	l.Sum, l.chained = sum, l.chained || e.sum != ""
	return nil
}

// readLine returns the next line without its line break, and the number of bytes that the line
// takes in the file.
func (l *lineReader) readLine() (line []byte, n int, err error) {
	line, err = l.r.ReadBytes('\n')
	if n = len(line); err != nil && (err != io.EOF || n == 0) {
		return nil, 0, err
	}
	l.last = line
	l.noBreak = line[n-1] != '\n'
	if l.Off == 0 && l.Lines == 0 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return bytes.TrimRight(line, "\r\n"), n, nil
}

func (l *lineReader) damage(err error) *LogError {
	return &LogError{File: l.file, Line: l.Lines + 1, Offset: l.Off, Reason: err.Error(),
		Hint: salvageHint}
}

// tornLine reports whether the line that was read last is only the beginning of a line, with
// nothing after it, as a killed write leaves it.
func (l *lineReader) tornLine() bool {
	const begin = `{"v":`
	n := min(len(l.last), len(begin))
	control := func(c byte) bool { return c < ' ' } // JSON escapes them
	return l.noBreak && string(l.last[:n]) == begin[:n] && !slices.ContainsFunc(l.last, control)
}

// validBehind reports whether a valid line, or a line of a newer version, follows the broken line.
// It reads to the end, or up to that line.
func (l *lineReader) validBehind() (bool, error) {
	for {
		line, _, err := l.readLine()
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if len(line) == 0 {
			continue
		}
		if _, err := decodeEnvelope(line); err == nil || errors.Is(err, ErrNewer) {
			return true, nil
		}
	}
}

// decodeEnvelope checks the members of a line other than its record. The caller must check the
// sum, which depends on the lines before it.
func decodeEnvelope(line []byte) (envelope, error) {
	env, ok := fastEnvelope(line)
	if !ok {
		// Someone reformatted the line, the line is not a record, or it is torn.
		var e struct {
			V   int             `json:"v"`
			N   int             `json:"n"`
			CRC string          `json:"crc"`
			Sum string          `json:"sum"`
			Rec json.RawMessage `json:"rec"`
		}
		err := json.Unmarshal(line, &e)
		if v := leadingVersion(line); v > lineVersion || err == nil && e.V > lineVersion {
			return envelope{}, fmt.Errorf("format version %d: %w", max(v, e.V), ErrNewer)
		}
		if err != nil {
			return envelope{}, errors.New("not a whole journal line")
		}
		env = envelope{e.V, e.N, e.CRC, e.Sum, e.Rec}
	}
	switch {
	case env.v > lineVersion:
		return envelope{}, fmt.Errorf("format version %d: %w", env.v, ErrNewer)
	case env.v < plainVersion:
		return envelope{}, errors.New("no format version")
	case env.v > plainVersion && !ok:
		return envelope{}, errors.New("not written as this program writes a line")
	case len(env.rec) != env.n:
		return envelope{}, fmt.Errorf("record of %d bytes should have %d", len(env.rec), env.n)
	case !sameCRC(env.crc, crc32.Checksum(env.rec, castagnoli)):
		return envelope{}, errors.New("checksum does not match")
	case (env.v > plainVersion) != (len(env.sum) == sumLen):
		return envelope{}, fmt.Errorf("a line of version %d with the sum %q", env.v, env.sum)
	}
	return env, nil
}

// sumLen is the length of a sum in hex digits.
const sumLen = 16

func sameCRC(hex string, crc uint32) bool { return hex == fmt.Sprintf("%08x", crc) }

type envelope struct {
	v, n int
	crc  string
	sum  string // "" in a line of version 1
	rec  []byte
}

// envelopeHead matches the part of a line before the record.
var envelopeHead = regexp.MustCompile(`^\{"v":(\d+),"n":(\d+),"crc":"(.{8})"(?:,"sum":"(.{16})")?$`)

// fastEnvelope parses a line exactly as encodeRecord writes it, without
// looking into the record.
func fastEnvelope(line []byte) (e envelope, ok bool) {
	head, rec, _ := bytes.Cut(line, []byte(`,"rec":`))
	m := envelopeHead.FindSubmatch(head)
	rec, ok = bytes.CutSuffix(rec, []byte("}"))
	if m == nil || !ok {
		return e, false
	}
	v, err := strconv.Atoi(string(m[1]))
	n, nErr := strconv.Atoi(string(m[2]))
	return envelope{v, n, string(m[3]), string(m[4]), rec}, err == nil && nErr == nil
}

// versionHead matches the beginning of a line up to the end of its version.
var versionHead = regexp.MustCompile(`^\{"v":(\d+),`)

// leadingVersion reads the version from a line that is not whole. It returns 0 if the line has no
// version, or if the number may be incomplete.
func leadingVersion(line []byte) int {
	if m := versionHead.FindSubmatch(line); m != nil {
		if v, err := strconv.Atoi(string(m[1])); err == nil {
			return v
		}
	}
	return 0
}
