package pagevm

// TakeBack returns the projection without the messages after those of host. host must be the
// first messages that it was aligned with. Call TakeBack when the provider refused the request
// that first showed the others: the model has not seen them.
func (p *Projection) TakeBack(host []HostMessage) *Projection {
	a := Align(p, host)
	q := *p
	q.Seen, q.Items = a.Seen, p.Items[:a.Items:a.Items]
	q.Recall = p.Recalled(a)
	q.Generation++
	return &q
}
