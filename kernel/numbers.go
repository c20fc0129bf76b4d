package kernel

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/memkernel/memkernel/cachelayout"
)

// NumberError is returned for a number that can't be meant: a negative window, a share
// that is no number. Nothing was done.
type NumberError struct {
	// Name is the field, with those that it is part of: ContextWindow, Overflow.Limit,
	// Memory.Ranking.Floor. Value is what it was, Want what it may be.
	Name, Value, Want string
}

func (e *NumberError) Error() string {
	return fmt.Sprintf("%s is %s; it has to be %s", e.Name, e.Value, e.Want)
}

const (
	wantTokens = "a number of tokens, or 0 where it is not known"
	wantShare  = "a share between 0 and 1"
)

// notBelow refuses a number below least.
func notBelow[T cmp.Ordered](name string, n, least T, want string) error {
	if n >= least {
		return nil
	}
	return &NumberError{name, fmt.Sprint(n), want}
}

// firstError is the first that is one.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Check refuses numbers that can't be meant, with a *[NumberError]. Every call that
// takes a request does it first.
func (r *PlanRequest) Check() error {
	return firstError(
		notBelow("ContextWindow", r.ContextWindow, 0, wantTokens),
		notBelow("ServerWindow", r.ServerWindow, 0, wantTokens),
		notBelow("Reserve", r.Reserve, 0, wantTokens),
		notBelow("FixedTokens", r.FixedTokens, 0, wantTokens),
		notBelow("TTL", r.TTL, min(0, ChooseTTL), "a lifetime, 0 or ChooseTTL"),
		notBelow("FixedTTL", r.FixedTTL, 0, "a lifetime, or 0"),
		checkEconomy(r.Economy),
		r.Overflow.check())
}

func checkEconomy(e cachelayout.Economy) error {
	if err := e.Check(); err != nil {
		return fmt.Errorf("economy: %w", err)
	}
	return nil
}

func (o *Overflow) check() error {
	if o == nil {
		return nil
	}
	return firstError(notBelow("Overflow.Input", o.Input, 0, wantTokens), notBelow("Overflow.Limit", o.Limit, 0, wantTokens))
}

func (c *CompactWish) check() error {
	if c == nil {
		return nil
	}
	err := firstError(notBelow("Compact.Tokens", c.Tokens, 0, wantTokens), c.Overflow.check())
	if err == nil && !(c.Share >= 0 && c.Share <= 1) {
		err = &NumberError{"Compact.Share", fmt.Sprint(c.Share), wantShare}
	}
	if p := c.Provider; err == nil && p != nil {
		err = notBelow("Compact.Provider.Covers", p.Covers, 1, "a number of messages")
	}
	if err == nil && c.Call != nil {
		err = c.Call.Check()
	}
	return err
}

// negativeMeans are the options for which a negative number says something.
var negativeMeans = map[string]bool{
	"Memory.WorkspaceTokens": true, "Memory.RecallTokens": true, "Memory.RecallShare": true, "Memory.RecallScore": true, "Memory.Sync.Wait": true,
	"Memory.Ranking.HalfLife": true, "Memory.Ranking.Floor": true,
	"Summary.CloseWait": true,
}

// check refuses numbers that no option means.
func (o *Options) check() error {
	return firstError(checkNumbers("", reflect.ValueOf(*o)), checkEconomy(o.Economy), checkEdits(o.Memory.Edits))
}

// checkNumbers refuses negative numbers, and such as are none, in all exported fields.
func checkNumbers(name string, v reflect.Value) error {
	bad := false
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if err := checkNumbers(strings.TrimPrefix(name+"."+f.Name, "."), v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Int, reflect.Int64:
		bad = v.Int() < 0 && !negativeMeans[name]
	case reflect.Float64:
		f := v.Float()
		bad = math.IsNaN(f) || math.IsInf(f, 0) || f < 0 && !negativeMeans[name]
	}
	if bad {
		return &NumberError{name, fmt.Sprint(v.Interface()), "0 for the default, or a finite number above it"}
	}
	return nil
}
