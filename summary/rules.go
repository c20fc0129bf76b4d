package summary

import (
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
	u.s.Constraints = renew(u.s.Constraints, u.entry("c", "", text), strings.EqualFold, maxConstraints, &u.s.Evicted.Constraints)
}
