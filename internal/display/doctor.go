package display

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/kernel"
)

// Doctor lists what is well and what is not.
func Doctor(w io.Writer, d *kernel.Diagnosis, p Style) error {
	colours := map[kernel.Health]Ink{kernel.Healthy: green, kernel.Warning: yellow, kernel.Failing: red}
	counts := map[kernel.Health]int{}
	var b strings.Builder
	const indent = 16
	for i := range d.Symptoms {
		s := &d.Symptoms[i]
		counts[s.State]++
		head := p.Paint(colours[s.State], left(string(s.State), 5)) + left(s.Area, indent-5)
		for _, l := range Wrap(s.What, Columns-indent) {
			b.WriteString(head + l + "\n")
			head = strings.Repeat(" ", indent)
		}
		if next := i + 1; next < len(d.Symptoms) && d.Symptoms[next].Area == s.Area && d.Symptoms[next].Hint == s.Hint {
			continue // said once, behind the last
		}
		for _, l := range Wrap(s.Hint, Columns-indent-2) {
			b.WriteString(strings.Repeat(" ", indent+2) + p.Paint(Gray, l) + "\n")
		}
	}
	fmt.Fprintf(&b, "%d fail, %s, %d ok\n", counts[kernel.Failing], Plural(counts[kernel.Warning], "warning"), counts[kernel.Healthy])
	return flush(w, &b)
}

// Check lists what a check of a state folder found.
func Check(w io.Writer, dir string, found []kernel.Finding) error {
	if len(found) == 0 {
		_, err := fmt.Fprintf(w, "%s: nothing found\n", Printable(dir))
		return err
	}
	for _, f := range found {
		where := cmp.Or(f.Session, "blobs")
		if _, err := fmt.Fprintf(w, "%s: %s\n", Printable(where), Printable(f.What)); err != nil {
			return err
		}
		if f.Hint != "" {
			fmt.Fprintf(w, "  %s\n", Printable(f.Hint))
		}
	}
	return nil
}
