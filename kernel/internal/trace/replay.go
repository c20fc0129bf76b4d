package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
)

// Replay repeats all recorded decisions of the decision trace in r, and compares the results.
// Errors name the file as name. If the file is not a trace, the error wraps [store.ErrNoTrace].
func Replay(name string, r io.Reader) (*api.TraceReport, error) {
	t, err := store.ReadTrace(name, r)
	if err != nil {
		return nil, err
	}
	p := &replay{report: &api.TraceReport{Program: t.Header.Program}, other: map[string]bool{}, lines: map[conversation]*traced{}}
	for d, version := range deciders {
		p.other[d] = t.Header.Deciders[d] != version
	}
	for l, err := range t.Lines() {
		if err == nil {
			err = p.line(l)
		}
		if err != nil {
			return p.report, fmt.Errorf("replay %s: %w", name, err)
		}
		if p.report.Difference != nil {
			break
		}
	}
	return p.report, nil
}

// replay repeats the decisions of a trace.
type replay struct {
	report *api.TraceReport
	other  map[string]bool // deciders of another version
	lines  map[conversation]*traced
}

// line repeats the decisions of one plan.
func (p *replay) line(l store.TraceLine) error {
	rec, err := decode(&l.Record)
	if err != nil {
		return fmt.Errorf("line %d: %w", l.Line, err)
	}
	key := conversation{rec.Branch, rec.Model}
	base, err := p.base(key, rec)
	if err != nil {
		return fmt.Errorf("line %d: %w", l.Line, err)
	}
	if base == nil {
		p.report.Skipped++
		return nil
	}
	again := &planAgain{rec: rec, base: *base}
	d, err := again.run(p.other)
	if err != nil {
		return fmt.Errorf("line %d: %w", l.Line, err)
	}
	p.file(l, again, d)
	p.lines[key] = &traced{base: again.base, plan: l.ID}
	if d != nil {
		p.lines[key] = &traced{}
	}
	return nil
}

// file adds the result of a plan to the report. d is the difference that ended the plan, nil if
// there was none.
func (p *replay) file(l store.TraceLine, a *planAgain, d *api.TraceDifference) {
	r := p.report
	switch {
	case d == nil:
		r.Plans++
		r.Decisions += len(a.rec.Steps) + 1
	case a.foreign:
		r.Skipped++
	default:
		d.Line, d.Plan = l.Line, l.ID
		r.Difference = d
	}
	for _, o := range a.others {
		o.Line, o.Plan = l.Line, l.ID
		if r.Other++; r.FirstOther == nil {
			r.FirstOther = o
		}
	}
}

// base returns the state that a line continues, updated by the line's own conversation. It returns
// nil if the decisions that lead to this state could not be repeated.
func (p *replay) base(key conversation, rec *line) (*base, error) {
	var b base
	if rec.After != "" {
		before := p.lines[key]
		switch {
		case before != nil && before.plan == "":
			return nil, nil
		case before == nil || before.plan != rec.After:
			return nil, fmt.Errorf("it goes on from plan %q, which is not the one before it", rec.After)
		}
		b = before.base
	}
	if err := b.start(rec); err != nil {
		return nil, err
	}
	return &b, b.talk(rec)
}

// planAgain repeats the decisions of one plan.
type planAgain struct {
	rec  *line
	base base // the state before the plan, and after run the state after the plan

	align pagevm.Alignment
	grown *pagevm.Projection // the result of the first Next
	proj  *pagevm.Projection // the result of the chosen Next
	wish  *pagevm.CutWish    // the selector's newest wish, as recorded
	// others are the decisions of other versions that differ now.
	others []*api.TraceDifference
	// foreign reports that a decision in others prevents the plan from being repeated to its end.
	foreign bool
}

// run repeats the plan's decisions and returns the first field that differs, or nil if no field
// differs.
func (a *planAgain) run(other map[string]bool) (*api.TraceDifference, error) {
	a.align = pagevm.Align(a.base.proj, a.base.hosts)
	d, err := differ("align", a.rec.Align, a.align)
	if d != nil || err != nil {
		return a.otherwise(stepAlign, d, other), err
	}
	for i := range a.rec.Steps {
		s := &a.rec.Steps[i]
		d, err := a.step(i, s)
		if err != nil && other[s.Decider] {
			d, err = &api.TraceDifference{Field: fmt.Sprintf("steps[%d].in", i), Recorded: string(s.In), Now: err.Error()}, nil
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("steps[%d], %s: %w", i, s.Decider, err)
		case d != nil:
			if a.otherwise(s.Decider, d, other); !a.foreign || s.Decider == stepNext {
				return d, nil
			}
			a.foreign = false // the trace has this decision, so the replay continues with it
		}
	}
	return a.finish(other)
}

// otherwise names the decider of a difference d, and returns d. If the trace has another version of
// the decider, the difference is added to others.
func (a *planAgain) otherwise(decider string, d *api.TraceDifference, other map[string]bool) *api.TraceDifference {
	if d == nil {
		return nil
	}
	d.Decider, a.foreign = decider, other[decider]
	if a.foreign {
		a.others = append(a.others, d)
	}
	return d
}

