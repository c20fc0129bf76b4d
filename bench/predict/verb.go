package predict

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
)

// Verb is the verb predict of mkbench.
func Verb(a *cli.App) *cobra.Command {
	var transcripts []string
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
		Example: `  mkbench predict -t session.jsonl
  mkbench predict -t monday.jsonl,tuesday.jsonl --json`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runVerb(a, transcripts) },
	}
	f := cmd.Flags()
	f.StringSliceVarP(&transcripts, "transcript", "t", nil, "recorded session `files`")
	a.PricesFlag(cmd)
	return cmd
}

// predictJSON is the document of predict.
type predictJSON struct {
	Schema   string             `json:"schema"`
	Sessions []predictedSession `json:"sessions"`
	// Total sums up all sessions. Recorded sums up the sessions whose cache writes name their
	// lifetime.
	Total    predictedSums `json:"total"`
	Recorded predictedSums `json:"recorded_lifetimes"`
}

// predictedSession is the prediction of a session with and without calibration.
type predictedSession struct {
	Session string `json:"session"`
	predictedSums
	FixedTokens int    `json:"fixed_tokens"`
	TTLSeconds  int    `json:"ttl_seconds"`
	TTLFrom     string `json:"ttl_from"`
	// NotCompared counts the calls without a bill to compare with, by reason.
	NotCompared map[string]int `json:"not_compared"`
	// Unexplained lists the calls that were cold within the lifetime of the cache.
	Unexplained []unexplainedCall `json:"unexplained_calls"`

	calibrated, plain *report
}

type predictedSums struct {
	Calibrated summary `json:"calibrated"`
	Plain      summary `json:"plain"`
}

// unexplainedCall is a cold call that the prediction has no reason for.
type unexplainedCall struct {
	Call       int       `json:"call"`
	Start      time.Time `json:"start"`
	GapSeconds float64   `json:"gap_seconds"`
	Recorded   tokens    `json:"recorded"`
}

func runVerb(a *cli.App, transcripts []string) error {
	if len(transcripts) == 0 {
		return cli.Usagef("predict needs --transcript FILE")
	}
	book, err := a.Book()
	if err != nil {
		return err
	}
	opt := options{Book: book}
	doc := predictJSON{Schema: "memkernel/bench_predict/v1", Sessions: []predictedSession{}}
	for i, path := range transcripts {
		a.Step("predicting", i, len(transcripts), "session")
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
	return doc.draw(a.Out, a.Style())
}

func predictSession(a *cli.App, path string, opt options) (*predictedSession, error) {
	f, o, err := a.OpenTranscript(cli.TranscriptFile(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read transcript %s: %w", path, err)
	}
	segments, err := segmentsOf(bytes.NewReader(data), int64(len(data)), o)
	if err != nil {
		return nil, err
	}
	s := &predictedSession{Session: filepath.Base(path), Unexplained: []unexplainedCall{}}
	s.calibrated = run(segments, &opt)
	opt.Plain = true
	s.plain = run(segments, &opt)
	s.NotCompared = s.calibrated.NotCompared
	s.Calibrated, s.Plain = s.calibrated.Summary, s.plain.Summary
	s.FixedTokens, s.TTLSeconds, s.TTLFrom = s.calibrated.FixedTokens, s.calibrated.TTLSeconds, s.calibrated.TTLFrom
	for i := range s.calibrated.Calls {
		if c := &s.calibrated.Calls[i]; c.Verdict == unexplained {
			s.Unexplained = append(s.Unexplained, unexplainedCall{c.Index, c.Start.UTC(), c.GapSeconds, c.Recorded})
		}
	}
	return s, nil
}

// sum adds the sessions up.
func (d *predictJSON) sum() {
	var all, plain, recorded, recordedPlain []*report
	for i := range d.Sessions {
		s := &d.Sessions[i]
		all, plain = append(all, s.calibrated), append(plain, s.plain)
		if s.TTLFrom == ttlRecorded {
			recorded, recordedPlain = append(recorded, s.calibrated), append(recordedPlain, s.plain)
		}
	}
	d.Total = predictedSums{total(all), total(plain)}
	d.Recorded = predictedSums{total(recorded), total(recordedPlain)}
}

// draw writes the tables of a prediction.
func (d *predictJSON) draw(w io.Writer, p display.Style) error {
	b := &strings.Builder{}
	rows := func(head, columns string, row func(name string, s *predictedSums)) {
		fmt.Fprintf(b, "%s\n  %s\n", p.Paint("bold", head), p.Paint("gray", columns))
		for i := range d.Sessions {
			row(d.Sessions[i].Session, &d.Sessions[i].predictedSums)
		}
		if len(d.Sessions) > 1 {
			row("all with recorded writes", &d.Recorded)
			row("all", &d.Total)
		}
	}
	rows("cold calls", display.Left("", 26)+display.Right("calls", 7)+display.Right("past TTL", 10)+display.Right("recall", 9)+display.Right("precision", 11)+display.Right("unexplained", 13), func(name string, s *predictedSums) {
		c := &s.Calibrated
		fmt.Fprintf(b, "  %s%s%s%s%s%s\n", display.Left(name, 26), display.Right(display.Thousands(c.Calls), 7), display.Right(display.Thousands(c.PastTTL), 10),
			display.Right(display.OptionalShare(c.Recall), 9), display.Right(display.OptionalShare(c.Precision), 11), display.Right(display.Thousands(c.Unexplained), 13))
	})
	rows("cache writes of explained calls: sum off by, median error per call", display.Left("", 26)+display.Right("written", 13)+display.Right("sum", 9)+display.Right("plain", 9)+display.Right("median", 9)+display.Right("plain", 9), func(name string, s *predictedSums) {
		c, q := &s.Calibrated, &s.Plain
		fmt.Fprintf(b, "  %s%s%s%s%s%s\n", display.Left(name, 26), display.Right(display.Thousands(c.Explained.Recorded.Write), 13), display.Right(optionalSigned(c.WriteError), 9),
			display.Right(optionalSigned(q.WriteError), 9), display.Right(display.Share(c.WriteMedian), 9), display.Right(display.Share(q.WriteMedian), 9))
	})
	rows("new content: median error per call", display.Left("", 26)+display.Right("calls", 7)+display.Right("calibrated", 12)+display.Right("plain", 9)+display.Right("bytes/4", 9)+display.Right("of bytes/4", 12), func(name string, s *predictedSums) {
		g := &s.Calibrated.Growth
		ratio := "-"
		if g.Quarter > 0 {
			ratio = fmt.Sprintf("%.2f", g.Counted/g.Quarter)
		}
		fmt.Fprintf(b, "  %s%s%s%s%s%s\n", display.Left(name, 26), display.Right(display.Thousands(g.Calls), 7), display.Right(display.Share(g.Predicted), 12), display.Right(display.Share(g.Counted), 9), display.Right(display.Share(g.Quarter), 9), display.Right(ratio, 12))
	})
	for i := range d.Sessions {
		s := &d.Sessions[i]
		for _, l := range display.Wrap(notCompared(s), p.Columns()-2) {
			fmt.Fprintf(b, "  %s\n", p.Paint("gray", l))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// notCompared returns a remark on the calls without a bill, "" if there are none.
func notCompared(s *predictedSession) string {
	n := s.NotCompared[notBilled]
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s calls have no bill in the transcript and are compared with nothing", s.Session, display.Thousands(n))
}

func optionalSigned(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", 100**v)
}
