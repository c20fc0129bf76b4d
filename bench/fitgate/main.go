// Command fitgate fits the weights for the chance that memory answers a prompt. This chance
// decides whether the prompt gets recalled notes. The command prints the losses and the false
// recalls of the fit.
//
//	go run -C bench ./fitgate [-write] [-typed DIR] -set DIR[,DIR…]
//
// A DIR is a set of questions (qa.jsonl or questions.jsonl next to its notes), or a workspace
// whose notes are turned into questions. Each index is asked:
//
//   - its own questions, which count as answerable
//   - questions of other sets, except of the same set in another language
//   - prompts that ask nothing of memory (prompts.jsonl)
//   - prompts that people typed in the transcripts below the folder of -typed; every second
//     one is fitted, and the others only judge the fit
//
// Sets with questions are also indexed with only a handful of their notes, like a memory that has just
// begun. Another small index has only the log that the session of a transcript kept. Large sets have
// equal weight, and small sets less. With -write the command writes the weights to retrieval/weights.go. Without
// -write it writes only temporary folders.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/transcript"
)

// weightsFile is the file of the weights, relative to the folder bench.
const weightsFile = "../retrieval/weights.go"

func main() {
	var o options
	sets := flag.String("set", "", "folders, separated by commas")
	flag.BoolVar(&o.write, "write", false, "write the weights to "+weightsFile)
	flag.StringVar(&o.typed, "typed", "", "a folder of transcripts")
	flag.IntVar(&o.most, "n", 200, "questions of a set at most, and as many others")
	flag.Parse()
	o.sets = strings.Split(*sets, ",")
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "fitgate:", err)
		os.Exit(1)
	}
}

type options struct {
	sets  []string
	write bool
	typed string
	most  int
}

