package cli

import "testing"

func TestRoffEscapes(t *testing.T) {
	if got, want := roff(".so\n'x\\y-z"), "\\&.so\n\\&'x\\ey\\-z"; got != want {
		t.Errorf("roff = %q, want %q", got, want)
	}
}
