package predict

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/transcript"
)

const bundled = "../../testdata/session.jsonl"

// perByte counts a token per byte, so that tests can state sizes.
type perByte struct{}

func (perByte) Count(s string) budget.Count {
	return budget.Count{Tokens: len(s), Bound: len(s), Kind: budget.Exact}
}
func (perByte) Name() string { return "test" }

// testCount counts for testModel.
var testCount, _ = budget.NewModel("", testModel, nil)

const (
	testModel = "claude-opus-4-5"
	testFixed = 10_000
)

var morning = time.Date(2026, 3, 9, 8, 0, 0, 0, time.UTC)

// step is one call of a made-up session: what the user side adds before it, the
// pause before that, and the answer's size.
type step struct {
	pause        time.Duration
	user, answer int
}

// session makes a segment whose bills are those of a perfect cache with a
// lifetime of five minutes.
func session(steps []step) segment {
	var s segment
	at, context, cached := morning, testFixed, 0
	var last time.Time
	for i, st := range steps {
		at = at.Add(st.pause)
		s.Messages = append(s.Messages, text(memkernel.RoleUser, fmt.Sprintf("u%d", i), at, st.user))
		context += size(st.user)
		read := 0
		if i > 0 && at.Sub(last) < 5*time.Minute {
			read = cached
		}
		last, cached = at, context
		answer := text(memkernel.RoleAssistant, fmt.Sprintf("a%d", i), at.Add(3*time.Second), st.answer)
		answer.Model = testModel
		answer.Usage = &memkernel.Usage{CacheReadTokens: read, CacheWrite5mTokens: context - read}
		context += size(st.answer)
		at = at.Add(3 * time.Second)
		s.Messages = append(s.Messages, answer)
	}
	s.Calls = transcript.Calls(s.Messages)
	return s
}

// size is what perByte and the framing count for a text of n bytes.
func size(n int) int { return testCount.PerMessage + n }

func text(role memkernel.Role, key string, at time.Time, n int) memkernel.Message {
	b := make([]byte, n)
	for i := range b {
		b[i] = key[i%len(key)]
	}
	return memkernel.Message{Key: key, Role: role, Time: at, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: string(b)}}}
}

func TestPerfectCacheIsPredictedToTheToken(t *testing.T) {
	steps := []step{{0, 900, 300}, {time.Minute, 1200, 250}, {2 * time.Minute, 400, 100}, {6 * time.Minute, 500, 90}, {4 * time.Minute, 700, 80}, {61 * time.Minute, 50, 20}}
	r := run([]segment{session(steps)}, &options{Fixed: testFixed, Counter: perByte{}})
	for _, c := range r.Calls {
		if c.Predicted != c.Recorded {
			t.Errorf("call %d: predicted %+v, billed %+v", c.Index, c.Predicted, c.Recorded)
		}
	}
	got, one := r.Summary, 1.0
	want := summary{Calls: 5, Temperate: 5, RightShare: 1, Cold: 2, Foreseen: 2, PastTTL: 2, Recall: &one, Precision: &one,
		WriteError: new(float64), Predicted: got.Recorded, Recorded: got.Recorded,
		Explained: explained{Calls: 5, Predicted: got.Recorded, Recorded: got.Recorded}, Growth: got.Growth}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(summary{})); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if got.Growth.Calls != 5 || got.Growth.Counted != 0 || got.Growth.Predicted != 0 || got.Growth.Quarter < 0.7 {
		t.Errorf("growth: %+v", got.Growth)
	}
	if r.TTLSeconds != 300 {
		t.Errorf("ttl %d s", r.TTLSeconds)
	}
}

func TestFixedPartIsInferredOnce(t *testing.T) {
	r := run([]segment{session([]step{{0, 900, 300}, {time.Minute, 1200, 250}})}, &options{Counter: perByte{}})
	if r.FixedTokens != testFixed {
		t.Errorf("fixed part %d, want %d from the first call", r.FixedTokens, testFixed)
	}
	if r.Calls[0].Judged || !r.Calls[1].Judged {
		t.Error("the first billed call is judged, or the second is not")
	}
}

