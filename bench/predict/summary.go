package predict

import "slices"

// summary condenses the calls of a session, or of several.
type summary struct {
	// Calls is the number of judged calls.
	Calls int `json:"calls"`
	// Temperate is the number of calls that were judged for warm or cold.
	Temperate int `json:"warm_cold_calls"`
	// RightShare is the share of the temperate calls for which the prediction of warm or cold was
	// right.
	RightShare float64 `json:"right_share"`
	// Cold is the number of calls that were billed as cold.
	Cold int `json:"cold_calls"`
	// Foreseen is the number of calls that were billed as cold and predicted as cold.
	Foreseen int `json:"cold_foreseen"`
	// PastTTL is the number of cold calls that came after the lifetime was over.
	PastTTL int `json:"cold_past_ttl"`
	// Spared is the number of calls that were predicted cold and billed warm.
	Spared int `json:"spared"`
	// Recall is the share of the PastTTL calls that were predicted cold. It is null if there were
	// no such calls.
	Recall *float64 `json:"recall"`
	// Precision is the share of cold calls among the calls that were predicted cold. It is null
	// if no call was predicted cold.
	Precision *float64 `json:"precision"`
	// Unexplained is the number of calls that were cold within the lifetime.
	Unexplained int `json:"unexplained"`
	// UnexplainedTokens is the number of tokens that the unexplained calls wrote or sent again.
	UnexplainedTokens int `json:"unexplained_tokens"`
	// Medians and 90th percentiles of the relative errors.
	ReadMedian  float64 `json:"read_error_median"`
	ReadP90     float64 `json:"read_error_p90"`
	WriteMedian float64 `json:"write_error_median"`
	WriteP90    float64 `json:"write_error_p90"`
	// Predicted and Recorded are sums over the judged calls.
	Predicted tokens `json:"predicted"`
	Recorded  tokens `json:"recorded"`
	// Explained holds the sums over the calls for which the prediction of warm or cold was right.
	Explained explained `json:"explained"`
	// WriteError is the signed relative error of the writes in Explained. It is nil if nothing
	// was written.
	WriteError *float64 `json:"explained_write_error"`
	// Growth has the median errors of the growth of single calls.
	Growth growthFigures `json:"growth"`

	missed int // the calls of PastTTL that were predicted warm
}

// explained holds sums over the calls whose verdict is explained.
type explained struct {
	Calls     int    `json:"calls"`
	Predicted tokens `json:"predicted"`
	Recorded  tokens `json:"recorded"`
}

// growthFigures are medians over calls of |estimate − billed| / billed.
type growthFigures struct {
	Calls     int     `json:"calls"`
	Predicted float64 `json:"predicted_error_median"`
	// Counted is the error of the counter alone. Quarter is the error of a quarter of the number
	// of bytes.
	Counted float64 `json:"counted_error_median"`
	Quarter float64 `json:"quarter_error_median"`
}

// total condenses several sessions as if they were one.
func total(reports []*report) summary {
	var calls []call
	for _, r := range reports {
		calls = append(calls, r.Calls...)
	}
	return summarize(calls)
}

// summarize sums the calls up.
func summarize(calls []call) summary {
	var s summary
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
func (s *summary) judge(c *call) {
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
	case warm:
		s.RightShare++
	case expired:
		s.RightShare++
		s.Cold, s.Foreseen = s.Cold+1, s.Foreseen+1
		if c.PastTTL {
			s.PastTTL++
		}
	case missed:
		s.Cold, s.PastTTL, s.missed = s.Cold+1, s.PastTTL+1, s.missed+1
	case unexplained:
		s.Cold, s.Unexplained = s.Cold+1, s.Unexplained+1
		s.UnexplainedTokens += c.Recorded.Write + c.Recorded.Uncached
	case spared:
		s.Spared++
	}
}

func growthErrors(calls []call) (g growthFigures) {
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

func (t *tokens) add(u tokens) {
	t.Read += u.Read
	t.Write += u.Write
	t.Uncached += u.Uncached
	t.Total += u.Total
}

// quotient returns part divided by whole. It returns nil if whole is 0.
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

// relative returns |got − want| / want. If want is 0, the error of any other prediction is 1.
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
