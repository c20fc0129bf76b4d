package config

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// scale is a unit that may follow a number.
type scale struct {
	unit   string
	factor int64
}

var scaledForm = textutil.LazyRegexp(`^([0-9][0-9_]{0,30}(?:\.[0-9]{1,30})?) ?([a-zA-Z]*)$`)

// parseScaled reads a decimal number followed by a unit in upper or lower case. The product must
// be a whole number of at most limit. Fractions are exact.
func parseScaled(s string, scales []scale, limit int64) (int64, bool) {
	m := scaledForm.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, false
	}
	for _, sc := range scales {
		if !strings.EqualFold(sc.unit, m[2]) {
			continue
		}
		n, ok := new(big.Rat).SetString(strings.ReplaceAll(m[1], "_", ""))
		if !ok {
			return 0, false
		}
		n.Mul(n, new(big.Rat).SetInt64(sc.factor))
		if !n.IsInt() || n.Cmp(new(big.Rat).SetInt64(limit)) > 0 {
			return 0, false
		}
		return n.Num().Int64(), true
	}
	return 0, false
}

// formatScaled spells n with the first unit that divides it.
func formatScaled(n int64, scales []scale) string {
	for _, sc := range scales {
		if n != 0 && n%sc.factor == 0 {
			return fmt.Sprintf("%d%s", n/sc.factor, sc.unit)
		}
	}
	return fmt.Sprint(n)
}
