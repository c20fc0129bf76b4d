package consolidation

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

// Origin is the author of an entry in its place, or of its words.
type Origin string

// The origins.
const (
	// OriginHand is a person who wrote into the file, or changed a text there.
	OriginHand Origin = "hand"
	// OriginWords means a person's words in a session, as the person typed them.
	OriginWords Origin = "words"
	// OriginAgent is an agent's statement.
	OriginAgent Origin = "agent"
	// OriginTool is a tool's output.
	OriginTool Origin = "tool"
	// OriginUpkeep is a curation or a pruning.
	OriginUpkeep Origin = "upkeep"
	// OriginUnknown is an unknown author, who is treated as a person.
	OriginUnknown Origin = "unknown"
)

// Machine reports whether an agent, a tool or upkeep is the author.
func (o Origin) Machine() bool { return o == OriginAgent || o == OriginTool || o == OriginUpkeep }

// Record has the known authors of text in files. Its functions may be nil.
type Record struct {
	// Wrote reports whether memkernel wrote a piece of a file in its current form, above the
	// marker of an entry. A marker of "" means that there is no marker.
	Wrote func(path, marker, text string) bool
	// Said returns the author of a line of a file that an observed session wrote there, by the
	// line's [LineHash]. It returns "" if no session wrote the line.
	Said func(path, hash string) Origin
}

// LineHash identifies a line as it is written, without the blanks round it. It reveals nothing to
// a reader without the line.
func LineHash(line string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(line)))
	return hex.EncodeToString(sum[:8])
}

// originOf returns the author of a text in a file, above the marker of an entry. Logs must not be
// changed, so there the marker decides: only the kernel writes with one.
func (r Record) originOf(f *file, marker, text string) Origin {
	if r.Wrote != nil && r.Wrote(f.Path, marker, strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")) {
		return OriginUpkeep
	}
	if o := r.said(f.Path, text); o != "" {
		return o
	}
	if marker == "" {
		return OriginUnknown
	}
	if f.Kind == markdownstore.KindDaily || f.Kind == markdownstore.KindBuffer {
		return kept(marker, text)
	}
	return OriginHand // a person put it below the marked text, or changed that
}

// kept returns the author of a text that the kernel itself keeps in a log. The kind of the marker
// decides: the text is a statement that an agent wrote down, or a capture of a session.
func kept(marker, text string) Origin {
	plain := strings.TrimLeft(text, " \t-*+")
	kind, _, _ := strings.Cut(marker, "-")
	switch {
	case kind == "up":
		return OriginUpkeep
	case kind == "me":
		return OriginAgent
	case claimed.MatchString(firstLine(plain)), strings.HasPrefix(plain, quotesUser):
		return OriginWords
	case strings.HasPrefix(plain, "["+string(lesson)+"]"):
		return OriginTool // a tool's failure is its source
	}
	return OriginAgent
}

// claimed matches an entry's claim to be a person's word.
var claimed = textutil.LazyRegexp(`(?im)^([ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?:\[[a-z]+\][ \t]*)*?)\[human\][ \t]*`)

// asAgent returns a text as an agent may write it: no entry in it is called a person's word.
func asAgent(text string) string { return claimed.ReplaceAllString(text, "${1}"+agentMark) }

// agentMark is the mark that an agent says an entry.
const agentMark = "agent: "

// shown are the files that the beginning of a session shows.
var shown = []markdownstore.Kind{markdownstore.KindMemory, markdownstore.KindUser, markdownstore.KindDaily}

// ByAgent returns the text in the form in which an agent writes it into a file. In files that the
// beginning of a session shows, it marks each item and each paragraph as an agent's, except for
// lines that any text in before has. Code and headings stay as they are.
func ByAgent(path, text string, before ...string) string {
	if c, _ := markdownstore.Classify(path); !slices.Contains(shown, c.Kind) {
		return text
	}
	had := map[string]bool{}
	for _, t := range before {
		for l := range strings.SplitSeq(t, "\n") {
			had[LineHash(l)] = true
		}
	}
	lines := strings.SplitAfter(text, "\n")
	begins, code := true, false // whether a paragraph begins here
	for i, l := range lines {
		mark := bullet.FindString(l)
		switch words := strings.TrimSpace(l[len(mark):]); {
		case strings.HasPrefix(words, "```"):
			begins, code = code, !code
		case code:
		case words == "", words[0] == '#', strings.HasPrefix(words, "<!--"), strings.Trim(words, "-*_=") == "":
			begins = true
		case begins, strings.TrimSpace(mark) != "":
			if begins = false; !had[LineHash(l)] {
				lines[i] = addTags(l, nil, agentMark)
			}
		}
	}
	return strings.Join(lines, "")
}

// said returns the author of all lines of a text, "" if one line's author is unknown. If any line
// is a person's, the author is the person. Else, if any line is a tool's, the author is the tool.
func (r Record) said(path, text string) Origin {
	if r.Said == nil {
		return ""
	}
	var out Origin
	for l := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(l) == "" {
			continue
		}
		switch o := r.Said(path, LineHash(l)); {
		case o == "":
			return ""
		case out == "", !o.Machine(), o == OriginTool && out == OriginAgent:
			out = o
		}
	}
	return out
}
