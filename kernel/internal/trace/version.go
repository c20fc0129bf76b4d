package trace

import (
	"runtime/debug"
	"sync"
)

// Version is the version of the module this program was built from.
var Version = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	return versionIn(info)
})

// versionIn returns the version of this module in a program. The module may be the program's own
// module or the replacement of a required module. For a module that was built from a folder,
// versionIn returns "devel".
func versionIn(info *debug.BuildInfo) string {
	const path = "github.com/memkernel/memkernel"
	if info == nil {
		return "devel"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path != path {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return "devel"
}
