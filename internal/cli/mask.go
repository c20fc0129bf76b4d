package cli

import "github.com/memkernel/memkernel/pagevm/mask"

// Masker returns what takes secrets out of texts as the kernel does.
func (s *Settings) Masker() (*mask.Masker, error) {
	o, err := s.KernelOptions(nil, nil)
	if err != nil {
		return nil, err
	}
	return mask.NewMasker(o.Redact)
}
