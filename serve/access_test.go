package serve

import "testing"

// TestEveryMethodHasNeeds: what a method takes and reaches is decided for each, by hand, and
// fits its parameters.
func TestEveryMethodHasNeeds(t *testing.T) {
	d := &desk{opt: &Options{}}
	seen := map[string]bool{}
	for _, m := range table() {
		seen[m.name] = true
		row, ok := needs[m.name]
		if !ok {
			t.Errorf("%s: the table needs has no row: who may call it, and what does it reach?", m.name)
			continue
		}
		a := d.asked(m, m.params())
		switch {
		case row.need < NeedRead || row.need > NeedOperate:
			t.Errorf("%s: need %v", m.name, row.need)
		case row.reach == reachSession && len(a.Sessions) == 0:
			t.Errorf("%s reaches a session, and its parameters name none: give them said", m.name)
		case row.reach == reachAll && !a.Whole:
			t.Errorf("%s reaches all sessions, and a call that names none does not", m.name)
		case row.reach == reachNone && (a.Whole || len(a.Sessions) > 0):
			t.Errorf("%s reaches nothing, and its parameters say %+v", m.name, a)
		}
	}
	for name := range needs {
		if !seen[name] {
			t.Errorf("needs has a row for %s, which is no method", name)
		}
	}
	if a := d.asked(method{name: "new"}, &caller{}); a.Need != NeedOperate || !a.Whole {
		t.Errorf("a method without a row is for anybody: %+v", a)
	}
}