// finish compares the results of the plan.
func (a *planAgain) finish(other map[string]bool) (*api.TraceDifference, error) {
	if a.proj == nil {
		return nil, fmt.Errorf("chosen: %d is no step that made a projection", a.rec.Chosen)
	}
	type outcome struct {
		Generation int    `json:"generation"`
		Projection string `json:"projection"`
	}
	d, err := differ("", outcome{a.rec.Generation, a.rec.Projection}, outcome{a.proj.Generation, digestOf(a.proj)})
	a.base.proj = a.proj
	return a.otherwise(stepNext, d, other), err
}

// step calls one decider again.
func (a *planAgain) step(i int, s *step) (*api.TraceDifference, error) {
	field := fmt.Sprintf("steps[%d].out", i)
	switch s.Decider {
	case stepPlanCut:
		return a.planCut(field, s)
	case stepSelect:
		return a.choose(field, s)
	case stepNext:
		return a.next(field, s, i == a.rec.Chosen)
	}
	return nil, fmt.Errorf("no decider of that name is known")
}

func (a *planAgain) planCut(field string, s *step) (*api.TraceDifference, error) {
	if err := a.base.cutWas(s); err != nil {
		return nil, err
	}
	return differ(field, json.RawMessage(coldLowWater.ReplaceAll(s.Out, nil)), cachelayout.PlanCut(a.base.cut))
}

func (a *planAgain) choose(field string, s *step) (*api.TraceDifference, error) {
	var in selectIn
	a.wish = new(pagevm.CutWish)
	if err := json.Unmarshal(s.Out, a.wish); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(s.In, &in); err != nil {
		return nil, err
	}
	sel, err := withFields(pagevm.SelectInput{}, in.Fields)
	if err != nil {
		return nil, err
	}
	if sel.Host, err = patched(a.base.hosts, in.Segments); err != nil {
		return nil, err
	}
	if sel.Places, sel.Seen = a.base.places, in.Seen; sel.Seen == nil && a.grown != nil {
		sel.Seen = a.grown.Seen
	}
	if len(sel.Seen) != len(sel.Host) {
		return nil, fmt.Errorf("%d messages, but %d are seen", len(sel.Host), len(sel.Seen))
	}
	return differ(field, s.Out, pagevm.Select(sel))
}

// patched returns messages with segments as the selector saw them.
func patched(hosts []pagevm.HostMessage, patches []segmentPatch) ([]pagevm.HostMessage, error) {
	out := slices.Clone(hosts)
	for _, p := range patches {
		if p.Message < 0 || p.Message >= len(out) || p.Segment < 0 || p.Segment >= len(out[p.Message].Segments) {
			return nil, fmt.Errorf("segment %d of message %d is not there", p.Segment, p.Message)
		}
		m := &out[p.Message]
		m.Segments = slices.Clone(m.Segments)
		var err error
		if m.Segments[p.Segment], err = withFields(m.Segments[p.Segment], p.Fields); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (a *planAgain) next(field string, s *step, chosen bool) (*api.TraceDifference, error) {
	var in nextIn
	if err := json.Unmarshal(s.In, &in); err != nil {
		return nil, err
	}
	if in.Selected {
		if a.wish == nil {
			return nil, fmt.Errorf("selected, but nothing was")
		}
		in.Wishes.Cut = &pagevm.CutWish{Reason: in.Reason, Levels: a.wish.Levels, Leave: a.wish.Leave}
	}
	p, dec := pagevm.Next(a.base.proj, pagevm.Delta{Host: a.base.hosts, Places: a.base.places, Align: a.align}, in.Wishes, in.Cache)
	if a.grown == nil {
		a.grown = p
	}
	if chosen {
		a.proj = p
	}
	return differ(field, s.Out, dec)
}

// differ compares two values as JSON and returns the first field that differs, in the order of
// the fields' names. It returns nil if no field differs.
func differ(field string, recorded, now any) (*api.TraceDifference, error) {
	a, err := leavesOf(field, recorded)
	if err != nil {
		return nil, err
	}
	b, err := leavesOf(field, now)
	if err != nil {
		return nil, err
	}
	for i := range max(len(a), len(b)) {
		switch {
		case i == len(a) || i < len(b) && a[i].field != b[i].field && slices.ContainsFunc(b[i:], func(l leaf) bool { return l.field == a[i].field }):
			return &api.TraceDifference{Field: b[i].field, Now: b[i].json}, nil
		case i == len(b) || a[i].field != b[i].field:
			return &api.TraceDifference{Field: a[i].field, Recorded: a[i].json}, nil
		case a[i].json != b[i].json:
			return &api.TraceDifference{Field: a[i].field, Recorded: a[i].json, Now: b[i].json}, nil
		}
	}
	return nil, nil
}

// leaf is a value in JSON that holds no other values, with the path to it.
type leaf struct{ field, json string }

// leavesOf returns the leaves of a value. Numbers keep all their digits.
func leavesOf(field string, v any) ([]leaf, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	return appendLeaves(nil, field, tree), nil
}

func appendLeaves(out []leaf, field string, v any) []leaf {
	n := len(out)
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			below := name
			if field != "" {
				below = field + "." + name
			}
			out = appendLeaves(out, below, v[name])
		}
	case []any:
		for i := range v {
			out = appendLeaves(out, fmt.Sprintf("%s[%d]", field, i), v[i])
		}
	}
	if len(out) == n {
		raw, _ := json.Marshal(v) // a tree of JSON can be written as JSON
		out = append(out, leaf{field, string(raw)})
	}
	return out
}

// coldLowWater is a mark that older traces have twice.
var coldLowWater = regexp.MustCompile(`"cold_low_water":\d+,`)
