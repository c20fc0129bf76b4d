package fts5

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
)

// A chunk with every word of the question may rank far below chunks that repeat some of the words.
// So may a file whose name has every word. The search finds both in addition to the best chunks.

// Complete finds the rows that hold a term of each word of the question. words[i] are the terms of
// word i. all are the n best of these rows. named are the n best of those that hold each word in the
// names of their file. If the word lists can't be read, SQLite searches instead.
func (s *search) Complete(ctx context.Context, words [][]string, n int) (all, named []Row, err error) {
	if s.lists != nil {
		all, named, err := s.complete(ctx, words, n)
		if err == nil {
			return all, named, nil
		}
		s.lists = nil
	}
	parts := make([]string, len(words))
	for i, terms := range words {
		parts[i] = "(" + matchExpr(terms) + ")"
	}
	expr := strings.Join(parts, " AND ")
	if all, err = rowsBySQL(ctx, s.db, expr, nil, n); err != nil || len(all) == 0 {
		return nil, nil, err
	}
	named, err = rowsBySQL(ctx, s.db, "{names} : ("+expr+")", nil, math.MaxInt32)
	if err == nil && len(named) > 0 { // whose scores are of the names alone
		named, err = rowsBySQL(ctx, s.db, expr, named, n)
	}
	return all, named, err
}

// completed is a row that holds each of the words read so far.
type completed struct {
	at    int32
	score float64
	named bool
}

func (s *search) complete(ctx context.Context, words [][]string, n int) (all, named []Row, err error) {
	lists := make([][]*postings, len(words))
	for i, terms := range words {
		if lists[i], err = s.lists.find(ctx, s.db, terms); err != nil {
			return nil, nil, err
		}
	}
	size := func(ps []*postings) (n int) {
		for _, p := range ps {
			n += p.n
		}
		return n
	}
	slices.SortStableFunc(lists, func(a, b []*postings) int { return cmp.Compare(size(a), size(b)) })
	var kept []completed
	for i, ps := range lists {
		found := s.lists.union(ps)
		if i == 0 {
			kept = found
		} else {
			kept = intersect(kept, found)
		}
		if len(kept) == 0 {
			return nil, nil, nil
		}
	}
	rows := make([]Row, 0, len(kept))
	var inNames []Row
	for _, c := range kept {
		row := Row{s.lists.base + int64(c.at), c.score}
		if rows = append(rows, row); c.named {
			inNames = append(inNames, row)
		}
	}
	return bestRows(rows, n), bestRows(inNames, n), nil
}

// union returns the rows that hold any of the terms of a word, in the order of their numbers.
func (l *wordLists) union(ps []*postings) (out []completed) {
	for _, p := range ps {
		idf := l.idf(p)
		for c := p.start(); c.next(); {
			out = append(out, completed{c.at, l.share(idf, c.freq, c.at), c.named})
		}
	}
	if len(ps) == 1 {
		return out
	}
	slices.SortStableFunc(out, func(a, b completed) int { return cmp.Compare(a.at, b.at) })
	n := 0
	for _, c := range out {
		if n > 0 && out[n-1].at == c.at {
			out[n-1].score, out[n-1].named = out[n-1].score+c.score, out[n-1].named || c.named
			continue
		}
		out[n] = c
		n++
	}
	return out[:n]
}

// intersect returns the rows that are in both a and b, with the sums of their scores.
func intersect(a, b []completed) []completed {
	out, j := a[:0], 0
	for _, c := range a {
		for j < len(b) && b[j].at < c.at {
			j++
		}
		if j < len(b) && b[j].at == c.at {
			out = append(out, completed{c.at, c.score + b[j].score, c.named && b[j].named})
		}
	}
	return out
}

// bestRows returns the n best rows, best first.
func bestRows(rows []Row, n int) []Row {
	slices.SortFunc(rows, Row.Compare)
	return rows[:min(n, len(rows))]
}
