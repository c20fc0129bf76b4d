package cli

import (
	"io"
	"strings"
	"testing"
)

// TestNoProgress: nothing is shown with --quiet.
func TestNoProgress(t *testing.T) {
	if u := (&UI{Err: io.Discard, Quiet: true}); u.IndexProgress() != nil {
		t.Error("there is progress with --quiet")
	}
}

// TestAsk: an empty line is yes, the end of the input no, and what is neither is asked
// again.
func TestAsk(t *testing.T) {
	for in, want := range map[string]bool{"\n": true, "y\n": true, "YES \n": true, "n\n": false, "no": false, "": false, "what?\nn\n": false, "what?\ny": true, "maybe": false} {
		var out strings.Builder
		u := &UI{In: strings.NewReader(in), Err: &out}
		if got := u.Ask("Go on?"); got != want || !strings.HasPrefix(out.String(), "Go on? [Y/n] ") || u.Interactive() {
			t.Errorf("%q: %v, %q", in, got, out.String())
		}
	}
}
