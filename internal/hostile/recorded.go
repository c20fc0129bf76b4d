package hostile

import (
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/transcript"
)

// Recorded returns the texts that tools returned in the recorded sessions next to the repository.
// It skips the test if there are no recorded sessions.
func Recorded(t testing.TB) (texts []string) {
	t.Helper()
	const sessions = "../../../shared/data/transcripts" // relative to a package in pagevm
	files, _ := filepath.Glob(sessions + "/*/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions under " + sessions)
	}
	for _, f := range files {
		s, err := transcript.LoadFile(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Messages {
			for j := range s.Messages[i].Parts {
				if r := s.Messages[i].Parts[j].Result; r != nil && len(r.Content) == 1 {
					texts = append(texts, r.Content[0].Text)
				}
			}
		}
	}
	return texts
}
