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

// TestAsk: an empty line is the usual answer, the end of the input no, and what is neither is asked
// again.
func TestAsk(t *testing.T) {
	for in, want := range map[string]bool{"\n": true, "y\n": true, "YES \n": true, "n\n": false, "no": false, "": false, "what?\nn\n": false, "what?\ny": true, "maybe": false} {
		for usual, choice := range map[bool]string{true: "[Y/n]", false: "[y/N]"} {
			var out strings.Builder
			u := &UI{In: strings.NewReader(in), Err: &out}
			if got := u.Ask("Go on?", usual); got != (want && (usual || in != "\n")) || !strings.HasPrefix(out.String(), "Go on? "+choice+" ") || u.Interactive() {
				t.Errorf("%q: %v, %q", in, got, out.String())
			}
		}
	}
}
