package relevance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/memkernel/memkernel/retrieval"
)

// tuner asks the questions of several sets with many weights. It does not judge packed notes,
// which would take most of the time.
type tuner struct {
	benches []*Bench
	opts    retrieval.Options
	now     time.Time
	// known holds the answers to the questions of a set with some weights.
	known map[trial][]Answer
}

type trial struct {
	set     int
	signals retrieval.Signals
}

// newTuner makes a tuner of sets. opts holds the options other than the signals. now is the time
// of the questions. If now is zero, each set uses its own Moment.
func newTuner(benches []*Bench, opts retrieval.Options, now time.Time) *tuner {
	return &tuner{benches, opts, now, map[trial][]Answer{}}
}

// Ask returns the answers to the questions of some sets with weights s. sets holds the numbers of
// the sets, which are searched concurrently.
func (t *tuner) Ask(ctx context.Context, sets []int, s retrieval.Signals) ([]Answer, error) {
	answers, errs := make([][]Answer, len(sets)), make([]error, len(sets))
	var wg sync.WaitGroup
	for i, set := range sets {
		if answers[i] = t.known[trial{set, s}]; answers[i] == nil {
			wg.Go(func() { answers[i], errs[i] = t.ask(ctx, t.benches[set], s) })
		}
	}
	wg.Wait()
	var out []Answer
	for i, set := range sets {
		t.known[trial{set, s}] = answers[i]
		out = append(out, answers[i]...)
	}
	return out, errors.Join(errs...)
}

func (t *tuner) ask(ctx context.Context, b *Bench, s retrieval.Signals) (_ []Answer, err error) {
	now := t.now
	if now.IsZero() {
		if now, err = b.Moment(ctx); err != nil {
			return nil, err
		}
	}
	defer func(was bool) { b.Unpacked = was }(b.Unpacked)
	b.Unpacked = true
	o := t.opts
	o.Signals = s
	return b.Ask(ctx, &o, now)
}

// all returns the numbers of all sets.
func (t *tuner) all() []int {
	out := make([]int, len(t.benches))
	for i := range out {
		out[i] = i
	}
	return out
}

// ablation is the worth of one signal, as the differences of the figures without the signal.
type ablation struct {
	Signal string `json:"signal"`
	// Value is the weight of the signal. Off is the value that replaces it when the signal is
	// taken out.
	Value       float64      `json:"value"`
	Off         float64      `json:"off"`
	Differences []Difference `json:"differences"`
}

// Ablate takes each signal except K1 and B out once. It skips signals that are already off.
func (t *tuner) Ablate(ctx context.Context, s retrieval.Signals) ([]ablation, error) {
	with, err := t.Ask(ctx, t.all(), s)
	if err != nil {
		return nil, err
	}
	out := []ablation{}
	for _, k := range knobs {
		if k.Name == "k1" || k.Name == "b" || k.Of(s) == k.Off {
			continue
		}
		without, err := t.Ask(ctx, t.all(), k.At(s, k.Off))
		if err != nil {
			return nil, fmt.Errorf("without %s: %w", k.Name, err)
		}
		out = append(out, ablation{k.Name, k.Of(s), k.Off, Compare(with, without)})
	}
	return out, nil
}
