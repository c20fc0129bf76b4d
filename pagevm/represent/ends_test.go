package represent

import (
	"fmt"
	"strings"
	"testing"
)

// TestEnds: of a long MEMORY.md the beginning and the newest part are shown, with how to
// read what is between them.
func TestEnds(t *testing.T) {
	text := "# Memory\n\n"
	for i := range 300 {
		text += fmt.Sprintf("- Pump %d drains basin %d.\n", i, 900-i)
	}
	head, missing := Ends("MEMORY.md", text+"- Pump 7 was sold.\n", 900)
	if len(head) != 2 || !strings.Contains(head[0].Text, "Pump 3 drains") || !strings.HasSuffix(head[1].Text, "- Pump 7 was sold.") {
		t.Fatalf("%+v", head)
	}
	from, to := head[0].To+1, head[1].From-1
	if want := fmt.Sprintf("Lines %d to %d of 303 in MEMORY.md are not shown here. memory_get reads them, or 'memkernel get MEMORY.md:%d:%d'.", from, to, from, to-from+1); missing != want {
		t.Errorf("%q, want %q", missing, want)
	}
	for _, short := range []string{"one line\n", strings.Repeat("a very long line ", 100)} {
		if parts, missing := Ends("MEMORY.md", short, 900); len(parts) != 1 || missing != "" {
			t.Errorf("%+v, %q", parts, missing)
		}
	}
}
