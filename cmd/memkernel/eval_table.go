package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/retrieval"
)

// evalTable prints a report, a row per category and one for all.
func evalTable(b *strings.Builder, r relevance.Report) {
	fmt.Fprintf(b, "  %-14s %5s %6s %6s %6s %6s %6s %6s %6s %6s\n", "%", "n", "R@1", "R@5", "R@10", "MRR", "nDCG", "500 t", "1k t", "2k t")
	row := func(name string, m relevance.Metrics) {
		fmt.Fprintf(b, "  %-14s %5d", clip(printable(name), 14), m.Questions)
		for _, v := range []float64{m.RecallAt1, m.RecallAt5, m.RecallAt10, m.MRR, m.NDCGAt10, m.WithinTokens["500"], m.WithinTokens["1000"], m.WithinTokens["2000"]} {
			fmt.Fprintf(b, " %6.1f", 100*v)
		}
		b.WriteByte('\n')
	}
	for _, c := range slices.Sorted(maps.Keys(r.Categories)) {
		row(c, r.Categories[c])
	}
	row("all", r.Metrics)
	i := r.Intervals["recall_at_10"]
	fmt.Fprintf(b, "  R@10 within %.1f to %.1f, packed into 2,000 tokens %.1f\n", 100*i.Low, 100*i.High, 100*r.Packed["2000"])
}

// set applies settings written as name=value.
func (r *evalRun) set(settings []string) error {
	for _, s := range settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return usagef("setting %q: write name=value, as in session=0", s)
		}
		if err := r.setOne(strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)); err != nil {
			return usagef("setting %q: %s", s, err)
		}
	}
	return nil
}

func (r *evalRun) setOne(name, value string) error {
	if name == "unit" {
		if value != "passage" && value != "chunk" {
			return fmt.Errorf("the unit is passage or chunk")
		}
		r.chunks = value == "chunk"
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

// setSignal sets a field of retrieval.Signals by its name in small letters.
func (r *evalRun) setSignal(name string, v float64) error {
	fields := reflect.ValueOf(&r.opts.Signals).Elem()
	var names []string
	for i := range fields.NumField() {
		n := strings.ToLower(fields.Type().Field(i).Name)
		if n == name {
			fields.Field(i).SetFloat(v)
			return nil
		}
		names = append(names, n)
	}
	return fmt.Errorf("there is no such setting; take unit, decay, mmr, lambda, floor, pool or %s", strings.Join(names, ", "))
}
