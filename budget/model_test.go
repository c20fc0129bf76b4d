package budget

import (
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
)

// TestFixedPart infers what a transcript lacks, from bills of the prompt at hand alone.
func TestFixedPart(t *testing.T) {
	counter, err := NewModel("", "claude-opus-4-6", nil)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	text := func(words int) []memkernel.Part {
		return []memkernel.Part{{Kind: memkernel.PartText, Text: strings.Repeat("word ", words)}}
	}
	user := func(after time.Duration, words int) memkernel.Message {
		return memkernel.Message{Role: memkernel.RoleUser, Time: at.Add(after), Parts: text(words)}
	}
	answer := func(after time.Duration, billed int) memkernel.Message {
		m := memkernel.Message{Role: memkernel.RoleAssistant, Time: at.Add(after), Parts: text(5)}
		if billed > 0 {
			m.Usage = &memkernel.Usage{InputTokens: 3, CacheReadTokens: billed - 3}
		}
		return m
	}
	summary := func(after time.Duration) memkernel.Message {
		m := user(after, 50)
		m.Origin = memkernel.OriginSummary
		return m
	}
	synthetic := answer(2, 9)
	synthetic.Origin = memkernel.OriginSynthetic
	sum := func(msgs []memkernel.Message) (n int) {
		for i := range msgs {
			n += counter.Message(&msgs[i])
		}
		return n
	}
	for _, tt := range []struct {
		name string
		msgs []memkernel.Message
		at   int // the call whose bill counts, -1 for none
	}{
		{"nothing", nil, -1},
		{"no bill", []memkernel.Message{user(0, 10), answer(1, 0)}, -1},
		{"the first bill", []memkernel.Message{user(0, 100), answer(1, 9000), user(2, 3000), answer(3, 99000)}, 1},
		{"not the first call's", []memkernel.Message{user(0, 100), answer(1, 0), user(2, 3000), answer(3, 12000)}, 3},
		{"no call of a model", []memkernel.Message{user(0, 10), synthetic, user(3, 5), answer(4, 8000)}, 3},
		{"what a compaction kept was billed before it", []memkernel.Message{summary(10), user(1, 10), answer(2, 150000), user(11, 10), answer(12, 9000)}, 4},
		{"smaller than the messages", []memkernel.Message{user(0, 5000), answer(1, 100)}, -1},
	} {
		want := 0
		if tt.at >= 0 {
			want = tt.msgs[tt.at].Usage.InputTotal() - sum(tt.msgs[:tt.at])
		}
		if got := counter.Fixed(tt.msgs, nil, nil); got != want {
			t.Errorf("%s: %d, want %d", tt.name, got, want)
		}
	}
	msgs := []memkernel.Message{user(0, 10), answer(1, 9000)}
	bare := counter.Fixed(msgs, nil, nil)
	system, tools := text(1000), []memkernel.Tool{{Name: "look", Raw: `{"name":"look","input_schema":{"type":"object"}}`}}
	if with := counter.Fixed(msgs, system, nil); bare-with < 900 || bare-with > 2200 {
		t.Errorf("a known system prompt takes %d off", bare-with)
	}
	if with, without := counter.Fixed(msgs, system, tools), counter.Fixed(msgs, system, nil); without-with < 10 {
		t.Errorf("known tools take %d off", without-with)
	}
}
