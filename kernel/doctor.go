package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/embed"
	mem "github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/markdownstore"
)

// Health is how serious a [Symptom] is.
type Health string

// The states. Only a failure keeps something from working.
const (
	Healthy Health = "ok"
	Warning Health = "warn"
	Failing Health = "fail"
)

// The areas that [Doctor] looks at.
const (
	AreaWorkspace = "workspace"
	AreaIndex     = "index"
	AreaEmbedding = "embedding"
	AreaState     = "state"
	AreaPrices    = "prices"
)

// Symptom is one thing that was looked at.
type Symptom struct {
	Area  string `json:"area"`
	State Health `json:"state"`
	// What is the case, and Hint how to mend it; "" if there is nothing to mend.
	What string `json:"what"`
	Hint string `json:"hint"`
}

// Diagnosis is what [Doctor] found, area by area.
type Diagnosis struct {
	Symptoms []Symptom
}

// Failing tells whether anything keeps something from working.
func (d *Diagnosis) Failing() bool {
	for i := range d.Symptoms {
		if d.Symptoms[i].State == Failing {
			return true
		}
	}
	return false
}

// Add notes a symptom.
func (d *Diagnosis) Add(area string, state Health, what, hint string) {
	d.Symptoms = append(d.Symptoms, Symptom{Area: area, State: state, What: what, Hint: hint})
}

// DoctorOptions are settings of one [Doctor]; nil means the defaults.
type DoctorOptions struct {
	// Deep reads the whole index and holds it against itself.
	Deep bool
	// Network asks the embedder for one vector. Without it nothing is sent.
	Network bool
	// Now is the moment that ages are counted to; zero takes the kernel's clock.
	Now time.Time
}

// maxAlike is how many symptoms of one sort are told one by one.
const maxAlike = 5

// maxBookAge is the age from which prices are doubted.
const maxBookAge = 90 * 24 * time.Hour

// Doctor looks at a workspace and its state folder and says what is wrong and how
// to mend it. It reads, and changes nothing. That the workspace can't be opened is
// a symptom too; the only error is the context's end.
func Doctor(ctx context.Context, workspaceDir string, opts *Options, o *DoctorOptions) (*Diagnosis, error) {
	d := &doctor{ctx: ctx, Diagnosis: &Diagnosis{Symptoms: []Symptom{}}, alike: map[string]int{}}
	if o != nil {
		d.opts = *o
	}
	k, err := Open(ctx, workspaceDir, opts)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		d.Add(AreaWorkspace, Failing, err.Error(), "name a folder that is there and can be read")
		return d.Diagnosis, nil
	}
	defer k.Close()
	if d.opts.Now.IsZero() {
		d.opts.Now = k.now()
	}
	d.workspace, d.stateDir, d.memory, d.prices = k.workspace, k.stateDir, k.memory, k.prices
	d.check = k.checkState
	d.masked = func(ctx context.Context) ([]MaskCount, error) {
		st, err := k.StatusOf(ctx, StatusOptions{All: true})
		if err != nil {
			return nil, err
		}
		return st.Masked, nil
	}
	for _, look := range []func(){d.files, d.index, d.embedding, d.state, d.book} {
		look()
		d.countRest()
	}
	return d.Diagnosis, ctx.Err()
}

// doctor is a look at a workspace and its state folder.
type doctor struct {
	*Diagnosis
	ctx                 context.Context
	opts                DoctorOptions
	workspace, stateDir string
	memory              *memory // nil if it is off
	prices              *cachelayout.Book
	// check verifies what is stored, masked counts the secrets that were masked in it.
	check  func(context.Context) ([]Finding, error)
	masked func(context.Context) ([]MaskCount, error)
	// alike counts the symptoms of one sort, sorts are in the order of their
	// first.
	alike map[string]int
	sorts []Symptom
}

// one of many symptoms: the first few are told, the rest counted.
func (d *doctor) oneOf(sort, area string, state Health, what, hint string) {
	if d.alike[sort]++; d.alike[sort] == 1 {
		d.sorts = append(d.sorts, Symptom{Area: area, State: state, What: sort, Hint: hint})
	}
	if d.alike[sort] <= maxAlike {
		d.Add(area, state, what, hint)
	}
}