// TestLongLifetimeIsReadFromTheWrites turns the bills into long-lived ones.
func TestLongLifetimeIsReadFromTheWrites(t *testing.T) {
	s := session([]step{{0, 900, 300}, {40 * time.Minute, 1200, 250}})
	for i := range s.Messages {
		if u := s.Messages[i].Usage; u != nil {
			u.CacheWrite1hTokens, u.CacheWrite5mTokens = u.CacheWrite5mTokens, 0
		}
	}
	r := run([]segment{s}, &options{Fixed: testFixed, Counter: perByte{}})
	if r.TTLSeconds != 3600 {
		t.Fatalf("lifetime %d s, want 3600", r.TTLSeconds)
	}
	if r.Calls[1].PredictedCold {
		t.Error("forty minutes later an entry that lives an hour is called cold")
	}
}

// TestCompactionKeepsTheFixedPart follows one segment by another that shares
// nothing but tools and system prompt.
func TestCompactionKeepsTheFixedPart(t *testing.T) {
	first := session([]step{{0, 9000, 300}, {time.Minute, 1200, 250}})
	second := session([]step{{3 * time.Minute, 700, 60}})
	second.Messages[0] = text(memkernel.RoleUser, "summary", morning.Add(2*time.Minute), 700)
	second.Messages[0].Origin = memkernel.OriginSummary
	second.Calls = transcript.Calls(second.Messages)
	r := run([]segment{first, second}, &options{Fixed: testFixed, Counter: perByte{}})
	last := r.Calls[len(r.Calls)-1]
	if !last.Compacted || last.Predicted.Read != testFixed || last.Predicted.Write != size(700) {
		t.Errorf("after the compaction: %+v; want the fixed part read and the rest written", last)
	}
}

// TestNoBillIsSeenBeforeItsCall changes what was billed from some call on and
// expects every prediction up to that call to stay.
func TestNoBillIsSeenBeforeItsCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 25).Draw(t, "calls")
		var steps []step
		for range n {
			steps = append(steps, step{time.Duration(rapid.IntRange(1, 400).Draw(t, "pause")) * time.Second,
				rapid.IntRange(1, 4000).Draw(t, "user"), rapid.IntRange(1, 900).Draw(t, "answer")})
		}
		from := rapid.IntRange(1, n-1).Draw(t, "from")
		factor := rapid.IntRange(2, 5).Draw(t, "factor")
		before := run([]segment{session(steps)}, &options{Counter: perByte{}})
		changed := session(steps)
		for i, c := range changed.Calls {
			if i >= from {
				changed.Messages[c.Index].Usage.CacheReadTokens *= factor
				changed.Messages[c.Index].Usage.InputTokens += 777
				changed.Messages[c.Index].Usage.OutputTokens += 5000
			}
		}
		after := run([]segment{changed}, &options{Counter: perByte{}})
		for i := range from + 1 {
			if before.Calls[i].Predicted != after.Calls[i].Predicted {
				t.Fatalf("call %d of %d: %+v became %+v though only bills from call %d on changed", i, n, before.Calls[i].Predicted, after.Calls[i].Predicted, from)
			}
		}
	})
}

// TestFitFindsTheLine feeds growth on a line, with a lump now and then that no
// message explains.
func TestFitFindsTheLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratio := float64(rapid.IntRange(80, 180).Draw(t, "ratio")) / 100
		overhead := float64(rapid.IntRange(0, 300).Draw(t, "overhead"))
		lumpy := rapid.IntRange(7, 20).Draw(t, "lump every")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var f fit
		for i := range 60 {
			x := float64(50 + rng.IntN(6000))
			grown := ratio*x + overhead
			if i%lumpy == lumpy-1 {
				grown += 9000
			}
			f.add(x, grown)
		}
		l := f.line()
		for _, x := range []float64{500, 3000} {
			got, want := l.ratio*x+l.overhead, ratio*x+overhead
			if got < want*0.8-60 || got > want*1.2+60 {
				t.Fatalf("growth of %.0f counted tokens is taken for %.0f, want %.0f (line %+v)", x, got, want, l)
			}
		}
	})
}

