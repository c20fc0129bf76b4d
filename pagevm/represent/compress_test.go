package represent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel/pagevm"
)

// compressorFunc is a compressor as a host would plug it in.
type compressorFunc func(ctx context.Context, in CompressInput) (string, error)

func (compressorFunc) Name() string { return "squeezer" }
func (f compressorFunc) Compress(ctx context.Context, in CompressInput) (string, error) {
	return f(ctx, in)
}

func TestRecompress(t *testing.T) {
	in := evidence(sampleTexts()["log"])
	own := Evidence(in, nil)
	key := "AKIA" + "IOSFODNN7" + "EXAMPLQ" // in pieces, so that it is no secret here
	for _, c := range []struct {
		name, out, refused string
		err                error
	}{
		{name: "taken", out: strings.Repeat("worker batches done\n", 40)},
		{name: "larger than the mechanical one", out: in.Text[:len(in.Text)/2]},
		{name: "too large", out: in.Text, refused: "not smaller"},
		{name: "too large with its footer", out: in.Text[1:], refused: "not smaller"},
		{name: "empty", out: " \n", refused: "empty"},
		{name: "not UTF-8", out: "worker \xff done", refused: "not UTF-8"},
		{name: "a secret", out: "key " + key, refused: "has 1 secret"},
		{name: "an error", err: errors.New("no model for " + key), refused: "error: no model for [masked:aws-key]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := CompressInput{}
			opt := &Options{Compressor: compressorFunc(func(_ context.Context, in CompressInput) (string, error) {
				asked = in
				return c.out, c.err
			})}
			got := Recompress(t.Context(), in, Evidence(in, opt), opt)
			checkReps(t, in.Text, got[1:])
			want := CompressInput{Type: pagevm.Evidence, Tool: "Bash", Kind: "log", Text: in.Text, Bytes: int(0.35 * float64(len(in.Text)))}
			if d := cmp.Diff(want, asked); d != "" {
				t.Errorf("asked otherwise (-want +got):\n%s", d)
			}
			if c.refused != "" {
				own[0].Refused = c.refused
				if d := cmp.Diff(own, got); d != "" {
					t.Errorf("the mechanical ones do not stand (-want +got):\n%s", d)
				}
				return
			}
			r := got[0]
			if r.Level != pagevm.Compressed || r.Maker != "squeezer" || r.Refused != "" || !strings.HasPrefix(r.Text, c.out+"\n[of ") ||
				!strings.HasSuffix(r.Text, "shortened by squeezer; whole: memkernel get p_1]") || r.Hash != newRep(pagevm.Full, r.Text).Hash {
				t.Errorf("not taken: %+v", r)
			}
		})
	}
}

// What a compressor makes very small leaves no room below it.
func TestRecompressDropsWhatIsLarger(t *testing.T) {
	in := evidence(sampleTexts()["prose"])
	opt := &Options{Compressor: compressorFunc(func(context.Context, CompressInput) (string, error) { return "tables moved", nil })}
	got := Recompress(t.Context(), in, Evidence(in, opt), opt)
	if len(got) != 1 || got[0].Level != pagevm.Compressed {
		t.Errorf("%d representations, first %+v", len(got), got[0])
	}
}

func TestRecompressDeadline(t *testing.T) {
	in := evidence(sampleTexts()["code"])
	calls := 0
	opt := &Options{CompressTime: time.Millisecond, Compressor: compressorFunc(func(ctx context.Context, in CompressInput) (string, error) {
		calls++
		<-ctx.Done()
		return "too late", nil
	})}
	if got := Recompress(t.Context(), in, Evidence(in, opt), opt); got[0].Refused != "no answer in time" || got[0].Maker != "" {
		t.Errorf("a late answer: %+v", got[0])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Recompress(ctx, in, Evidence(in, opt), opt); got[0].Refused != "no time left" || calls != 1 {
		t.Errorf("asked %d times, refused %q", calls, got[0].Refused)
	}
}

func TestRecompressIsNotAsked(t *testing.T) {
	opt := &Options{Compressor: compressorFunc(func(context.Context, CompressInput) (string, error) {
		t.Error("asked")
		return "", nil
	})}
	for _, text := range []string{"", "short", strings.Repeat("x ", 390)} {
		in := evidence(text)
		want := Evidence(in, nil)
		if d := cmp.Diff(want, Recompress(t.Context(), in, Evidence(in, opt), opt)); d != "" {
			t.Error(d)
		}
	}
	in := evidence(sampleTexts()["code"])
	want := Evidence(in, nil)
	if d := cmp.Diff(want, Recompress(t.Context(), in, Evidence(in, nil), nil)); d != "" {
		t.Error(d)
	}
}
