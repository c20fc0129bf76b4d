package summary

import (
	"strings"

	"github.com/memkernel/memkernel/ledger"
)

// rules records the rules and corrections among a person's statements.
func (u *updater) rules(said []ledger.Statement) {
	for _, st := range said {
		if st.Kind == ledger.Rule || st.Kind == ledger.Correction {
			u.constraint(oneLine(st.Text, constraintRunes))
		}
	}
}

// constraint records a rule once. A repeated rule becomes the newest.
func (u *updater) constraint(text string) {
	u.s.Constraints = renew(u.s.Constraints, u.entry("c", "", text), strings.EqualFold, maxConstraints, &u.s.Evicted.Constraints)
}
