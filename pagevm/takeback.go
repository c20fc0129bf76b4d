package pagevm

// TakeBack returns the projection without the messages behind those of host, which are the
// first that it was aligned with: the request that showed them first was refused, so
// that nobody has seen them.
func (p *Projection) TakeBack(host []HostMessage) *Projection {
	a := Align(p, host)
	q := *p
	q.Seen, q.Items = a.Seen, p.Items[:a.Items:a.Items]
	q.Recall = p.Recalled(a)
	q.Generation++
	return &q
}