// countRest tells how many symptoms were not told.
func (d *doctor) countRest() {
	for _, s := range d.sorts {
		if more := d.alike[s.What] - maxAlike; more > 0 {
			d.Add(s.Area, s.State, fmt.Sprintf("%d more like this: %s", more, s.What), s.Hint)
		}
	}
	d.sorts = nil
	clear(d.alike)
}

// files looks at the Markdown.
func (d *doctor) files() {
	m := d.memory
	if m == nil {
		d.Add(AreaWorkspace, Healthy, "memory is switched off: the files of "+d.workspace+" are left alone", "")
		return
	}
	files, memory := 0, 0
	for f, err := range m.private.Walk(d.ctx) {
		if err == nil {
			files++
			err = d.file(f)
		}
		if err == nil && f.Indexed {
			memory++
		}
		if d.ctx.Err() != nil {
			return
		}
		if err != nil {
			d.unread(f.Path, err)
		}
	}
	d.countRest()
	hint := ""
	if memory == 0 {
		hint = "memory is MEMORY.md, USER.md and memory/**/*.md"
	}
	d.Add(AreaWorkspace, Healthy, fmt.Sprintf("%s holds %d Markdown files, %d of them memory that is searched", d.workspace, files, memory), hint)
	if err := writable(d.workspace); err != nil {
		d.Add(AreaWorkspace, Warning, fmt.Sprintf("%s can't be written: %v", d.workspace, err), "nothing can be remembered in it; give yourself the right to write there")
	}
}

// file looks for what is odd about one file. An error is that it can't be read.
func (d *doctor) file(f markdownstore.File) error {
	switch {
	case f.Shadowed:
		d.oneOf("a file stands in the place of another", AreaWorkspace, Warning, f.Path+" is not used: MEMORY.md stands in its place", "move what it says into MEMORY.md")
		return nil
	case f.TooLarge:
		d.oneOf("a file is too large", AreaWorkspace, Warning, fmt.Sprintf("%s is not searched: its %d bytes are over the limit", f.Path, f.Size),
			"split it, or raise workspace.max_file_size")
		return nil
	}
	l, err := d.memory.private.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, n := range markdownstore.Parse(f.Path, l.Text).Notes {
		place := f.Path
		if n.Line > 0 {
			place = fmt.Sprintf("%s:%d", f.Path, n.Line)
		}
		d.oneOf(noteSorts[n.Code].sort, AreaWorkspace, Warning, place+": "+n.Text, noteSorts[n.Code].hint)
	}
	return nil
}

// noteSorts say what an oddity is called and how to mend it.
var noteSorts = map[markdownstore.NoteCode]struct{ sort, hint string }{
	markdownstore.NoteBinary:      {"a file is no text", "save it as UTF-8 text, or move it out of memory/"},
	markdownstore.NoteFrontMatter: {"front matter can't be read", "mend it; until then it is read as text"},
	markdownstore.NoteInvalidUTF8: {"a file is not UTF-8", "save it as UTF-8"},
}

func (d *doctor) unread(path string, err error) {
	var denied *markdownstore.DeniedError
	if errors.As(err, &denied) {
		d.oneOf("a file is refused", AreaWorkspace, Warning, err.Error(), "what is meant as memory must stand in the workspace itself, as a file")
		return
	}
	d.oneOf("a file can't be read", AreaWorkspace, Failing, fmt.Sprintf("%s can't be read: %v", path, err), "give yourself the right to read it")
}

