package consolidation

import "strings"

// DefaultLossShare is the share of its lines that MEMORY.md may lose at once.
const DefaultLossShare = .25

// LostLine is a line that a change takes out of a file.
type LostLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Loss is what a change of a file loses.
type Loss struct {
	Path string `json:"path"`
	// Lines is how many lines with anything in them the file had; Lost are those
	// that are nowhere any more.
	Lines int        `json:"lines"`
	Lost  []LostLine `json:"lost"`
	// Share is the share of the lines that are lost, Limit what may be, and Refused
	// whether it is more.
	Share   float64 `json:"share"`
	Limit   float64 `json:"limit"`
	Refused bool    `json:"refused"`
}

// FindLoss returns which lines of before are neither in after nor, as found
// reports, anywhere else. Bullets, blanks and comments make no difference.
func FindLoss(path, before, after string, limit float64, found func(line string) bool) *Loss {
	has := map[string]bool{}
	for l := range strings.SplitSeq(after, "\n") {
		has[LineKey(l)] = true
	}
	out := &Loss{Path: path, Lost: []LostLine{}, Limit: limit}
	n := 0
	for l := range strings.SplitSeq(before, "\n") {
		n++
		key := LineKey(l)
		if key == "" {
			continue
		}
		out.Lines++
		if !has[key] && (found == nil || !found(key)) {
			out.Lost = append(out.Lost, LostLine{n, strings.TrimSpace(l)})
		}
	}
	if out.Lines > 0 {
		out.Share = float64(len(out.Lost)) / float64(out.Lines)
	}
	out.Refused = limit > 0 && out.Share > limit
	return out
}

// LineKey returns what identifies a line wherever it is: "" for one without
// content, a rule or a marker.
func LineKey(l string) string { return strings.Trim(uncommented(l), " \t\r-*+#_=") }

// Says returns a function that reports whether any file but one holds a line,
// by its [LineKey].
func (s *Snapshot) Says(but string) func(key string) bool {
	var has map[string]bool
	return func(key string) bool {
		if has == nil {
			has = map[string]bool{}
			for i := range s.Files {
				f := &s.Files[i]
				if f.Path == but || f.Err != nil || !f.Evergreen() && !f.archived() {
					continue
				}
				for l := range strings.SplitSeq(f.Doc.Raw, "\n") {
					has[LineKey(l)] = true
				}
			}
		}
		return has[key]
	}
}
