package pagevm

// TakeBack returns the projection without the messages that follow host. host must be a prefix of
// the messages that p was aligned with. Call TakeBack when the provider refused the request that
// first showed the following messages, since the model has not seen them.
func (p *Projection) TakeBack(host []HostMessage) *Projection {
	a := Align(p, host)
	q := *p
	q.Seen, q.Items = a.Seen, p.Items[:a.Items:a.Items]
	q.Recall = p.Recalled(a)
	q.Generation++
	return &q
}
