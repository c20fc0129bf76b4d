package display

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/serve/proxy"
)

// Drain lists the sessions of a proxy before its user stops using it: the size of each without
// the proxy, the room in its model's window, and advice for sessions that don't fit.
func Drain(w io.Writer, sessions []proxy.Session, p Style) error {
	var b strings.Builder
	if len(sessions) == 0 {
		b.WriteString("the proxy drains; it has seen no session yet\n")
		return Flush(w, &b)
	}
	const name, model, number = 38, 20, 12
	b.WriteString(p.Paint(Gray, Left("session", name)+Left("model", model)+Right("now", number)+Right("room", number)+Right("over", number)) + "\n")
	over := 0
	for i := range sessions {
		s := &sessions[i]
		what := s.Session
		if s.Branch != "" {
			what += " " + s.Branch
		}
		excess := "-"
		if s.OverTokens > 0 {
			excess = Thousands(s.OverTokens)
			over++
		}
		fmt.Fprintf(&b, "%s%s%s%s%s\n", Left(Printable(what), name), Left(Printable(s.Model), model),
			Right(Thousands(s.NowTokens), number), Right(cmp.Or(strings.TrimPrefix(Thousands(max(s.WindowTokens-s.ReserveTokens, 0)), "0"), "-"), number), Right(excess, number))
		if s.Note != "" {
			b.WriteString("  " + s.Note + "\n")
		}
	}
	line := "all fit: their clients can go on without the proxy"
	if over > 0 {
		line = fmt.Sprintf("%s too large to go on without the proxy: compact, and run memkernel proxy --drain again", are(over, "session"))
	}
	p.para(&b, 0, "", line)
	return Flush(w, &b)
}

func are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return Plural(n, noun) + " are"
}

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
	if s.Draining {
		line += "; draining"
	}
	_, err := fmt.Fprintln(w, line)
	return err
}
