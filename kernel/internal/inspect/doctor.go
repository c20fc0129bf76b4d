package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

// maxAlike is the number of symptoms of one sort that are reported one by one.
const maxAlike = 5

// maxBookAge is the age from which prices are doubted.
const maxBookAge = 90 * 24 * time.Hour

// Doctor examines a workspace and its state folder, and puts its findings into a report. It
// changes nothing.
func (in *Inspector) Doctor(ctx context.Context, r *health.Report, o health.DoctorOptions) error {
	return health.Run(ctx, r, looks(), &doctor{Report: r, opts: o, in: in})
}

// looks returns a doctor's checks, in order. A check also adds findings for subjects without a
// problem.
func looks() []health.Check[*doctor] {
	look := func(code health.Code, title string, at func(*doctor)) health.Check[*doctor] {
		return health.Check[*doctor]{Code: code, Title: title, Run: func(ctx context.Context, d *doctor, _ *health.Report) error {
			d.ctx = ctx
			at(d)
			return nil
		}}
	}
	return []health.Check[*doctor]{
		look(health.Workspace, "Markdown can be read, and the folder written", (*doctor).files),
		look(health.Index, "the index can be searched, and is up to date", (*doctor).index),
		look(health.Embedding, "vectors can be had", (*doctor).embedding),
		look(health.State, "what is stored is sound, and the folder can be written", (*doctor).state),
		look(health.Window, "system prompt and tools fit the window", (*doctor).window),
		look(health.Prices, "prices are current", (*doctor).book),
	}
}

// doctor is one examination of a workspace and its state folder.
type doctor struct {
	*health.Report
	ctx  context.Context
	opts health.DoctorOptions
	in   *Inspector
}

// tell adds a finding to the running check.
func (d *doctor) tell(how health.Severity, what, hint string) {
	d.Add(health.Finding{Severity: how, What: what, Hint: hint})
}

// several adds symptoms. Of those that sort gives one name it adds the first few, and then the number
// of the others.
func (d *doctor) several(found []health.Finding, sort func(*health.Finding) string) {
	alike := map[string]int{}
	for i := range found {
		if f := &found[i]; alike[sort(f)] < maxAlike {
			d.tell(f.Severity, f.What, f.Hint)
		}
		alike[sort(&found[i])]++
	}
	for i := range found {
		f := &found[i]
		if more := alike[sort(f)] - maxAlike; more > 0 {
			d.tell(f.Severity, fmt.Sprintf("%d more like this", more), f.Hint)
		}
		delete(alike, sort(f))
	}
}

// files checks the Markdown.
func (d *doctor) files() {
	m := d.in.Memory
	if m == nil {
		d.tell(health.OK, "memory is switched off: the files of "+d.in.Workspace+" are left alone", "")
		return
	}
	snap, err := d.in.Upkeep.ReadAll(d.ctx)
	if err != nil {
		return
	}
	var faults []health.Finding
	for _, f := range snap.Files {
		for _, fault := range f.Faults() {
			fault.What = fault.Place.String() + ": " + fault.What
			faults = append(faults, fault)
		}
	}
	d.several(faults, func(f *health.Finding) string { return f.Hint })
	v, err := m.Private.Survey(d.ctx)
	if err != nil {
		return
	}
	hint := ""
	if v.Searched == 0 {
		hint = "memory is MEMORY.md, USER.md, memory/**/*.md and what index.include names"
	}
	d.tell(health.OK, d.in.Workspace+" holds "+v.Text(), hint)
	var names []string
	for _, f := range v.LeftOut.First {
		names = append(names, fmt.Sprintf("%s (%s)", f.Path, f.Reason.Text()))
	}
	if len(names) > 0 {
		d.tell(health.OK, "left out: "+strings.Join(names, ", "), "index.include and index.exclude say what is memory")
	}
	if m.Private.IsRemote() {
		return // the other checks concern the workspace's state, which is in the same place
	}
	if err := writable(d.in.Workspace); err != nil {
		d.tell(health.Warning, fmt.Sprintf("%s can't be written: %v", d.in.Workspace, err), "nothing can be remembered in it; give yourself the right to write there")
	}
}

