package cachelayout

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// recordedCall is what a Claude Code transcript records of one model call.
type recordedCall struct {
	start               time.Time // of the record before the answer
	model               string
	read, w5, w1, input int
}

func (c recordedCall) total() int { return c.read + c.w5 + c.w1 + c.input }

// readCalls reads the calls of a transcript, main line only.
func readCalls(t *testing.T, path string) []recordedCall {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var calls []recordedCall
	var last time.Time
	seen := map[string]bool{}
	for sc := bufio.NewReaderSize(f, 1<<20); ; {
		line, err := sc.ReadBytes('\n')
		var rec struct {
			Timestamp   time.Time
			IsSidechain bool
			Message     struct {
				ID, Model string
				Usage     *struct {
					Input   int `json:"input_tokens"`
					Read    int `json:"cache_read_input_tokens"`
					Written int `json:"cache_creation_input_tokens"`
					By      struct {
						W5 int `json:"ephemeral_5m_input_tokens"`
						W1 int `json:"ephemeral_1h_input_tokens"`
					} `json:"cache_creation"`
				}
			}
		}
		if json.Unmarshal(line, &rec) == nil && !rec.IsSidechain {
			if u := rec.Message.Usage; u != nil && rec.Message.ID != "" && !seen[rec.Message.ID] && u.Input+u.Read+u.Written > 0 {
				seen[rec.Message.ID] = true
				calls = append(calls, recordedCall{last, rec.Message.Model, u.Read, u.Written - u.By.W1, u.By.W1, u.Input})
			}
			if !rec.Timestamp.IsZero() {
				last = rec.Timestamp
			}
		}
		if err != nil {
			return calls
		}
	}
}

// TestClockAgainstRecordedSessions replays the clock over real calls: a call
// is warm if it read at least 60 % of the context before it. The prediction
// sees sizes and times only.
func TestClockAgainstRecordedSessions(t *testing.T) {
	files, _ := filepath.Glob("../../shared/data/transcripts/claude-code/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions at ../../shared/data/transcripts")
	}
	var right, calls, coldSeen, coldCalled, predicted, recorded int
	for _, file := range files {
		all := readCalls(t, file)
		var w5, w1 int
		for _, c := range all {
			w5, w1 = w5+c.w5, w1+c.w1
		}
		var l Ledger
		var blocks []Block
		for i, c := range all {
			m, ok := DefaultBook().Lookup(c.model, c.start)
			if !ok {
				continue
			}
			ttl := m.TTL(0)
			if w1 > w5 {
				ttl = m.TTL(time.Hour)
			}
			id := Identity{Model: m.ID}
			before := sums(blocks)[len(blocks)].tokens
			if c.total() < before { // the host compacted or rewound
				blocks = nil
				before = 0
			}
			blocks = append(blocks[:len(blocks):len(blocks)], block(RegionWorkingSet, fmt.Sprint(file, i), c.total()-before))
			bps, _ := Layout(blocks, m, l.Tail(blocks), LayoutOptions{Fixed: ttl, Messages: ttl})
			if len(l.Chain) > 0 && len(blocks) > 1 {
				cold, _ := l.Cold(m, id, c.start)
				wasCold := float64(c.read) < .6*float64(l.Tokens())
				calls++
				right += b2i(cold == wasCold)
				coldSeen += b2i(wasCold)
				coldCalled += b2i(wasCold && cold)
				predicted += l.Bill(m, id, blocks, bps, c.start).ReadTokens
				recorded += c.read
			}
			l = l.Advance(id, blocks, bps, c.start)
		}
	}
	share := float64(right) / float64(calls)
	t.Logf("%d calls in %d sessions: clock right for %.1f %%, %d of %d cold calls foreseen; cache reads predicted %.2f M, recorded %.2f M (%+.1f %%)",
		calls, len(files), 100*share, coldCalled, coldSeen, float64(predicted)/1e6, float64(recorded)/1e6, 100*float64(predicted-recorded)/float64(recorded))
	if share < .97 {
		t.Errorf("the clock is right for %.1f %% only", 100*share)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
