package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
)

const logPath, factPath = "memory/2026-03-09.md", "memory/.facts/2026-03-09.md"

// TestFactsAreForgotten: what is forgotten leaves the facts, be it that a row quotes it or
// that its log does, and no backup has it.
func TestFactsAreForgotten(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(5)
	c.add(memkernel.RoleUser, words("The lighthouse keeper of "+secretWord+" grows black tulips behind the oil store."))
	c.add(memkernel.RoleAssistant, words("I will remember that."))
	live(t, k, c)
	log := "# 2026-03-09\n\n- The lighthouse keeper of " + secretWord + " grows black tulips behind the oil store.\n- The pier is painted blue.\n"
	rows := "# Facts of " + logPath + "\n\n- The keeper is a gardener <!-- from " + logPath + "#L3 = 0123456789abcdef -->\n"
	other := "- The lighthouse keeper of " + secretWord + " grows black tulips behind the oil store. <!-- from memory/2026-03-08.md#L3 = 0123456789abcdef -->\n"
	blue := "- The pier is painted blue <!-- from memory/2026-03-07.md#L3 = 0123456789abcdef -->\n"
	putAll(t, dir, map[string]string{logPath: log, factPath: rows, "memory/.facts/2026-03-08.md": other, "memory/.facts/2026-03-07.md": blue})
	forget(t, k, false)
	if raw, _ := os.ReadFile(filepath.Join(dir, factPath)); string(raw) != rows {
		t.Errorf("a preview changed the facts")
	}
	forget(t, k, true)
	for name, want := range map[string]string{factPath: "", "memory/.facts/2026-03-08.md": "", "memory/.facts/2026-03-07.md": blue} {
		if raw, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(raw) != want {
			t.Errorf("%s: %v\n%s", name, err, raw)
		}
	}
	if left := holding(t, dir, secretWord); len(left) > 0 {
		t.Errorf("it still stands in %s", strings.Join(left, "\n"))
	}
}