// index checks the index file.
func (d *doctor) index() {
	m := d.in.Memory
	if m == nil {
		return
	}
	st := d.in.IndexStatus(d.ctx)
	if bad, ok := unsearchable[st.State]; ok {
		way := bad.Hint
		if st.State == api.IndexFailed {
			way = cmp.Or(st.Hint, way)
		}
		d.tell(bad.Severity, cmp.Or(bad.What, st.Path+": "+st.Detail), way)
		return
	}
	d.tell(health.OK, fmt.Sprintf("%s holds %d chunks, %d of them with a vector", st.Path, st.Chunks, st.Vectors), "")
	if st.Behind {
		d.tell(health.Warning, "the index is behind the files", "run 'memkernel reindex'")
	}
	if st.Unread > 0 {
		d.tell(health.Warning, fmt.Sprintf("%d files could not be read when they were last indexed, or were being written", st.Unread), "run 'memkernel reindex', which names them")
	}
	d.vectors(&st)
}

// unsearchable are the states in which an index can't be searched. If the finding has no text, the
// index's own error text is used.
var unsearchable = map[api.IndexState]health.Finding{
	api.IndexMissing: {Severity: health.Warning, What: "there is no index yet; the first search makes it", Hint: "run 'memkernel reindex'"},
	api.IndexOlder:   {Severity: health.Warning, Hint: "run 'memkernel reindex', which makes it anew"},
	api.IndexDamaged: {Severity: health.Error, Hint: "run 'memkernel reindex', which makes it anew; nothing is lost"},
	api.IndexForeign: {Severity: health.Error, Hint: "move the file away, or name another state folder with --state-dir"},
	api.IndexNewer:   {Severity: health.Error, Hint: "update memkernel, or run 'memkernel reindex --full', which moves it aside"},
	api.IndexFailed:  {Severity: health.Error, Hint: "see that the file can be read and nobody else holds it"},
}

// vectors compares the index's vectors with the configured embedder.
func (d *doctor) vectors(st *api.IndexStatus) {
	p := d.in.Embedder
	switch {
	case p == nil:
	case st.Model != p.Model():
		d.tell(health.Warning, fmt.Sprintf("the vectors are of %s, questions would be embedded by %s: both are searched by words alone", cmp.Or(st.Model, "no model"), p.Model()),
			"run 'memkernel reindex', which embeds what the new model lacks")
	case st.Vectors < st.Chunks:
		d.tell(health.Warning, fmt.Sprintf("%d chunks have no vector", st.Chunks-st.Vectors), "run 'memkernel reindex'")
	}
}

// embedding checks the embedder.
func (d *doctor) embedding() {
	if d.in.Memory == nil {
		return
	}
	p := d.in.Embedder
	if p == nil {
		d.tell(health.OK, "no provider: search is by words alone, and nothing leaves this machine", "")
		return
	}
	about := embed.Describe(p)
	if about.Free && about.Endpoint == "" {
		d.tell(health.OK, fmt.Sprintf("%s was loaded: %s; nothing leaves this machine", about.Model, about.Note), "")
		d.vectorLength(p, about.Dim)
		return
	}
	if !d.opts.Network {
		d.tell(health.OK, p.Model()+" is configured; it was not asked", "--network asks it for one vector")
		return
	}
	v, err := p.EmbedQuery(d.ctx, memory.ProbeText)
	if err != nil {
		d.tell(health.Error, err.Error(), "until it answers, search is by words alone")
		return
	}
	d.tell(health.OK, fmt.Sprintf("%s answered with a vector of %d numbers", p.Model(), len(v)), "")
	d.vectorLength(p, len(v))
}

