package predict

import (
	"fmt"
	"io"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// segment is a part of a session in which the host only appended. The prompt of each of its calls is
// a prefix of Messages.
type segment struct {
	Messages []memkernel.Message
	Calls    []transcript.Call
}

// segmentsOf finds how the host's prompts grew and where it compacted. The host's view of a stretch
// is the view of the file up to the next compaction, so the file is read once per compaction.
func segmentsOf(r io.ReaderAt, size int64, opt *transcript.Options) ([]segment, error) {
	var ends []int64
	for rec, err := range transcript.Stream(io.NewSectionReader(r, 0, size), opt) {
		if err != nil {
			return nil, fmt.Errorf("predict: %w", err)
		}
		if rec.Rewrites() {
			ends = append(ends, rec.Offset)
		}
	}
	ends = append(ends, size)
	var out []segment
	known := map[string]int{}
	for _, end := range ends {
		if end == 0 {
			continue
		}
		name := ""
		if opt != nil {
			name = opt.Name
		}
		s, err := transcript.Load(io.NewSectionReader(r, 0, end), name, opt)
		if err != nil {
			return nil, fmt.Errorf("predict: %w", err)
		}
		if seg, ok := newSegment(s.View(transcript.Host), known); ok {
			out = append(out, seg)
		}
	}
	return out, nil
}

// newSegment keeps the calls that no earlier segment had. A call is identified by the key of its
// answer. Answers without a key are distinguished by their time, and answers with the same time
// by their order.
func newSegment(msgs []memkernel.Message, known map[string]int) (segment, bool) {
	seg := segment{Messages: msgs}
	met := map[string]int{}
	for _, c := range transcript.Calls(msgs) {
		m := &msgs[c.Index]
		id := m.Key + "\x00" + m.Time.String()
		if met[id]++; met[id] <= known[id] && (m.Key != "" || !m.Time.IsZero()) {
			continue
		}
		known[id] = max(known[id], met[id])
		seg.Calls = append(seg.Calls, c)
	}
	return seg, len(seg.Calls) > 0
}
