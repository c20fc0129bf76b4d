package ui

import (
	_ "embed" // the template
	"fmt"
	"html/template"
	"io"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/transcript"
)

//go:embed report.html
var reportText string

var reportPage = template.Must(template.New("report").Funcs(template.FuncMap{"n": display.Thousands}).Parse(reportText))

// reportItems bounds the items of a report, the newest, and reportBytes the text of each.
const (
	reportItems = 2000
	reportBytes = 2000
)

// report is the content of a session's page.
type report struct {
	Version, Name string
	Picture       template.HTML
	// Bill is the bill of the calls that memkernel planned, nil if it planned none.
	Bill    *billing.Sum
	LeftOut int
	Items   []said
}

// Report writes what was said in a session into one page that needs no network and no script,
// below a picture in SVG. Secrets are masked. The parameter st holds the bills of the workspace.
func Report(w io.Writer, session *transcript.Session, picture []byte, version, name string, o Options, st *billing.Report) error {
	o.settle()
	t := newTalk(session.View(transcript.Full), session.Compactions())
	t.cwd = session.Cwd
	out := &report{Version: version, Name: name, Picture: template.HTML(picture), LeftOut: max(len(t.pieces)-reportItems, 0)}
	if own := st.Session(session.ID); own != nil {
		out.Bill = &own.Total
	}
	for n := out.LeftOut; n < len(t.pieces); n++ {
		out.Items = append(out.Items, t.said(&o, n, reportBytes))
	}
	if err := reportPage.Execute(w, out); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
