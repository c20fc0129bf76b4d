package serve

import "testing"

// TestEveryMethodHasNeeds: what a method takes and reaches is decided for each, by hand, and
// fits its parameters.
func TestEveryMethodHasNeeds(t *testing.T) {
	for _, m := range table() {
		a := asked(m, m.params())
		switch {
		case m.need < needRead || m.need > needOperate:
			t.Errorf("%s: need %v", m.name, m.need)
		case m.reach == reachSession && len(a.Sessions) == 0:
			t.Errorf("%s reaches a session, and its parameters name none: give them said", m.name)
		case m.reach == reachAll && !a.Whole:
			t.Errorf("%s reaches all sessions, and a call that names none does not", m.name)
		case m.reach == reachNone && (a.Whole || len(a.Sessions) > 0):
			t.Errorf("%s reaches nothing, and its parameters say %+v", m.name, a)
		}
	}
}
