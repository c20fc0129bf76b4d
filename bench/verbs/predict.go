package verbs

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/bench/draw"
	"github.com/memkernel/memkernel/cachelayout/predict"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/fail"
)

// benchPredictFlags are the flags of predict.
type benchPredictFlags struct {
	transcripts []string
	fixed       int
	ttl         time.Duration
}

// Predict is the verb predict.
func Predict(a *cli.App) *cobra.Command {
	b := &benchPredictFlags{}
	cmd := &cobra.Command{
		Long: `predict goes through recorded sessions call by call and says from messages and times
alone what each call should have read from the cache, written to it and sent beside
it. The lifetime is that of the recorded writes. By default the bills of earlier
calls calibrate the prediction; every figure stands beside the one without that.

A call is cold if it read under 60 % of the prompt before. Recall is the share of the
cold calls past the lifetime that was foreseen, precision the share of the foreseen
that were cold. Cold calls within the lifetime are unexplained: what they wrote is in
no error of writes. A call without a bill in the transcript is compared with nothing and
in no figure; such calls are counted, and so is the first, which gives the fixed part.`,
		Example: `  mkpredict -t session.jsonl
  mkpredict -t monday.jsonl,tuesday.jsonl --json`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runBenchPredict(a, b) },
	}
	f := cmd.Flags()
	f.StringSliceVarP(&b.transcripts, "transcript", "t", nil, "recorded session `files`")
	f.IntVar(&b.fixed, "fixed-tokens", 0, "size of system prompt and tools (default what the first bill implies)")
	f.DurationVar(&b.ttl, "ttl", 0, "lifetime of cache entries, 5m or 1h (default the recorded writes')")
	a.PricesFlag(cmd)
	return cmd
}

// benchPredictJSON is the document of predict.
type benchPredictJSON struct {
	Schema   string             `json:"schema"`
	Sessions []predictedSession `json:"sessions"`
	// Total is over all sessions, Recorded over those whose lifetime their writes
	// name.
	Total    predictedSums   `json:"total"`
	Recorded predictedSums   `json:"recorded_lifetimes"`
	Classes  []predict.Class `json:"classes"`
}

// predictedSession is a session with and without calibration.
type predictedSession struct {
	Session string `json:"session"`
	predictedSums
	FixedTokens int    `json:"fixed_tokens"`
	TTLSeconds  int    `json:"ttl_seconds"`
	TTLFrom     string `json:"ttl_from"`
	// NotCompared counts by reason the calls that have no bill to be compared with.
	NotCompared map[string]int `json:"not_compared"`
	// Unexplained are the calls that were cold within the lifetime.
	Unexplained []unexplainedCall `json:"unexplained_calls"`

	calibrated, plain *predict.Report
}

type predictedSums struct {
	Calibrated predict.Summary `json:"calibrated"`
	Plain      predict.Summary `json:"plain"`
}

// unexplainedCall is a cold call that nothing foretells.
type unexplainedCall struct {
	Call       int            `json:"call"`
	Start      time.Time      `json:"start"`
	GapSeconds float64        `json:"gap_seconds"`
	Recorded   predict.Tokens `json:"recorded"`
}

func runBenchPredict(a *cli.App, b *benchPredictFlags) error {
	if len(b.transcripts) == 0 {
		return fail.Usagef("predict needs --transcript FILE")
	}
	if b.fixed < 0 || b.ttl < 0 {
		return fail.Usagef("--fixed-tokens and --ttl are not negative")
	}
	book, err := a.Book()
	if err != nil {
		return err
	}
	opt := predict.Options{Fixed: b.fixed, TTL: b.ttl, Book: book}
	doc := benchPredictJSON{Schema: "memkernel/bench_predict/v1", Sessions: []predictedSession{}}
	for i, path := range b.transcripts {
		a.Step("predicting", i, len(b.transcripts), "session")
		s, err := predictSession(a, path, opt)
		a.ProgressDone()
		if err != nil {
			return err
		}
		doc.Sessions = append(doc.Sessions, *s)
	}
	doc.sum()
	if a.JSON {
		return a.WriteJSON(doc)
	}
	return draw.Predict(a.Out, doc.drawn(), a.Style())
}

func predictSession(a *cli.App, path string, opt predict.Options) (*predictedSession, error) {
	src, err := a.OpenSource(cli.TranscriptFile(path))
	if err != nil {
		return nil, err
	}
	defer src.Close()
	segments, err := src.Segments()
	if err != nil {
		return nil, err
	}
	s := &predictedSession{Session: filepath.Base(path), Unexplained: []unexplainedCall{}}
	s.calibrated = predict.Run(segments, &opt)
	opt.Plain = true
	s.plain = predict.Run(segments, &opt)
	s.NotCompared = s.calibrated.NotCompared
	s.Calibrated, s.Plain = s.calibrated.Summary, s.plain.Summary
	s.FixedTokens, s.TTLSeconds, s.TTLFrom = s.calibrated.FixedTokens, s.calibrated.TTLSeconds, s.calibrated.TTLFrom
	for i := range s.calibrated.Calls {
		if c := &s.calibrated.Calls[i]; c.Verdict == predict.Unexplained {
			s.Unexplained = append(s.Unexplained, unexplainedCall{c.Index, c.Start.UTC(), c.GapSeconds, c.Recorded})
		}
	}
	return s, nil
}

// sum adds the sessions up.
func (d *benchPredictJSON) sum() {
	var all, plain, recorded, recordedPlain []*predict.Report
	for i := range d.Sessions {
		s := &d.Sessions[i]
		all, plain = append(all, s.calibrated), append(plain, s.plain)
		if s.TTLFrom == predict.TTLRecorded {
			recorded, recordedPlain = append(recorded, s.calibrated), append(recordedPlain, s.plain)
		}
	}
	d.Total = predictedSums{predict.Total(all), predict.Total(plain)}
	d.Recorded = predictedSums{predict.Total(recorded), predict.Total(recordedPlain)}
	d.Classes = predict.TotalClasses(all)
}

// drawn is what a drawing shows of it.
func (d *benchPredictJSON) drawn() *draw.Predictions {
	of := func(s *predictedSums) draw.Predicted {
		return draw.Predicted{Calibrated: s.Calibrated, Plain: s.Plain}
	}
	out := &draw.Predictions{Total: of(&d.Total), Recorded: of(&d.Recorded), Classes: d.Classes}
	for i := range d.Sessions {
		s := of(&d.Sessions[i].predictedSums)
		s.Name, s.NotCompared = d.Sessions[i].Session, d.Sessions[i].NotCompared
		out.Sessions = append(out.Sessions, s)
	}
	return out
}
