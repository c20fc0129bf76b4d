package display

import (
	"crypto/rand"
	"io"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// screen is a writer that foreign text must pass through before it is printed. It shows each
// write as one text.
type screen struct {
	io.Writer
	show func(string) string
}

func (s screen) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.Writer, s.show(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// seal encloses this program's own terminal sequences. Nobody else can write it, because it
// differs in every process.
var seal = "\x1b" + rand.Text()

// ours marks a sequence of this program so that it passes a screen for text.
func ours(sequence string) string { return seal + sequence + seal }

// shown returns a text in which all control sequences except ours are visible.
func shown(s string) string {
	parts := strings.Split(s, seal)
	var run textutil.VisibleRun
	for i := 0; i < len(parts); i += 2 {
		parts[i] = run.Text(parts[i])
	}
	return strings.Join(parts, "")
}

// Bare returns the writer that a screen writes to.
func Bare(w io.Writer) io.Writer {
	if s, ok := w.(screen); ok {
		return s.Writer
	}
	return w
}

// TextScreen returns a screen for text in front of a writer.
func TextScreen(w io.Writer) io.Writer { return screen{Bare(w), shown} }

// DocumentScreen returns a screen for a JSON document in front of a writer. The document stays
// JSON.
func DocumentScreen(w io.Writer) io.Writer { return screen{Bare(w), textutil.VisibleJSON} }
