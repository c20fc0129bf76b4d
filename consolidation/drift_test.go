package consolidation_test

import (
	"testing"
	"testing/fstest"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/health"
)

// A source that was moved, added to or said in more words still says the fact, and one that
// is gone says nothing.
func TestNoDriftWhereSourceSaysIt(t *testing.T) {
	for name, c := range map[string]struct{ fact, log string }{
		"as promoted":      {"Release tags are signed, because the mirror checks them", "- On March 3 we decided that release tags are signed, because the mirror checks them"},
		"moved down":       {"Release tags are signed since 2.4", "- Something came first.\n- And then this.\n- Release tags are signed since 2.4"},
		"another beside":   {"The gateway listens on port 8443", "- The gateway listens on port 9443 in staging.\n- The gateway listens on port 8443 in production"},
		"gone":             {"Release tags are signed", "- The weather was fine."},
		"Chinese":          {"部署窗口是每周二上午", "- 我们决定部署窗口是每周二上午，因为客服在线"},
		"its file is gone": {"Release tags are signed", ""},
	} {
		files := fstest.MapFS{"MEMORY.md": {Data: []byte("# Memory\n\n- " + c.fact + " <!-- from memory/2026-03-03.md#L3 -->\n")}}
		if c.log != "" {
			files["memory/2026-03-03.md"] = &fstest.MapFile{Data: []byte("# 2026-03-03\n\n" + c.log + "\n")}
		}
		r := audit(t, files, func(o *consolidation.Options) { o.Only = []health.Code{health.Drift} })
		if len(r.Findings) > 0 {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
	r := audit(t, fstest.MapFS{
		"MEMORY.md":            {Data: []byte("# Memory\n\n- 部署窗口是每周二上午 <!-- from memory/2026-03-03.md#L3 -->\n")},
		"memory/2026-03-03.md": {Data: []byte("# 2026-03-03\n\n- 部署窗口改为每周四下午\n")},
	}, func(o *consolidation.Options) { o.Only = []health.Code{health.Drift} })
	if len(r.Findings) != 1 || len(r.Findings[0].Others) != 1 || r.Findings[0].Others[0].StartLine != 3 {
		t.Errorf("changed in Chinese: %+v", r.Findings)
	}
}