// index looks at the index file.
func (d *doctor) index() {
	m := d.memory
	if m == nil {
		return
	}
	st := indexStatus(d.ctx, m)
	if bad, ok := indexSymptoms[st.State]; ok {
		way := bad.Hint
		if st.State == IndexFailed {
			way = cmp.Or(st.Hint, way)
		}
		d.Add(AreaIndex, bad.State, cmp.Or(bad.What, st.Path+": "+st.Detail), way)
		return
	}
	d.Add(AreaIndex, Healthy, fmt.Sprintf("%s holds %d files in %d chunks, %d of them with a vector", st.Path, st.Files, st.Chunks, st.Vectors), "")
	if st.Behind {
		d.Add(AreaIndex, Warning, "the index is behind the files", "run 'memkernel reindex'")
	}
	if st.Unread > 0 {
		d.Add(AreaIndex, Warning, fmt.Sprintf("%d files could not be read when they were last indexed, or were being written", st.Unread), "run 'memkernel reindex', which names them")
	}
	d.vectors(&st)
	if d.opts.Deep {
		d.deep()
	}
}

// indexSymptoms are the states in which an index can't be searched. Without What
// the index's own words say it.
var indexSymptoms = map[IndexState]Symptom{
	IndexMissing: {State: Warning, What: "there is no index yet, so nothing of the files is found", Hint: "run 'memkernel reindex'"},
	IndexOlder:   {State: Warning, Hint: "run 'memkernel reindex', which makes it anew"},
	IndexDamaged: {State: Failing, Hint: "run 'memkernel reindex', which makes it anew; nothing is lost"},
	IndexForeign: {State: Failing, Hint: "move the file away, or name another state folder with --state-dir"},
	IndexNewer:   {State: Failing, Hint: "update memkernel, or run 'memkernel reindex --full', which moves it aside"},
	IndexFailed:  {State: Failing, Hint: "see that the file can be read and nobody else holds it"},
}

// vectors compares the vectors with the embedder that is configured.
func (d *doctor) vectors(st *IndexStatus) {
	p := d.memory.opts.Embedder
	switch {
	case p == nil:
	case st.Model != p.Model():
		d.Add(AreaIndex, Warning, fmt.Sprintf("the vectors are of %s, questions would be embedded by %s: both are searched by words alone", cmp.Or(st.Model, "no model"), p.Model()),
			"run 'memkernel reindex', which embeds what the new model lacks")
	case st.Vectors < st.Chunks:
		d.Add(AreaIndex, Warning, fmt.Sprintf("%d chunks have no vector", st.Chunks-st.Vectors), "run 'memkernel reindex'")
	}
}

// deep holds the index against itself.
func (d *doctor) deep() {
	ix, err := d.memory.Index(d.ctx)
	if err != nil {
		return
	}
	found := false
	for err := range ix.Check(d.ctx) {
		if d.ctx.Err() != nil {
			return
		}
		found = true
		d.oneOf("the index is damaged", AreaIndex, Failing, err.Error(), "run 'memkernel reindex --full', which makes it anew; nothing is lost")
	}
	if !found {
		d.Add(AreaIndex, Healthy, "every chunk, word and vector of the index is whole", "")
	}
}

// embedding looks at where vectors come from.
func (d *doctor) embedding() {
	if d.memory == nil {
		return
	}
	p := d.memory.opts.Embedder
	if p == nil {
		d.Add(AreaEmbedding, Healthy, "no provider: search is by words alone, and nothing leaves this machine", "")
		return
	}
	about := embed.Describe(p)
	d.dayBudget(about.Budget)
	if about.Provider == embed.ProviderLocal {
		d.Add(AreaEmbedding, Healthy, fmt.Sprintf("%s was loaded: %s; nothing leaves this machine", about.Model, about.Note), "")
		d.vectorLength(p, about.Dim)
		return
	}
	if !d.opts.Network {
		d.Add(AreaEmbedding, Healthy, p.Model()+" is configured; it was not asked", "--network asks it for one vector")
		return
	}
	v, err := p.EmbedQuery(d.ctx, mem.ProbeText)
	if err != nil {
		d.Add(AreaEmbedding, Failing, err.Error(), "until it answers, search is by words alone")
		return
	}
	d.Add(AreaEmbedding, Healthy, fmt.Sprintf("%s answered with a vector of %d numbers", p.Model(), len(v)), "")
	d.vectorLength(p, len(v))
}

