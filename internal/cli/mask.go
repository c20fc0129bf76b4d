package cli

import "github.com/memkernel/memkernel/pagevm/mask"

// Masker returns a masker that removes the same secrets from texts as the kernel.
func (s *Settings) Masker() (*mask.Masker, error) {
	o, err := s.KernelOptions(nil, nil)
	if err != nil {
		return nil, err
	}
	return mask.NewMasker(o.Redact)
}
