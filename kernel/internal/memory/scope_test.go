package memory

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel/api"
)

// A scope names sources and collections that there are, whatever the case of a collection's
// letters; a wrong one is answered with what there is.
func TestScopesNameWhatThereIs(t *testing.T) {
	m := opens(t, t.TempDir(), func(o *Options) { o.Folders = append(o.Folders, api.MemoryFolder{Name: "Notes", Path: t.TempDir()}) })
	for _, good := range []scope{{}, {Source: api.SourceMemory}, {Source: api.SourceSessions}, {Collection: "workspace"}, {Collection: "nOtEs"}, {Collection: "Notes", Source: api.SourceMemory}} {
		if err := good.Check(m.Collections()); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	for want, bad := range map[string]scope{
		"memory, sessions": {Source: "Memory"}, "unknown source": {Source: " "}, "workspace": {Collection: "note"}, "Notes": {Collection: "Notes "},
	} {
		if err := bad.Check(m.Collections()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q in it", bad, err, want)
		}
	}
}