// vectorLength compares the model's vectors with those of the index.
func (d *doctor) vectorLength(p embed.Provider, length int) {
	ix, err := d.memory.Index(d.ctx)
	if err != nil {
		return // which index says
	}
	if model, dim, err := ix.Model(d.ctx); err == nil && model == p.Model() && dim != length {
		d.Add(AreaEmbedding, Warning, fmt.Sprintf("the index has vectors of %d numbers by the same name: search is by words alone", dim),
			"run 'memkernel reindex --full', which embeds every chunk again")
	}
}

// dayBudget says what is left of the day's tokens.
func (d *doctor) dayBudget(b *embed.Budget) {
	if b == nil {
		return
	}
	if n, tokens, err := d.memory.NeverEmbedded(d.ctx); err == nil && n > 0 { // which index can't be read says another check
		d.Add(AreaEmbedding, Warning, fmt.Sprintf("%d texts will never get a vector: the longest takes about %d tokens, more than a whole day has", n, tokens),
			fmt.Sprintf("raise embedding.daily_tokens to %d at least", tokens))
	}
	spent, perDay, err := b.Spent()
	switch {
	case err != nil:
		d.Add(AreaEmbedding, Failing, err.Error(), "until it can be read, nothing is embedded")
	case spent >= perDay:
		d.Add(AreaEmbedding, Warning, fmt.Sprintf("the day's %d tokens are used up", perDay), "it goes on after midnight; or raise embedding.daily_tokens")
	default:
		d.Add(AreaEmbedding, Healthy, fmt.Sprintf("%d of the day's %d tokens were sent", spent, perDay), "")
	}
}

// state looks at the state folder.
func (d *doctor) state() {
	dir, missing := d.stateDir, false
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		dir, missing = existing(dir), true
	}
	if err := writable(dir); err != nil {
		d.Add(AreaState, Failing, fmt.Sprintf("%s can't be written: %v", dir, err), "give yourself the right to write there, or name another folder with --state-dir")
	}
	if missing {
		d.Add(AreaState, Healthy, d.stateDir+" is not there yet", "")
		return
	}
	found, err := d.check(d.ctx)
	if err != nil {
		d.Add(AreaState, Failing, err.Error(), "see that the folder can be read")
		return
	}
	for _, f := range found {
		d.oneOf("something stored is damaged", AreaState, Failing, f.What, f.Hint)
	}
	if len(found) == 0 {
		d.Add(AreaState, Healthy, "everything in "+d.stateDir+" is sound", "")
	}
	d.secrets()
}

// secrets tells what was taken for secrets in what is stored.
func (d *doctor) secrets() {
	masked, err := d.masked(d.ctx)
	if err != nil || len(masked) == 0 {
		return // what can't be read was told
	}
	total, rules := 0, []string{}
	for _, m := range masked {
		total += m.Count
		rules = append(rules, fmt.Sprintf("%s %d", m.Rule, m.Count))
	}
	d.Add(AreaState, Healthy, fmt.Sprintf("%d secrets are masked in what is stored: %s", total, strings.Join(rules, ", ")),
		"what is no secret can be named in redact.allow, a rule in redact.disable_rules")
}

// existing is the lowest folder on the way to dir that is there.
func existing(dir string) string {
	for {
		up := filepath.Dir(dir)
		if _, err := os.Stat(up); err == nil || up == dir {
			return up
		}
		dir = up
	}
}

// book looks at the age of the price book.
func (d *doctor) book() {
	newest := newestPrices(d.prices)
	day, err := time.Parse(time.DateOnly, newest)
	switch age := d.opts.Now.Sub(day); {
	case err != nil:
		d.Add(AreaPrices, Warning, "no model of the price book says when its prices were checked", "name another book with --prices")
	case age > maxBookAge:
		d.Add(AreaPrices, Warning, fmt.Sprintf("the newest prices are of %s, %d days ago", newest, int(age.Hours()/24)),
			"update memkernel, or name newer ones with --prices; 'memkernel prices import' makes a file of a public catalogue")
	default:
		d.Add(AreaPrices, Healthy, "the newest prices are of "+newest, "")
	}
}

func newestPrices(b *cachelayout.Book) string {
	newest := ""
	for _, m := range b.Models() {
		newest = max(newest, m.AsOf)
	}
	return newest
}
