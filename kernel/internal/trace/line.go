package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/pagevm"
)

// line is the body of a trace's record: one plan.
type line struct {
	Branch string `json:"branch,omitempty"`
	Model  string `json:"model"`
	// After is the plan of the line that this line continues. A line without After is complete by
	// itself.
	After string `json:"after,omitempty"`
	// Before is the projection that the plan started from. It is nil if After's plan made that
	// projection. Before lacks its first KeepSeen and KeepItems entries, which are those of After's
	// projection.
	Before    *pagevm.Projection `json:"before,omitempty"`
	KeepSeen  int                `json:"keep_seen,omitempty"`
	KeepItems int                `json:"keep_items,omitempty"`
	// KeepHost and KeepPlaces count the leading entries that are unchanged since the previous line.
	// Host and Places hold the entries after them.
	KeepHost   int                  `json:"keep_host,omitempty"`
	Host       []pagevm.HostMessage `json:"host,omitempty"`
	KeepPlaces int                  `json:"keep_places,omitempty"`
	Places     []pagevm.Place       `json:"places,omitempty"`
	Align      pagevm.Alignment     `json:"align"`
	Steps      []step               `json:"steps"`
	// Chosen is the step whose projection became the plan's.
	Chosen int `json:"chosen"`
	// Generation is the generation of that projection.
	Generation int `json:"generation"`
	// Projection is the hash of that projection.
	Projection string `json:"projection"`
}

// step is one call of a decider. In is the decider's input. Out is its decision.
type step struct {
	Decider string          `json:"decider"`
	In      json.RawMessage `json:"in"`
	Out     json.RawMessage `json:"out"`
}

// cutIn is the input of the cut planner: the fields that differ from the planner's previous input.
type cutIn = fields

// selectIn is the recorded input of the selector. It leaves out the messages and their places,
// because the input of Next has them. Segments holds the differences between the two inputs, and
// Fields the other fields.
type selectIn struct {
	Fields   fields         `json:"fields"`
	Segments []segmentPatch `json:"segments,omitempty"`
	// Seen is set only if it differs from the result of the first Next.
	Seen []pagevm.Seen `json:"seen,omitempty"`
}

// segmentPatch names the fields that a segment has in the selector's input but not in Next's.
type segmentPatch struct {
	Message int    `json:"message"`
	Segment int    `json:"segment"`
	Fields  fields `json:"fields"`
}

// nextIn is the input of Next, apart from the projection and the conversation.
type nextIn struct {
	Wishes pagevm.Wishes `json:"wishes"`
	// Selected reports that the newest wish of the selector was passed on to Next, with Reason.
	Selected bool             `json:"selected,omitempty"`
	Reason   pagevm.CutReason `json:"reason,omitempty"`
	Cache    pagevm.Cache     `json:"cache"`
}

// decode reads the body of a trace's record.
func decode(r *store.Record) (*line, error) {
	if r.Op != opDecided {
		return nil, fmt.Errorf("no operation %q is known", r.Op)
	}
	l := new(line)
	return l, strictly(r.Body, l)
}

