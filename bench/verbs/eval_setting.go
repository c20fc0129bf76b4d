package verbs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/internal/fail"
	"github.com/memkernel/memkernel/retrieval"
)

// set applies settings written as name=value, then takes signals out.
func (r *evalRun) set(settings, without []string) error {
	for _, s := range settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return fail.Usagef("setting %q: write name=value, as in session=0", s)
		}
		if err := r.setOne(strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)); err != nil {
			return fail.Usagef("setting %q: %s", s, err)
		}
	}
	for _, name := range without {
		k, err := relevance.KnobNamed(strings.ToLower(strings.TrimSpace(name)))
		if err != nil {
			return fail.Usagef("%s", err)
		}
		r.opts.Signals = k.At(r.opts.Signals, k.Off)
		r.off = append(r.off, fmt.Sprintf("%s=%g", k.Name, k.Off))
	}
	return nil
}

func (r *evalRun) setOne(name, value string) error {
	if name == "unit" {
		if value != "passage" && value != "chunk" && value != "place" {
			return fmt.Errorf("the unit is passage, chunk or place")
		}
		r.chunks, r.places = value == "chunk", value == "place"
		return nil
	}
	v, err := evalNumber(value)
	if err != nil {
		return err
	}
	switch name {
	case "decay":
		if r.opts.HalfLife = retrieval.DefaultHalfLife; v == 0 {
			r.opts.HalfLife = -1
		}
	case "mmr":
		if r.opts.Lambda = retrieval.DefaultLambda; v == 0 {
			r.opts.Lambda = 1
		}
	case "lambda":
		r.opts.Lambda = v
	case "floor":
		r.opts.Floor = v
		if v == 0 {
			r.opts.Floor = -1
		}
	case "hits":
		r.hits = int(v)
	case "pool":
		r.opts.Pool = int(v)
	default:
		return r.setSignal(name, v)
	}
	return nil
}

// evalNumber reads a number, or true and false as 1 and 0.
func evalNumber(s string) (float64, error) {
	if b, err := strconv.ParseBool(s); err == nil {
		if b {
			return 1, nil
		}
		return 0, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= 1e6) {
		return 0, fmt.Errorf("%q is no number from 0 on", s)
	}
	return v, nil
}

// setSignal sets a weight of what a passage's score is made of.
func (r *evalRun) setSignal(name string, v float64) error {
	k, err := relevance.KnobNamed(name)
	if err != nil {
		return fmt.Errorf("there is no such setting; take unit, hits, decay, mmr, lambda, floor, pool or a weight: %w", err)
	}
	r.opts.Signals = k.At(r.opts.Signals, v)
	return nil
}