// vectorLength compares the length of the model's vectors with the length of the index's vectors.
func (d *doctor) vectorLength(p embed.Provider, length int) {
	ix, err := d.in.Memory.Index(d.ctx)
	if err != nil {
		return // the check of the index reports that
	}
	if model, dim, err := ix.Model(d.ctx); err == nil && model == p.Model() && dim != length {
		d.tell(health.Warning, fmt.Sprintf("the index has vectors of %d numbers by the same name: search is by words alone", dim),
			"run 'memkernel reindex --full', which embeds every chunk again")
	}
}

// state checks the state folder.
func (d *doctor) state() {
	dir, missing := d.in.StateDir, false
	for _, err := os.Stat(dir); err != nil && (missing || errors.Is(err, fs.ErrNotExist)) && dir != filepath.Dir(dir); _, err = os.Stat(dir) {
		dir, missing = filepath.Dir(dir), true // the lowest existing folder
	}
	if err := writable(dir); err != nil {
		d.tell(health.Error, fmt.Sprintf("%s can't be written: %v", dir, err), "give yourself the right to write there, or name another folder with --state-dir")
	}
	if i, err := os.Stat(dir); err == nil && !missing && i.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		d.tell(health.Warning, fmt.Sprintf("other users of this machine can look into %s (mode %#o)", dir, i.Mode().Perm()), "the next verb that is not doctor narrows it to its owner, as 'chmod -R go= "+dir+"' does")
	}
	place := d.in.StateDir
	if d.in.Elsewhere {
		place = d.in.State.Where("")
	} else if missing {
		d.tell(health.OK, place+" is not there yet", "")
		return
	}
	found, err := found(d.ctx, d.in, stored)
	if err != nil {
		d.tell(health.Error, err.Error(), "see that "+place+" can be read")
		return
	}
	var damaged []health.Finding
	for _, f := range found {
		if f.Severity == health.Note {
			d.tell(f.Severity, f.What, f.Hint)
		} else {
			damaged = append(damaged, f)
		}
	}
	d.several(damaged, func(*health.Finding) string { return "damaged" })
	if damaged == nil {
		d.tell(health.OK, "everything in "+place+" is sound", "")
	}
	st, err := d.in.Status(d.ctx, api.StatusOptions{All: true})
	if err != nil || len(st.Masked) == 0 {
		return // unreadable files were already reported
	}
	total, rules := 0, []string{}
	for _, m := range st.Masked {
		total += m.Count
		rules = append(rules, fmt.Sprintf("%s %d", m.Rule, m.Count))
	}
	d.tell(health.OK, fmt.Sprintf("%d secrets are masked in what is stored: %s", total, strings.Join(rules, ", ")),
		"what is no secret can be named in redact.allow, a rule in redact.disable_rules")
}

// window reports requests whose system prompt and tools alone do not fit the window.
func (d *doctor) window() {
	unfit := session.Unfit(d.in.State)
	for _, model := range sorted(unfit) {
		d.tell(health.Warning, fmt.Sprintf("%s: %s; its last request, of %s, was not planned", model, unfit[model], unfit[model].At.Format(time.DateOnly)), unfit[model].Hint())
	}
	if len(unfit) == 0 {
		d.tell(health.OK, "no request is known whose system prompt and tools are too large", "")
	}
}

// book checks the age of the price book.
func (d *doctor) book() {
	newest := ""
	for _, m := range d.in.Prices.Models() {
		newest = max(newest, m.AsOf)
	}
	day, err := time.Parse(time.DateOnly, newest)
	switch age := d.opts.Now.Sub(day); {
	case err != nil:
		d.tell(health.Warning, "no model of the price book says when its prices were checked", "name another book with --prices")
	case age > maxBookAge:
		d.tell(health.Warning, fmt.Sprintf("the newest prices are of %s, %d days ago", newest, int(age.Hours()/24)),
			"update memkernel, or name newer ones with --prices; 'memkernel prices import' makes a file of a public catalogue")
	default:
		d.tell(health.OK, "the newest prices are of "+newest, "")
	}
}