func TestZeroFitIsOneToOne(t *testing.T) {
	var f fit
	if got := f.line(); got != (line{ratio: 1}) {
		t.Errorf("zero fit is %+v", got)
	}
	f.add(700, -500) // the host took something out
	if got := f.line(); got.ratio < minRatio || got.ratio > maxRatio {
		t.Errorf("ratio %v is out of reason", got.ratio)
	}
}

// verdicts lists the verdicts of a session's calls.
func verdicts(r *report) (out []verdict) {
	for i := range r.Calls {
		out = append(out, r.Calls[i].Verdict)
	}
	return out
}

// bill changes what call n of a session was billed: it read so many tokens and wrote
// the rest.
func bill(s *segment, n, read int) {
	u := s.Messages[s.Calls[n].Index].Usage
	total := u.InputTotal()
	u.CacheReadTokens, u.CacheWrite5mTokens = read, total-read
}

// TestVerdicts has a break within the lifetime, a call that is warm though the
// lifetime is over, and one that reads the fixed part when all else is cold.
func TestVerdicts(t *testing.T) {
	s := session([]step{{0, 900, 300}, {time.Minute, 900, 300}, {time.Minute, 900, 300}, {7 * time.Minute, 900, 300}, {8 * time.Minute, 900, 300}})
	bill(&s, 2, 0)
	total := s.Messages[s.Calls[3].Index].Usage.InputTotal()
	bill(&s, 3, total-1200)
	bill(&s, 4, 3000)
	r := run([]segment{s}, &options{Counter: perByte{}})
	if diff := cmp.Diff([]verdict{first, warm, unexplained, spared, expired}, verdicts(r)); diff != "" {
		t.Fatalf("verdicts (-want +got):\n%s", diff)
	}
	sum := r.Summary
	if sum.PastTTL != 1 || *sum.Recall != 1 || *sum.Precision != 0.5 || sum.Unexplained != 1 || sum.Explained.Calls != 2 {
		t.Errorf("summary %+v", sum)
	}
}

// TestSharedPrefixIsLearned: what a cold call reads all the same is expected of the
// next cold one.
func TestSharedPrefixIsLearned(t *testing.T) {
	s := session([]step{{0, 900, 300}, {10 * time.Minute, 900, 300}, {10 * time.Minute, 900, 300}})
	bill(&s, 1, 5000)
	bill(&s, 2, 5000)
	for _, plain := range []bool{false, true} {
		r := run([]segment{s}, &options{Counter: perByte{}, Plain: plain})
		if got := r.Calls[2].Predicted.Read; got != 5000 && !plain || got != 0 && plain {
			t.Errorf("plain %v: the second cold call is predicted to read %d", plain, got)
		}
	}
}

// TestAnswersBilledInFullAreExact: where the host recorded the whole output, new
// content is not estimated.
func TestAnswersBilledInFullAreExact(t *testing.T) {
	s := session([]step{{0, 900, 300}, {time.Minute, 10, 300}, {time.Minute, 10, 300}, {time.Minute, 10, 300}})
	hidden := 0
	for i, c := range s.Calls {
		u := s.Messages[c.Index].Usage
		u.CacheWrite5mTokens += hidden
		if i > 0 {
			u.CacheWrite5mTokens, u.CacheReadTokens = u.CacheWrite5mTokens-hidden+4000, u.CacheReadTokens+hidden-4000
		}
		u.OutputTokens = size(300) + 4000 // of which 4,000 are not in the transcript
		hidden += 4000
	}
	r := run([]segment{s}, &options{Counter: perByte{}})
	for _, c := range r.Calls[1:] {
		if c.Growth == nil || c.Growth.Predicted != c.Growth.Billed || c.Growth.Counted >= c.Growth.Billed {
			t.Errorf("call %d: %+v, growth %+v", c.Index, c.Predicted, c.Growth)
		}
	}
}

