package summary

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/ledger"
)

// rules records the rules and corrections of a person's own words.
func (u *updater) rules(text string) {
	for _, st := range ledger.Read(text) {
		if st.Kind == ledger.Rule || st.Kind == ledger.Correction {
			u.constraint(oneLine(st.Text, constraintRunes))
		}
	}
}

// constraint records a rule once. A repeated rule becomes the newest.
func (u *updater) constraint(text string) {
	i := slices.IndexFunc(u.s.Constraints, func(e Entry) bool { return strings.EqualFold(e.Text, text) })
	e := u.entry("c", "", text)
	if i >= 0 {
		e.ID = u.s.Constraints[i].ID
		u.s.Constraints = slices.Delete(slices.Clone(u.s.Constraints), i, i+1)
	}
	u.s.Constraints = push(u.s.Constraints, e, maxConstraints, &u.s.Evicted.Constraints)
}