func run(ctx context.Context, o options) error {
	if o.sets[0] == "" {
		return errors.New("name folders with -set")
	}
	dirs, err := os.MkdirTemp("", "fitgate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dirs)
	all, err := read(ctx, o, dirs)
	if err != nil {
		return err
	}
	begun, err := young(ctx, o.typed, filepath.Join(dirs, "young"))
	if err != nil {
		return err
	}
	all = append(all, begun...)
	prompts, err := promptsOf(false)
	if err != nil {
		return err
	}
	said, err := typed(o.typed, o.most)
	if err != nil {
		return err
	}
	var groups []*group
	for i := range all {
		g, err := ask(ctx, &all[i], others(all, i, o.most), prompts, said)
		if err != nil {
			return err
		}
		if at := slices.IndexFunc(groups, func(other *group) bool { return other.name == g.name && all[i].small }); at >= 0 {
			groups[at].samples = append(groups[at].samples, g.samples...)
			continue
		}
		groups = append(groups, g)
	}
	weights := fit(groups)
	report(groups, weights)
	if o.write {
		return write(weights)
	}
	return nil
}

// source is a set whose questions were not asked yet.
type source struct {
	relevance.Set
	asked []string
	// small reports that the source has only a handful of the set's notes.
	small bool
}

func read(ctx context.Context, o options, dirs string) ([]source, error) {
	var out []source
	for _, dir := range o.sets {
		s := source{Set: relevance.Set{Name: filepath.Base(dir), Dir: dir}}
		for _, f := range []string{filepath.Join(dir, "qa.jsonl"), filepath.Join(filepath.Dir(dir), "questions.jsonl")} {
			if _, err := os.Stat(f); err != nil {
				continue
			}
			set, err := relevance.Read(dir, f)
			if err != nil {
				return nil, err
			}
			s.Set = set
			for _, q := range every(set.Questions, o.most) {
				s.asked = append(s.asked, q.Text)
			}
			break
		}
		if len(s.asked) == 0 {
			items, err := known(ctx, s.Set, o.most)
			if err != nil {
				return nil, err
			}
			s.asked = items
		}
		out = append(out, s)
		if len(s.Questions) == 0 {
			continue
		}
		for _, lines := range fewLines {
			f, err := few(s.Set, lines, filepath.Join(dirs, fmt.Sprint(len(out))))
			if err != nil {
				return nil, err
			}
			if len(f.asked) > 0 {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// fewLines holds the numbers of lines that a memory has when it has just begun.
var fewLines = []int{1, 8}

// few makes a memory in the folder dir of the lines that answer a set's last questions.
func few(set relevance.Set, lines int, dir string) (source, error) {
	out := source{Set: relevance.Set{Name: fmt.Sprintf("all, begun with lines: %d", lines), Dir: dir}, small: true}
	has := map[relevance.Evidence]bool{}
	notes := "# Notes\n"
	for _, q := range slices.Backward(set.Questions) {
		at := relevance.Evidence{File: q.Evidence[0].File, Line: q.Evidence[0].Line}
		if len(q.Evidence) > 1 || q.Evidence[0].EndLine > 0 || len(has) == lines && !has[at] {
			continue
		}
		if !has[at] {
			raw, err := os.ReadFile(filepath.Join(set.Dir, at.File))
			if err != nil {
				return out, err
			}
			all := strings.Split(string(raw), "\n")
			if at.Line > len(all) {
				return out, fmt.Errorf("%s has no line %d", at.File, at.Line)
			}
			has[at] = true
			notes += "\n" + all[at.Line-1] + "\n"
		}
		out.asked = append(out.asked, q.Text)
	}
	if err := os.MkdirAll(filepath.Join(dir, "memory"), 0o755); err != nil {
		return out, err
	}
	return out, os.WriteFile(filepath.Join(dir, "memory", "notes.md"), []byte(notes), 0o644)
}

// known returns prompts about the contents of a workspace. Each prompt is there twice: in the
// words of the workspace, and as a question.
func known(ctx context.Context, set relevance.Set, n int) ([]string, error) {
	b, err := relevance.Open(ctx, set)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	var out []string
	for i, it := range b.Asked(3, n) {
		if i%2 == 0 {
			out = append(out, question(it))
		} else {
			out = append(out, it.Query)
		}
	}
	return out, nil
}

// every returns n elements of a list, spread evenly.
func every[T any](of []T, n int) []T {
	var out []T
	for i := range min(n, len(of)) {
		out = append(out, of[i*len(of)/min(n, len(of))])
	}
	return out
}

// others returns questions that set i does not answer.
func others(all []source, i, n int) []string {
	var from [][]string
	for j := range all {
		if j != i && !all[j].small && !parallel(all[i].Questions, all[j].Questions) && all[i].Dir != all[j].Dir {
			from = append(from, all[j].asked)
		}
	}
	var out []string
	for _, asked := range from {
		out = append(out, every(asked, n/max(len(from), 1)+1)...)
	}
	return out
}

// parallel reports whether two sets ask about the same lines, in two languages.
func parallel(a, b []relevance.Question) bool {
	n := min(len(a), len(b), 50)
	for k := range n {
		if len(a[k].Evidence) == 0 || len(b[k].Evidence) == 0 || a[k].Evidence[0] != b[k].Evidence[0] {
			return false
		}
	}
	return n > 0
}

// sample is a question with the grounds found for it.
type sample struct {
	text       string
	grounds    retrieval.Grounds
	answerable bool
	prompt     bool
	// typed reports that somebody typed the prompt in a session about something else. kept reports
	// that the prompt only judges the fit.
	typed, kept bool
}

type group struct {
	name    string
	samples []sample
}

func ask(ctx context.Context, s *source, other []string, prompts []prompt, said []string) (*group, error) {
	b, err := relevance.Open(ctx, s.Set)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	now, err := b.Moment(ctx)
	if err != nil {
		return nil, err
	}
	r := retrieval.New(b.Index, nil)
	g := &group{name: s.Name}
	add := func(text string, answerable, prompt bool) error {
		got := r.Search(ctx, retrieval.Query{Text: text, Limit: 24, MinShare: .3, Passages: true, NoSnippets: true, Now: now})
		g.samples = append(g.samples, sample{text: text, grounds: got.Grounds, answerable: answerable, prompt: prompt})
		return got.Err
	}
	for i, t := range s.asked {
		err = errors.Join(err, add(t, true, false))
		if before := rambled(said, i); i%ramblingOf == 0 && before != "" {
			err = errors.Join(err, add(before+" "+t, true, false))
		}
	}
	for _, t := range other {
		err = errors.Join(err, add(t, false, false))
	}
	for _, p := range prompts {
		err = errors.Join(err, add(p.Text, false, true))
	}
	for i, t := range said {
		n := len(g.samples)
		if err = errors.Join(err, add(t, false, false)); len(g.samples) > n {
			g.samples[n].typed, g.samples[n].kept = true, i%2 == 1
		}
	}
	return g, err
}

// ramblingOf: one of so many answerable questions is also asked at the end of a longer message.
const ramblingOf = 3

// rambled returns a typed prompt of 60 to 240 bytes, to be put before question i, "" if there is none.
// It takes only prompts that are fitted.
func rambled(said []string, i int) string {
	even := len(said) &^ 1 // the odd ones are not fitted
	for k := 0; k < even; k += 2 {
		t := said[(2*i+k)%even]
		if len(t) >= 60 && len(t) <= 240 {
			return t
		}
	}
	return ""
}

// chance returns the chance that weights give to grounds.
func chance(w []float64, g *retrieval.Grounds) float64 {
	if g.Held == 0 {
		return g.Near
	}
	return max(g.Near, sigmoid(score(w, g)))
}

func score(w []float64, g *retrieval.Grounds) float64 {
	z := w[0]
	for i, v := range g.Values() {
		z += w[i+1] * v
	}
	return z
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// ridge keeps weights small that the sets do not determine.
const ridge = 1e-4

// halfSet is the number of answerable questions with which a set has half of the full weight.
const halfSet = 30

// fit is a logistic regression by Newton's method.
func fit(groups []*group) []float64 {
	n := 1 + len(retrieval.Grounds{}.Values())
	w := make([]float64, n)
	for range 30 {
		grad, hess := make([]float64, n), make([][]float64, n)
		for i := range hess {
			hess[i] = make([]float64, n)
		}
		for _, g := range groups {
			yes, no := g.count()
			counts := float64(yes) / float64(yes+halfSet)
			for i := range g.samples {
				s := &g.samples[i]
				if s.grounds.Held == 0 || s.kept {
					continue
				}
				x := append([]float64{1}, s.grounds.Values()...)
				p, y, weight := sigmoid(score(w, &s.grounds)), 0.0, counts/float64(max(no, 1))
				if s.answerable {
					y, weight = 1, counts/float64(max(yes, 1))
				}
				for a := range x {
					grad[a] += weight * (y - p) * x[a]
					for c := range x {
						hess[a][c] += weight * p * (1 - p) * x[a] * x[c]
					}
				}
			}
		}
		for a := range w {
			if a > 0 {
				grad[a] -= ridge * float64(len(groups)) * w[a]
			}
			hess[a][a] += ridge * float64(len(groups))
		}
		step := solve(hess, grad)
		for a := range w {
			w[a] += step[a]
		}
	}
	return w
}

func (g *group) count() (yes, no int) {
	for _, s := range g.samples {
		switch {
		case s.kept:
		case s.answerable:
			yes++
		default:
			no++
		}
	}
	return yes, no
}

// solve solves a symmetric system by elimination.
func solve(m [][]float64, v []float64) []float64 {
	n := len(v)
	for i := range n {
		p := i
		for r := i + 1; r < n; r++ {
			if math.Abs(m[r][i]) > math.Abs(m[p][i]) {
				p = r
			}
		}
		m[i], m[p], v[i], v[p] = m[p], m[i], v[p], v[i]
		for r := i + 1; r < n; r++ {
			f := m[r][i] / m[i][i]
			for c := i; c < n; c++ {
				m[r][c] -= f * m[i][c]
			}
			v[r] -= f * v[i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		for c := i + 1; c < n; c++ {
			v[i] -= m[i][c] * v[c]
		}
		v[i] /= m[i][i]
	}
	return v
}

// typed returns at most 2n prompts that people typed in transcripts.
func typed(dir string, n int) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	has := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		s, err := transcript.LoadFile(path, nil)
		if err != nil {
			return err
		}
		for _, m := range s.View(transcript.Full) {
			if own, _ := transcript.Typed(m); own != "" && len(own) <= mostTyped {
				has[strings.TrimSpace(own)] = true
			}
		}
		return nil
	})
	return every(slices.Sorted(maps.Keys(has)), 2*n), err
}

// mostTyped bounds a typed prompt, in bytes. Longer prompts are mostly pasted.
const mostTyped = 600

// rates returns shares in percent, NaN for groups without samples. It counts the answerable
// questions whose chance is below least. Of the questions of other sets, of the prompts and of
// the kept typed prompts it counts those whose chance is not below least.
func rates(samples []sample, w []float64, least float64) rate {
	var n, hit rate
	for i := range samples {
		s := &samples[i]
		k := 1
		switch {
		case s.answerable:
			k = 0
		case s.kept:
			k = 3
		case s.prompt:
			k = 2
		}
		n[k]++
		if (chance(w, &s.grounds) >= least) != s.answerable {
			hit[k]++
		}
	}
	for k := range hit {
		hit[k] *= 100 / n[k]
	}
	return hit
}

type rate [4]float64

func (r rate) String() string { return fmt.Sprintf("%6.1f %6.1f %6.1f %6.1f", r[0], r[1], r[2], r[3]) }

func report(groups []*group, w []float64) {
	const columns = "  lost others prompt  typed"
	fmt.Printf("weights  %.2f\n", w)
	fmt.Printf("%-28s %6s %s  left out: %s  in use: %s\n", "% at "+fmt.Sprint(retrieval.DefaultMinBest), "n", columns, columns, columns)
	var all []sample
	for i, g := range groups {
		without := w
		if rest := slices.Delete(slices.Clone(groups), i, i+1); len(rest) > 0 {
			without = fit(rest)
		}
		yes, _ := g.count()
		fmt.Printf("%-28.28s %6d %v            %v          %v\n", g.name, yes, rates(g.samples, w, retrieval.DefaultMinBest),
			rates(g.samples, without, retrieval.DefaultMinBest), rates(g.samples, retrieval.Grounds{}.Weights(), retrieval.DefaultMinBest))
		all = append(all, g.samples...)
	}
	fmt.Println("all, by the least chance")
	for _, least := range []float64{.1, .15, .2, .25, .3, .4, .5} {
		fmt.Printf("%28.2f %6s %v\n", least, "", rates(all, w, least))
	}
}

func write(w []float64) error {
	var b bytes.Buffer
	b.WriteString("// Code generated by fitgate; DO NOT EDIT.\n\npackage retrieval\n\n// confidenceWeights are the constant and the weights of [Grounds.Values].\nvar confidenceWeights = [...]float64{")
	for i, v := range w {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.3g", v)
	}
	b.WriteString("}\n")
	out, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(weightsFile, out, 0o644)
}