// strictly reads JSON into v. A field that v does not have is an error.
func strictly(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// talk applies a line's changes to the conversation of the previous line.
func (b *base) talk(l *line) error {
	if l.KeepHost < 0 || l.KeepHost > len(b.hosts) || l.KeepPlaces < 0 || l.KeepPlaces > len(b.places) {
		return fmt.Errorf("it keeps more than there is: keep_host %d of %d, keep_places %d of %d", l.KeepHost, len(b.hosts), l.KeepPlaces, len(b.places))
	}
	b.hosts = append(b.hosts[:l.KeepHost:l.KeepHost], l.Host...)
	b.places = append(b.places[:l.KeepPlaces:l.KeepPlaces], l.Places...)
	if len(b.hosts) == 0 || len(b.hosts) != len(b.places) {
		return fmt.Errorf("%d messages have %d places", len(b.hosts), len(b.places))
	}
	return nil
}

// start sets the projection that a line's plan started from.
func (b *base) start(l *line) error {
	if l.Before == nil && b.proj == nil {
		return errors.New("it has no projection to start from")
	}
	if l.Before == nil {
		return nil
	}
	p := *l.Before
	if l.After != "" {
		if l.KeepSeen < 0 || l.KeepSeen > len(b.proj.Seen) || l.KeepItems < 0 || l.KeepItems > len(b.proj.Items) {
			return fmt.Errorf("it keeps more than there is: keep_seen %d of %d, keep_items %d of %d", l.KeepSeen, len(b.proj.Seen), l.KeepItems, len(b.proj.Items))
		}
		p.Seen = append(b.proj.Seen[:l.KeepSeen:l.KeepSeen], p.Seen...)
		p.Items = append(b.proj.Items[:l.KeepItems:l.KeepItems], p.Items...)
	}
	b.proj = &p
	return nil
}

// cutWas restores the cut planner's input of a step in b.cut.
func (b *base) cutWas(s *step) error {
	var f cutIn
	err := json.Unmarshal(s.In, &f)
	if err == nil {
		delete(f, "ColdLowWater") // of older traces, in which it equals LowWater
		b.cut, err = withFields(b.cut, f)
	}
	return err
}

// lineOf returns the line of a plan, as the differences from before, and the new state. before is
// the trace's last state of the conversation, nil if there is none.
func lineOf(p *Plan, before *traced) (*line, *traced, error) {
	l := &line{Branch: p.Branch, Model: p.Model, Align: p.Align, Generation: p.After.Generation, Chosen: -1}
	after := &traced{plan: p.ID}
	from := &base{proj: &pagevm.Projection{}}
	if before != nil {
		from, l.After = &before.base, before.plan
	}
	if from.proj != p.Before {
		start := *p.Before
		l.KeepSeen, l.KeepItems = common(from.proj.Seen, start.Seen), common(from.proj.Items, start.Items)
		start.Seen, start.Items = start.Seen[l.KeepSeen:], start.Items[l.KeepItems:]
		l.Before = &start
	}
	l.KeepHost = sameHosts(from.hosts, p.Host)
	l.Host = p.Host[l.KeepHost:]
	l.KeepPlaces = common(from.places, p.Places)
	l.Places = p.Places[l.KeepPlaces:]
	after.base = base{proj: p.After, hosts: p.Host, places: p.Places, cut: from.cut}
	l.Projection = digestOf(p.After)
	for i, c := range p.Trail {
		if c.Next != nil && c.Next.Proj == p.After {
			l.Chosen = i
		}
	}
	var err error
	l.Steps, err = steps(p, &after.cut)
	return l, after, err
}

// steps returns the calls of deciders as steps of a line. cut is the cut planner's previous
// input. steps replaces it by the plan's last input.
func steps(p *Plan, cut *cachelayout.CutInput) ([]step, error) {
	var grown []pagevm.Seen
	var wish *pagevm.CutWish
	all := make([]step, 0, len(p.Trail))
	for i := range p.Trail {
		var in, out any
		var err error
		name := stepNext
		switch d := &p.Trail[i]; {
		case d.Cut != nil:
			name, out = stepPlanCut, &d.Cut.Out
			in, err = changedFields(cut, &d.Cut.In)
			*cut = d.Cut.In
		case d.Select != nil:
			name, out, wish = stepSelect, &d.Select.Out, d.Select.Wish
			in, err = selectInOf(p, &d.Select.In, grown)
		default:
			in, out = nextInOf(d.Next, wish), &d.Next.Out
			if grown == nil {
				grown = d.Next.Proj.Seen
			}
		}
		if err == nil {
			all, err = appendStep(all, name, in, out)
		}
		if err != nil {
			return nil, fmt.Errorf("step %d, %s: %w", i, name, err)
		}
	}
	return all, nil
}

func appendStep(all []step, name string, in, out any) ([]step, error) {
	rawIn, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	rawOut, err := json.Marshal(out)
	return append(all, step{name, rawIn, rawOut}), err
}

// selectInOf returns the recorded input of the selector. seen is the result of the plan's first
// Next.
func selectInOf(p *Plan, in *pagevm.SelectInput, seen []pagevm.Seen) (selectIn, error) {
	var out selectIn
	if len(in.Host) != len(p.Host) || common(in.Places, p.Places) != len(in.Places) {
		return out, errors.New("the selector was given another conversation than Next")
	}
	for i := range in.Host {
		if sameHost(&in.Host[i], &p.Host[i]) {
			continue
		}
		if len(in.Host[i].Segments) != len(p.Host[i].Segments) {
			return out, fmt.Errorf("the selector was given other segments of message %d than Next", i)
		}
		for j := range in.Host[i].Segments {
			if in.Host[i].Segments[j] == p.Host[i].Segments[j] {
				continue
			}
			f, err := changedFields(&p.Host[i].Segments[j], &in.Host[i].Segments[j])
			if err != nil {
				return out, err
			}
			out.Segments = append(out.Segments, segmentPatch{i, j, f})
		}
	}
	if common(in.Seen, seen) != len(seen) || len(in.Seen) != len(seen) {
		out.Seen = in.Seen
	}
	rest := *in
	rest.Host, rest.Places, rest.Seen = nil, nil, nil
	var err error
	out.Fields, err = changedFields(&pagevm.SelectInput{}, &rest)
	return out, err
}

// nextInOf returns the recorded input of Next. wish is the newest wish of the selector.
func nextInOf(d *plan.NextStep, wish *pagevm.CutWish) nextIn {
	in := nextIn{Wishes: d.Wishes, Cache: d.Cache}
	if c := d.Wishes.Cut; c != nil && c == wish {
		in.Wishes.Cut, in.Selected, in.Reason = nil, true, c.Reason
	}
	return in
}

// sameHosts counts the equal leading messages of a and b. Messages of consecutive lines share
// their segments, so their segments are rarely compared.
func sameHosts(a, b []pagevm.HostMessage) int {
	n := 0
	for n < len(a) && n < len(b) && sameHost(&a[n], &b[n]) {
		n++
	}
	return n
}

func sameHost(a, b *pagevm.HostMessage) bool {
	if len(a.Segments) != len(b.Segments) || a.Hash != b.Hash || a.Key != b.Key || a.Role != b.Role {
		return false
	}
	return len(a.Segments) == 0 || &a.Segments[0] == &b.Segments[0] || slices.Equal(a.Segments, b.Segments)
}

// common counts the leading values that are the same.
func common[T comparable](a, b []T) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