// TestThinkingOfEarlierTurns is dropped by the models that do so.
func TestThinkingOfEarlierTurns(t *testing.T) {
	for model, kept := range map[string]bool{"claude-sonnet-4-5": false, "claude-opus-4-6": true} {
		s := session([]step{{0, 900, 300}, {time.Minute, 100, 300}})
		for i := range s.Messages {
			if m := &s.Messages[i]; m.Role == memkernel.RoleAssistant {
				m.Model = model
				m.Parts = append([]memkernel.Part{{Kind: memkernel.PartThinking, Text: string(make([]byte, 5000))}}, m.Parts...)
			}
		}
		r := run([]segment{s}, &options{Counter: perByte{}, Fixed: testFixed})
		if grew := r.Calls[1].Predicted.Total - r.Calls[0].Predicted.Total; (grew > 5000) != kept {
			t.Errorf("%s: the prompt grew by %d when the user spoke again", model, grew)
		}
	}
}

func TestHabitOfCallsBetweenTurns(t *testing.T) {
	var h habits
	for i, followed := range []bool{true, true, false, true} {
		h.turned(followed)
		if got, want := h.follows(), i == 1 || i == 2 || i == 3; got != want {
			t.Errorf("after turn %d: follows %v", i, got)
		}
	}
}

func TestRelative(t *testing.T) {
	for _, tt := range []struct {
		got, want int
		err       float64
	}{{5, 5, 0}, {0, 0, 0}, {7, 0, 1}, {50, 100, 0.5}, {300, 100, 2}} {
		if e := relative(tt.got, tt.want); e != tt.err {
			t.Errorf("relative(%d, %d) = %v, want %v", tt.got, tt.want, e, tt.err)
		}
	}
}

func TestQuantiles(t *testing.T) {
	if m, p := quantiles([]float64{9, 1, 2, 3, 4, 5, 6, 7, 8, 10}); m != 5 || p != 9 {
		t.Errorf("median %v, 90th percentile %v; want 5 and 9", m, p)
	}
	if m, p := quantiles(nil); m != 0 || p != 0 {
		t.Errorf("of nothing: %v, %v", m, p)
	}
	if m, p := quantiles([]float64{3}); m != 3 || p != 3 {
		t.Errorf("of one: %v, %v", m, p)
	}
}

func TestEmptySession(t *testing.T) {
	r := run(nil, nil)
	if r.Calls == nil || len(r.Calls) != 0 || r.Summary.Calls != 0 {
		t.Errorf("report of nothing: %+v", r)
	}
	unbilled := session([]step{{0, 10, 10}})
	unbilled.Messages[1].Usage = nil
	if r := run([]segment{unbilled}, nil); len(r.Calls) != 0 {
		t.Errorf("a call without a bill is reported: %+v", r.Calls)
	}
}

// TestBundledSample splits the sample at its compaction and predicts it.
func TestBundledSample(t *testing.T) {
	r := runFile(t, bundled, nil)
	s := r.Summary
	if len(r.Calls) != 184 || s.RightShare < 0.99 || s.Foreseen != s.Cold || s.ReadMedian > 0.005 || s.WriteMedian > 0.1 {
		t.Errorf("%d calls, summary %+v", len(r.Calls), s)
	}
	compacted := 0
	for i := range r.Calls {
		if r.Calls[i].Index != i {
			t.Fatalf("call %d has index %d: a call is missing or stands twice", i, r.Calls[i].Index)
		}
		if r.Calls[i].Compacted {
			compacted++
		}
	}
	if compacted != 1 {
		t.Errorf("%d calls follow a compaction, want 1", compacted)
	}
}
