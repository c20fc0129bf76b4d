package ui

import (
	"context"
	_ "embed" // the template
	"fmt"
	"html/template"
	"io"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/billing"
)

//go:embed report.html
var reportText string

var reportPage = template.Must(template.New("report").Funcs(template.FuncMap{
	"n": display.Thousands,
	"np": func(n *int) string {
		if n == nil {
			return "–"
		}
		return display.Thousands(*n)
	},
	"cents": func(v *float64) string {
		if v == nil {
			return "–"
		}
		return fmt.Sprintf("$%.4f", *v)
	},
	"usd": func(v *float64) string {
		switch {
		case v == nil:
			return "unpriced"
		case *v < 0.1:
			return fmt.Sprintf("$%.4f", *v)
		}
		return fmt.Sprintf("$%.2f", *v)
	},
}).Parse(reportText))

// reportCalls bounds the calls that a report lists. reportPoints is the number of points of its
// plots.
const (
	reportCalls  = 2000
	reportPoints = 400
)

// report is the content of a session's page.
type report struct {
	Version   string
	Session   *Session
	Head      *Head
	Unplanned int
	Regions   []string
	Timeline  *Timeline
	Plots     []reportPlot
	Calls     []CallRow
	Shortened bool
	Last      *Call
}

type reportPlot struct {
	Title string
	SVG   template.HTML
}

// Report writes one session into one page that needs no network and no script. Secrets are
// masked. Report uses only the options that say how the session is planned. The parameter st
// holds the bills of the workspace, which include the session's bill.
func Report(ctx context.Context, w io.Writer, path, version string, o Options, st *billing.Report, progress func(done, all int)) error {
	o.settle()
	t, err := newTrack(path, o.Plan, o.Prices, st.Session)
	if err != nil {
		return err
	}
	defer t.Close()
	if err := t.wait(ctx, progress); err != nil {
		return err
	}
	s := &Server{o: o}
	s.shelf = &shelf{o: &s.o}
	found := transcripts(ctx, path)
	if len(found) != 1 {
		return fmt.Errorf("read session %s: it is no file", path)
	}
	out := &report{Version: version, Session: s.document(found[0], t), Regions: regionNames[:]}
	out.Head = out.Session.Head
	last := -1
	t.look(func(rows []row, all int) {
		out.Timeline = timeline(rows, all, 0, 0, reportPoints)
		from := max(len(rows)-reportCalls, 0)
		out.Shortened = from > 0
		for from < len(rows) {
			more := callRows(rows, from+1, mostCalls).Calls
			out.Calls, from = append(out.Calls, more...), from+len(more)
		}
		for i := range rows {
			if rows[i].reason == "" {
				last = i
			} else {
				out.Unplanned++
			}
		}
	})
	if last >= 0 {
		if out.Last, err = t.call(ctx, &o, last); err != nil {
			return err
		}
	}
	out.Plots = reportPlots(out.Timeline, out.Head.Simulated)
	if err := reportPage.Execute(w, out); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// wait waits until all of a session is planned.
func (t *track) wait(ctx context.Context, progress func(done, all int)) error {
	for {
		t.mu.Lock()
		done, err, news, planned, all := t.done, t.err, t.changed, t.total, len(t.rows)
		t.mu.Unlock()
		if progress != nil {
			progress(planned, all)
		}
		if done {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-news:
		}
	}
}

// reportPlots draws a timeline.
func reportPlots(t *Timeline, simulated bool) (out []reportPlot) {
	add := func(title string, p plot) { out = append(out, reportPlot{title, p.svg()}) }
	held := plot{unit: "tokens"}
	for _, s := range t.Regions {
		values, any := make([]float64, len(s.Tokens)), false
		for i, n := range s.Tokens {
			values[i], any = float64(n), any || n > 0
		}
		if any {
			held.series = append(held.series, plotSeries{s.Name, "var(--" + s.Name + ")", values})
		}
	}
	add("What the prompt held", held)
	without, with := "append-late", "memkernel, simulated"
	if !simulated {
		without, with = "without memkernel, about", "billed"
	}
	add("Running bill, answers included", plot{"dollars", true, []plotSeries{{without, "var(--without)", known(t.Without)}, {with, "var(--carry)", known(t.Running)}}})
	predicted, billed, any := make([]float64, len(t.Billed)), make([]float64, len(t.Billed)), false
	for i := range t.Billed {
		if t.Billed[i] != nil {
			predicted[i], billed[i], any = float64(*t.Predicted[i]), float64(*t.Billed[i]), true
		}
	}
	if any {
		add("Predicted against billed, the host's own prompts", plot{"tokens", true, []plotSeries{{"billed", "var(--billed)", billed}, {"predicted", "var(--planned)", predicted}}})
	}
	return out
}

// known returns costs as numbers, with 0 for an unknown cost.
func known(costs []*float64) []float64 {
	out := make([]float64, len(costs))
	for i, c := range costs {
		if c != nil {
			out[i] = *c
		}
	}
	return out
}
