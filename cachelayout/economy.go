package cachelayout

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Economy is a user's preference between memory and its cost: one of the words below, or a number
// from 0, which is [Save], over 0.5, which is [Balanced], to 1, which is [Keep]. "" is
// [Balanced].
//
// It moves the marks of [PlanCut] along the frontier of cost against the content that a prompt
// shows. Between the words the figures move evenly.
type Economy string

const (
	// Save cuts early and keeps little.
	Save Economy = "save"
	// Balanced cuts where reading on costs more than cutting, and keeps the content that is worth
	// its keep.
	Balanced Economy = "balanced"
	// Keep cuts only where the window forces it, and then keeps as much as it may: neither the
	// price of reading, nor a cold cache, nor a dearer tier of prices is a reason.
	Keep Economy = "keep"
)

// Economies lists the words, from the cheapest.
func Economies() []Economy { return []Economy{Save, Balanced, Keep} }

// EconomyError is returned for an [Economy] that is none.
type EconomyError struct{ Value string }

func (e *EconomyError) Error() string {
	return fmt.Sprintf("%q is none of save, balanced, keep, and no number from 0 (save) to 1 (keep)", e.Value)
}

// Check returns an *[EconomyError] if e is no economy.
func (e Economy) Check() error {
	_, err := e.level()
	return err
}

// Set takes a word or a number; it fails with an *[EconomyError]. String and Type are its
// sisters: with them an Economy is a flag of a command line.
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

// Short returns an economy in one spelling: a word where there is one for it, and "" for
// [Balanced]. A value that is no economy is returned unchanged.
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

// UnmarshalJSON reads a word or a number. It does not check it, so that values that another
// program wrote stay readable. Callers should call [Economy.Check].
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

// level is the place of an economy between saving, −1, and keeping, 1.
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

// saveFloor is the least conversation that is kept where money comes first, of any
// window. With 10,000 tokens six recorded sessions cost one part in a hundred less than
// with 12,000, and three references in a hundred more were not shown.
const saveFloor = 12_000

// thrift holds the constants of the marks as an economy changes them. The zero value can't be
// used: callers must take [Economy.thrift].
type thrift struct {
	// floor is the least conversation that is kept at a cut. wide is the share of a wide budget
	// that is added to it. worth is a factor on the worth of memory; +Inf keeps all that may
	// stay. extra is how far content that is worth its keep may reach above the low-water mark.
	// It is 0 if money comes first, and if everything that may stay does so anyway.
	floor              int
	wide, worth, extra float64
	// patience is a factor on the savings that a cut for money must reach before it is made, and
	// on how far a prompt grows until then; +Inf never cuts for money.
	patience float64
}

// thrift maps an economy on the figures that it moves. All effects of an economy are here. A
// value that is no economy counts as balanced: callers that take one from outside must check it.
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

// forMoney reports whether money is ever a reason to cut.
func (t thrift) forMoney() bool { return !math.IsInf(t.patience, 1) }
