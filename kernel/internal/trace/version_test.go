package trace

import (
	"runtime/debug"
	"testing"
)

func TestVersionIn(t *testing.T) {
	const path = "github.com/memkernel/memkernel"
	other := &debug.Module{Path: "example.com/other", Version: "v9.9.9"}
	for name, tc := range map[string]struct {
		main debug.Module
		dep  *debug.Module
		want string
	}{
		"own":               {debug.Module{Path: path, Version: "v1.2.3"}, other, "v1.2.3"},
		"own, from a tree":  {debug.Module{Path: path, Version: "(devel)"}, other, "devel"},
		"required":          {*other, &debug.Module{Path: path, Version: "v1.2.3"}, "v1.2.3"},
		"a folder instead":  {*other, &debug.Module{Path: path, Version: "v0.0.0", Replace: &debug.Module{Path: "../.."}}, "devel"},
		"a fork instead":    {*other, &debug.Module{Path: path, Version: "v1.2.3", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.2.4"}}, "v1.2.4"},
		"not there":         {*other, other, "devel"},
		"a module below it": {debug.Module{Path: path + "/bench", Version: "v3.0.0"}, other, "devel"},
	} {
		if got := versionIn(&debug.BuildInfo{Main: tc.main, Deps: []*debug.Module{tc.dep}}); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
	if got := versionIn(nil); got != "devel" {
		t.Errorf("no build information: %s", got)
	}
}
