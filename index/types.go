package index

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
)

// FileStat holds the data about a file that a listing has without opening the file.
type FileStat struct {
	// Path is relative to the workspace, with forward slashes. It names the
	// file in the index.
	Path string
	// Size in bytes.
	Size int64
	// ModTime is the modification time from the file system.
	ModTime time.Time
	// Changed is when the file or its stat last changed, in ns since 1970, or 0 if the file system
	// does not say. It reveals a file that was rewritten with its old size and ModTime.
	Changed int64
}

// Chunk is a piece of a file that a search finds as a whole.
type Chunk struct {
	// ID names the chunk across rebuilds. Equal chunks of one file need different IDs. If ID is
	// "", the index derives an ID from the path, the trail, the text, and the number of equal
	// chunks before this chunk.
	ID string
	// StartLine and EndLine are 1-based and inclusive.
	StartLine, EndLine int
	// Trail is the headings above the chunk, outermost first.
	Trail []string
	// Date is YYYY-MM-DD, or "".
	Date string
	// Tokens is the text's size by the caller's counter, or 0 if the text was not counted.
	Tokens int
	// Text is the text that is searched and shown.
	Text string
	// Keywords are further words by which the chunk's file is found, such as the title, aliases
	// and tags of its front matter. The lines before the first blank line are names of the file.
	// They weigh as much as the words of the path. They are not part of Hash, nor of an ID that
	// the index derives.
	Keywords string
	// Labels are names by which a caller can select the chunk's file, see [Index.Labels]. The
	// labels of a file are those of its first chunk. No search finds them.
	Labels []string
	// Over is "" for a chunk of a file that is still valid. It is "done" if the work that the file is
	// about is finished, "superseded" if the file is no longer valid, or else the name of the text
	// that replaces the file.
	Over string
}

// overMark begins the line of Over in the stored keywords.
const overMark = "\n\x1f="

var oneLine = strings.NewReplacer("\n", " ", "\r", " ", "\x1f", "")

// storedKeywords returns the stored form of a chunk's keywords and Over.
func storedKeywords(c *Chunk) string {
	keywords := strings.ReplaceAll(c.Keywords, "\x1f", "")
	if c.Over != "" {
		keywords += overMark + oneLine.Replace(c.Over)
	}
	return keywords
}

// SetKeywords sets the keywords of the hit's chunk from their stored form.
func (h *Hit) SetKeywords(stored string) {
	keywords, over, _ := strings.Cut(stored, overMark)
	if names, _ := cutNames(keywords); names != "" {
		h.Names = strings.Split(names, "\n")
	}
	h.Over = over
}

// cutNames divides keywords into the names of the file and the rest.
func cutNames(keywords string) (names, rest string) {
	names, rest, ok := strings.Cut(keywords, "\n\n")
	if !ok {
		return "", keywords
	}
	return names, rest
}

// searched returns the searched texts of stored keywords: the names of the file, and the other
// keywords.
func searched(stored string) (names, other string) {
	keywords, _, _ := strings.Cut(stored, overMark)
	return cutNames(keywords)
}

// Hash identifies a chunk's content: the sha256 of its headings and its text. Vectors are stored
// by this hash, so text that moves to another place or file keeps its vector.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Scan reads a stored hash. A stored value of another length is no hash of a text.
func (h *Hash) Scan(stored any) error {
	b, _ := stored.([]byte)
	*h = Hash{}
	copy(h[:], b)
	return nil
}

// HashChunk returns the Hash of a chunk with these headings and this text.
func HashChunk(trail []string, text string) Hash {
	return hashStored(joinTrail(trail), text)
}

func hashStored(trail, text string) Hash {
	buf := make([]byte, 0, len(trail)+1+len(text))
	buf = append(append(append(buf, trail...), 0), text...)
	return sha256.Sum256(buf)
}

// joinTrail returns the stored form of a trail: one heading on each line.
func joinTrail(trail []string) string {
	for i, t := range trail {
		if strings.ContainsAny(t, "\n\r") {
			clean := append([]string(nil), trail...)
			for j := i; j < len(clean); j++ {
				clean[j] = strings.Join(strings.Fields(clean[j]), " ")
			}
			return strings.Join(clean, "\n")
		}
	}
	return strings.Join(trail, "\n")
}

// SplitLines returns the stored lines: the headings of a trail, or the labels of a file. It returns nil
// for "".
func SplitLines(stored string) []string {
	if stored == "" {
		return nil
	}
	return strings.Split(stored, "\n")
}

// deriveID names a chunk that came without a name.
func deriveID(path string, h Hash, nth int) string {
	buf := append([]byte(path), 0)
	buf = append(buf, h[:]...)
	if nth > 0 {
		buf = strconv.AppendInt(buf, int64(nth), 10)
	}
	sum := sha256.Sum256(buf)
	return hex.EncodeToString(sum[:16])
}

// Hit is a chunk that answers a question, by one kind of search.
type Hit struct {
	// ID is the ID of the chunk.
	ID   string
	Path string
	// StartLine and EndLine are 1-based and inclusive.
	StartLine, EndLine int
	// Seq is the chunk's place in its file, from 0.
	Seq int
	// Whole reports whether the file has no other chunk.
	Whole bool
	// Trail is the headings above the chunk, outermost first.
	Trail []string
	// Date is YYYY-MM-DD or "". ModTime is the modification time of the file.
	Date    string
	ModTime time.Time
	// Tokens is the text's size as the chunker counted it.
	Tokens int
	Text   string
	// Names are the names that the file gives itself, without the name of the file.
	Names []string
	// Over is the Over of the chunk.
	Over string
	// Hash finds the chunk's vector.
	Hash Hash
	// Raw is the score as the search computed it: −bm25, at least 0 and rounded
	// to 1e-9, or the cosine of the angle between the vectors.
	Raw float64
	// Score is Raw scaled to 0 to 1. Scores have the same order as the values of Raw.
	Score float64
	// Rank is the place among the hits, from 1.
	Rank int

	row, file int64
}

// Ref cites the hit's text.
func (h *Hit) Ref() memkernel.Ref {
	sum := sha256.Sum256([]byte(h.Text))
	return memkernel.Ref{Path: h.Path, StartLine: h.StartLine, EndLine: h.EndLine, Hash: hex.EncodeToString(sum[:])}
}

// OwnedPath returns the path under which an index of several agents holds another agent's file:
// "@agent/memory/x.md". The path names no file of this workspace.
func OwnedPath(agent, path string) string { return "@" + agent + "/" + path }

// SplitOwner splits a path into its agent and the rest. agent is "" for a file of this workspace.
func SplitOwner(path string) (agent, rest string) {
	if strings.HasPrefix(path, "@") {
		if agent, rest, ok := strings.Cut(path[1:], "/"); ok && agent != "" {
			return agent, rest
		}
	}
	return "", path
}
