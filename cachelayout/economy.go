package cachelayout

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Economy is a user's preference between memory and its cost. It is one of the words below or a
// number: 0 is [Save], 0.5 is [Balanced], and 1 is [Keep]. "" is [Balanced].
//
// It moves the marks of [PlanCut] between lower cost and more shown content. Between two words
// the figures are interpolated.
type Economy string

const (
	// Save cuts early and keeps little.
	Save Economy = "save"
	// Balanced cuts as soon as further reading costs more than cutting, and keeps the content
	// that is worth its cost.
	Balanced Economy = "balanced"
	// Keep cuts only when the window forces it, and then keeps as much as fits. It never cuts
	// because of the price of reading, a cold cache or a higher price tier.
	Keep Economy = "keep"
)

// Economies lists the words, from the cheapest.
func Economies() []Economy { return []Economy{Save, Balanced, Keep} }

// EconomyError is returned for an invalid [Economy].
type EconomyError struct{ Value string }

func (e *EconomyError) Error() string {
	return fmt.Sprintf("%q is none of save, balanced, keep, and no number from 0 (save) to 1 (keep)", e.Value)
}

// Check returns an *[EconomyError] if e is not a valid economy.
func (e Economy) Check() error {
	_, err := e.level()
	return err
}

// Set sets e to a word or a number. It returns an *[EconomyError] if s is neither. With String
// and Type it makes an Economy usable as a command-line flag.
func (e *Economy) Set(s string) error {
	read := Economy(s)
	if s == "" {
		return &EconomyError{}
	}
	if err := read.Check(); err != nil {
		return err
	}
	*e = read
	return nil
}

func (e *Economy) String() string { return string(*e) }
func (e *Economy) Type() string   { return "economy" }

// Short returns an economy in its shortest spelling: a word instead of the equal number, and ""
// for [Balanced]. It returns an invalid value unchanged.
func (e Economy) Short() Economy {
	x, err := e.level()
	switch {
	case err != nil:
		return e
	case x == 0:
		return ""
	case x == -1:
		return Save
	case x == 1:
		return Keep
	}
	return Economy(strconv.FormatFloat((x+1)/2, 'g', -1, 64))
}

// UnmarshalJSON reads a word or a number. It does not check the value, so that values that
// another program wrote stay readable. Callers should call [Economy.Check].
func (e *Economy) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		var n json.Number
		if json.Unmarshal(data, &n) != nil {
			return &EconomyError{Value: string(data)}
		}
		text = n.String()
	}
	*e = Economy(text)
	return nil
}

// level returns an economy as a number from −1 for [Save] to 1 for [Keep]. [Balanced] is 0.
func (e Economy) level() (float64, error) {
	switch e {
	case Save:
		return -1, nil
	case "", Balanced:
		return 0, nil
	case Keep:
		return 1, nil
	}
	n, err := strconv.ParseFloat(string(e), 64)
	if err != nil || !(n >= 0 && n <= 1) {
		return 0, &EconomyError{Value: string(e)}
	}
	return 2*n - 1, nil
}

// saveFloor is the least conversation that is kept where money comes first, of any window. In a
// window of 200k, 14 recorded sessions cost $182.68 with 12,000 tokens, $189.26 with 16,000 and
// $197.63 with 20,000, and 88.6, 89.4 and 90.8 % of their actions were ready (mkbench economics,
// 2026-12-01).
const saveFloor = 16_000

// thrift holds the constants of the marks for an economy. The zero value is not usable. Use
// [Economy.thrift].
type thrift struct {
	// floor is the least conversation that is kept at a cut. wide is the share of a wide budget
	// that is added to floor. worth is a factor on the worth of memory. If it is +Inf, everything
	// that may stay is kept. extra bounds how far content that is worth its cost may reach above
	// the low-water mark. It is 0 for [Save], and for [Keep], which keeps everything that may stay.
	floor              int
	wide, worth, extra float64
	// patience is a factor on the savings that a cut for money must reach, and on how far a
	// prompt grows before such a cut. If it is +Inf, no cut is made for money.
	patience float64
}

// thrift returns the constants for an economy. An economy has no other effect. An invalid value
// counts as [Balanced], so callers must check values from outside.
func (e Economy) thrift() thrift {
	t := thrift{floor: lowWaterFloor, wide: wideShare, worth: 1, extra: extraShare, patience: 1}
	x, err := e.level()
	if err != nil {
		return t
	}
	t.extra *= 1 - math.Abs(x)
	switch {
	case x < 0:
		t.floor += int(x * (lowWaterFloor - saveFloor))
		t.worth = 1 + x
		t.wide *= t.worth
	case x > 0:
		t.worth = 1 / (1 - x)
		t.patience = t.worth
	}
	return t
}

// least returns the least conversation that is kept at a cut of a budget.
func (t thrift) least(budget int) int {
	return t.floor + int(t.wide*float64(max(0, budget-wideBudget)))
}

// enough reports whether the savings of a cut, in tokens, are worth the hidden content.
func (t thrift) enough(saved int) bool { return float64(saved) >= minSaved*t.patience }
