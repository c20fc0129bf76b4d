package choice

// selector reads the places that the tokens at hand name, and how many tokens that takes;
// 0 if they name none.
func (r *reading) selector() (places []int, n int) {
	t := r.tokens[r.at]
	all := len(r.offer.Options)
	switch {
	case t.kind == number:
		return r.figure(t)
	case t.letter() > 0 && r.offer.letters() && (t.class == 0 || t.upper || r.alone() || r.parted()):
		if i := r.offer.labelPlace(t.text); i >= 0 && (r.keyed || r.bounded(1) || wide([]rune(t.text)[0])) && (t.upper || r.bounded(1)) {
			return []int{i}, 1
		}
		return nil, 0
	case t.kind != word || t.class&selects == 0, t.is(isBoth|isAll) && !r.answer.Empty():
		return nil, 0
	case t.is(isOrdinal|isLast) && r.counted(1) > 0:
		k := r.counted(1)
		from := 0
		if t.is(isLast) {
			from = all - k
		} else if t.ordinal != 1 {
			return nil, 0
		}
		if !r.bounded(2) {
			return nil, 0
		}
		return span(from, k), 2
	case t.is(isFirstTwo) && all > 1 && r.bounded(1):
		return span(0, 2), 1
	case t.is(isFormer|isLatter) && all == 2 && r.bounded(1):
		if t.is(isFormer) {
			return []int{0}, 1
		}
		return []int{1}, 1
	case t.is(isNeither|isNone) && !t.is(isNeg) && r.bounded(1), t.is(isNeither|isNone) && r.alone():
		if t.is(isNeither) && !t.is(isNone) && all != 2 {
			return nil, 0
		}
		r.negated = true
		return span(0, all), 1
	case t.is(isBoth) && !r.next(1).is(isOption) && (r.bounded(1) || t.is(isAll)):
		if r.numberNext() || all != 2 && !t.is(isAll) {
			return nil, 0
		}
		return span(0, all), 1
	case t.is(isAll) && r.bounded(1), t.is(isAll) && r.counted(1) == all && r.bounded(2):
		if t.is(isOption|isNeg) || t.is(isFill) && !r.alone() {
			return nil, 0
		}
		if r.counted(1) == all {
			return span(0, all), 2
		}
		return span(0, all), 1
	case t.is(isOrdinal) && r.ordinal():
		return []int{t.ordinal - 1}, 1
	case t.is(isLast) && r.bounded(1) && (!t.is(isFill|isAnd) || r.alone()):
		return []int{all - 1}, 1
	case t.is(isNumber) && (r.keyed || r.alone() || r.picked && r.before().is(isPick) || !t.is(isFill|isAnd|isOr|isNeg|isBut) && wide([]rune(t.text)[0]) && r.bounded(1) && r.next(1).is(isOption)) && (r.keyed || r.bounded(1)):
		return []int{t.number - 1}, 1
	}
	return nil, 0
}

// figure reads a label in figures, or a range of them.
func (r *reading) figure(t token) ([]int, int) {
	if r.offer.Inline || !r.keyed && r.offer.quantity() {
		return nil, 0
	}
	n := 1
	last := t
	if d := r.next(1); d.kind == dash && r.next(2).kind == number {
		n, last = 3, r.next(2)
	}
	if counters[r.next(1).text] && !r.keyed {
		return nil, 0 // so many of them
	}
	if !r.keyed && !r.bounded(n) || r.before().kind == dash || r.before().kind == other {
		return nil, 0
	}
	from, to := r.offer.labelPlace(itoa(t.value)), r.offer.labelPlace(itoa(last.value))
	if from < 0 || to < from {
		return []int{-1}, n
	}
	return span(from, to-from+1), n
}

// counted returns the number word or figure behind n tokens, 0 if there is none that fits.
func (r *reading) counted(n int) int {
	t := r.next(n)
	k := t.value
	if t.is(isNumber) {
		k = t.number
	} else if t.kind != number {
		return 0
	}
	if k < 2 || k > len(r.offer.Options) {
		return 0
	}
	return k
}

// ordinal reports whether an ordinal points at an option here: "first, do that" doesn't.
func (r *reading) ordinal() bool {
	if !r.bounded(1) || r.unknown > 0 && !r.picked && !r.keyed {
		return false
	}
	if r.keyed || r.picked || r.next(1).is(isOption) || r.before().is(isFill|isYes|isNeg|isAnd) || !r.answer.Empty() {
		return true
	}
	for _, t := range r.tokens[r.at+1:] {
		if t.kind != comma && !t.is(isFill|isYes|isAnd|isOption|isPick|isBut) && !t.is(selects) {
			return t.kind == word && r.next(1).is(isBut|isAnd)
		}
	}
	return true
}

// bounded reports whether what follows n tokens lets them count as themselves: "2 retries"
// are not the second.
func (r *reading) bounded(n int) bool {
	t := r.next(n)
	return t.kind == comma || t.kind == stop || t.kind == asks || t.end == 0 || t.is(isFill|isAnd|isOr|isBut|isNeg|isOption|isPick|isYes|isHedge|isBoth|isAll)
}

// parted reports whether a sentence or a clause ends behind the token at hand.
func (r *reading) parted() bool {
	t := r.next(1)
	return t.kind == comma || t.kind == stop || t.is(isAnd|isBut|isOr) && !t.is(isFill)
}

// counters are the words behind a figure that counts.
var counters = map[string]bool{"개": true, "つ": true, "個": true, "个": true}

// numberNext reports whether labels follow: "both 1 and 3".
func (r *reading) numberNext() bool {
	t := r.next(1)
	return t.kind == number || t.letter() > 0 && r.offer.letters()
}

// alone reports whether nothing else of weight is in the sentence.
func (r *reading) alone() bool {
	for i, t := range r.tokens {
		if i != r.at && t.kind != comma && !t.is(isFill|isYes|isPick|isOption) {
			return false
		}
	}
	return !(r.at+1 < len(r.tokens) && r.tokens[r.at+1].kind == word && !r.tokens[r.at+1].is(isFill|isYes|isOption))
}

// next returns the token n behind the one at hand, before the one in front of it; the zero
// token where there is none.
func (r *reading) next(n int) token {
	if r.at+n < len(r.tokens) {
		return r.tokens[r.at+n]
	}
	return token{kind: stop}
}

func (r *reading) before() token {
	if r.at > 0 {
		return r.tokens[r.at-1]
	}
	return token{kind: stop}
}

func span(from, n int) []int {
	out := make([]int, 0, n)
	for i := range n {
		out = append(out, from+i)
	}
	return out
}
