package paging

// Future gives an oracle how often a page will be demanded within its horizon.
type Future struct {
	Page    string
	Demands int
}

// foresight gives an oracle the remaining demands of its session. It indexes a whole run once.
// Otherwise the unlimited horizon would count the rest of the run at every turn.
type foresight struct {
	horizon int
	turns   map[string][]int // a session's turns
	played  map[string]int   // how many of a session's turns are past
	left    map[string]*tally
	future  []Future // the last answer, reused
}

// tally counts demands per page, in the order of the pages' first demands.
type tally struct {
	order []string
	n     map[string]int
}

func (t *tally) add(pages []string, by int) {
	for _, id := range pages {
		if _, ok := t.n[id]; !ok {
			t.order = append(t.order, id)
		}
		t.n[id] += by
	}
}

func newForesight(turns []Turn, horizon int) *foresight {
	f := &foresight{horizon: horizon, turns: map[string][]int{}, played: map[string]int{}, left: map[string]*tally{}}
	for i := range turns {
		s := turns[i].Session
		f.turns[s] = append(f.turns[s], i)
		if f.left[s] == nil {
			f.left[s] = &tally{n: map[string]int{}}
		}
		if horizon == Forever {
			f.left[s].add(turns[i].Demand, 1)
		}
	}
	return f
}

// from returns the future after turn i. Callers must call it for the turns in order.
func (f *foresight) from(turns []Turn, i int) []Future {
	s := turns[i].Session
	f.played[s]++
	t := f.left[s]
	if f.horizon == Forever {
		t.add(turns[i].Demand, -1)
	} else {
		at := f.turns[s][f.played[s]:]
		t.order, t.n = t.order[:0], map[string]int{}
		for _, k := range at[:min(f.horizon, len(at))] {
			t.add(turns[k].Demand, 1)
		}
	}
	f.future = f.future[:0]
	for _, id := range t.order {
		if t.n[id] > 0 {
			f.future = append(f.future, Future{Page: id, Demands: t.n[id]})
		}
	}
	return f.future
}
