package display

import (
	"fmt"
	"io"

	"github.com/memkernel/memkernel/serve/proxy"
)

// RunningProxy writes one line about the work of a running proxy.
func RunningProxy(w io.Writer, url string, s *proxy.Status) error {
	passed := 0
	for _, p := range s.Passed {
		passed += p.Count
	}
	line := fmt.Sprintf("proxy at %s: %s, %d planned, %d passed", url, Plural(len(s.Sessions), "session"), s.Planned+s.Extended, passed)
	if b := s.Bill; b != nil {
		line += fmt.Sprintf("; billed %s, without about %s", inCents(&b.BilledUSD), inCents(&b.WithoutUSD))
	}
	_, err := fmt.Fprintln(w, line)
	return err
}
