package predict

import "slices"

// Summary condenses the calls of a session, or of several.
type Summary struct {
	// Calls were judged, Temperate of them for cold or warm.
	Calls     int `json:"calls"`
	Temperate int `json:"warm_cold_calls"`
	// RightShare is the share of them whose warm or cold was predicted. Cold counts the calls
	// billed as cold, and Foreseen those of them that were predicted so.
	RightShare float64 `json:"right_share"`
	Cold       int     `json:"cold_calls"`
	Foreseen   int     `json:"cold_foreseen"`
	// PastTTL is how many of the cold calls came when the lifetime was over. Recall is the share
	// of these that was predicted. Precision is the share of the predicted that were cold. Both
	// are nil if there were none.
	PastTTL int `json:"cold_past_ttl"`
	// Spared are predicted cold and billed warm.
	Spared int `json:"spared"`
	// Recall is the share of the calls after the lifetime that was predicted cold; null if
	// there were none.
	Recall *float64 `json:"recall"`
	// Precision is the share of the calls predicted cold that were; null if none was.
	Precision *float64 `json:"precision"`
	// Unexplained calls were cold within the lifetime; UnexplainedTokens counts the tokens that
	// they wrote or sent anew.
	Unexplained       int `json:"unexplained"`
	UnexplainedTokens int `json:"unexplained_tokens"`
	// Medians and 90th percentiles of the relative errors.
	ReadMedian  float64 `json:"read_error_median"`
	ReadP90     float64 `json:"read_error_p90"`
	WriteMedian float64 `json:"write_error_median"`
	WriteP90    float64 `json:"write_error_p90"`
	// Predicted and Recorded are sums over the judged calls. Explained holds the sums over the
	// calls whose warm or cold was predicted. WriteError is the error of the latter's writes,
	// with its sign; nil if nothing was written.
	Predicted  Tokens    `json:"predicted"`
	Recorded   Tokens    `json:"recorded"`
	Explained  Explained `json:"explained"`
	WriteError *float64  `json:"explained_write_error"`
	// Growth are the median absolute errors of the growth of single calls.
	Growth GrowthErrors `json:"growth"`

	missed int // of PastTTL
}

// Explained are sums over the calls that went as predicted.
type Explained struct {
	Calls     int    `json:"calls"`
	Predicted Tokens `json:"predicted"`
	Recorded  Tokens `json:"recorded"`
}

// GrowthErrors are medians over calls of |estimate − billed| / billed.
type GrowthErrors struct {
	Calls     int     `json:"calls"`
	Predicted float64 `json:"predicted_error_median"`
	// Counted is the error of the counter alone. Quarter is that of bytes over four.
	Counted float64 `json:"counted_error_median"`
	Quarter float64 `json:"quarter_error_median"`
}

// Total condenses several sessions as if they were one.
func Total(reports []*Report) Summary {
	var calls []Call
	for _, r := range reports {
		calls = append(calls, r.Calls...)
	}
	return summarize(calls)
}

// summarize sums the calls up.
func summarize(calls []Call) Summary {
	var s Summary
	var reads, writes []float64
	for i := range calls {
		c := &calls[i]
		if !c.Judged {
			continue
		}
		s.Calls++
		s.Predicted.add(c.Predicted)
		s.Recorded.add(c.Recorded)
		reads, writes = append(reads, c.ReadError), append(writes, c.WriteError)
		s.judge(c)
	}
	if s.Temperate > 0 {
		s.RightShare /= float64(s.Temperate)
	}
	s.Recall, s.Precision = quotient(s.PastTTL-s.missed, s.PastTTL), quotient(s.Foreseen, s.Foreseen+s.Spared)
	if w := s.Explained.Recorded.Write; w > 0 {
		e := float64(s.Explained.Predicted.Write-w) / float64(w)
		s.WriteError = &e
	}
	s.ReadMedian, s.ReadP90 = quantiles(reads)
	s.WriteMedian, s.WriteP90 = quantiles(writes)
	s.Growth = growthErrors(calls)
	return s
}

// judge adds a call's verdict.
func (s *Summary) judge(c *Call) {
	if c.Verdict.Explained() {
		s.Explained.Calls++
		s.Explained.Predicted.add(c.Predicted)
		s.Explained.Recorded.add(c.Recorded)
	}
	if c.Compacted {
		return
	}
	s.Temperate++
	switch c.Verdict {
	case Warm:
		s.RightShare++
	case Expired:
		s.RightShare++
		s.Cold, s.Foreseen = s.Cold+1, s.Foreseen+1
		if c.PastTTL {
			s.PastTTL++
		}
	case Missed:
		s.Cold, s.PastTTL, s.missed = s.Cold+1, s.PastTTL+1, s.missed+1
	case Unexplained:
		s.Cold, s.Unexplained = s.Cold+1, s.Unexplained+1
		s.UnexplainedTokens += c.Recorded.Write + c.Recorded.Uncached
	case Spared:
		s.Spared++
	}
}

func growthErrors(calls []Call) (g GrowthErrors) {
	var predicted, counted, quarter []float64
	for i := range calls {
		c := &calls[i]
		if c.Growth == nil || !c.Judged {
			continue
		}
		g.Calls++
		predicted = append(predicted, relative(c.Growth.Predicted, c.Growth.Billed))
		counted = append(counted, relative(c.Growth.Counted, c.Growth.Billed))
		quarter = append(quarter, relative(c.Growth.Quarter, c.Growth.Billed))
	}
	g.Predicted, _ = quantiles(predicted)
	g.Counted, _ = quantiles(counted)
	g.Quarter, _ = quantiles(quarter)
	return g
}

func (t *Tokens) add(u Tokens) {
	t.Read += u.Read
	t.Write += u.Write
	t.Uncached += u.Uncached
	t.Total += u.Total
}

// quotient is part over whole, nil of nothing.
func quotient(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	q := float64(part) / float64(whole)
	return &q
}

// quantiles returns the median and the 90th percentile by nearest rank, 0 if
// there is nothing.
func quantiles(v []float64) (median, p90 float64) {
	if len(v) == 0 {
		return 0, 0
	}
	slices.Sort(v)
	return v[(len(v)-1)/2], v[(len(v)*9+9)/10-1]
}

// relative is |got − want| / want. If nothing was billed, any prediction other than 0 is wrong by
// all of it.
func relative(got, want int) float64 {
	switch {
	case got == want:
		return 0
	case want == 0:
		return 1
	}
	d := got - want
	if d < 0 {
		d = -d
	}
	return float64(d) / float64(want)
}
