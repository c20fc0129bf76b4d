package hook

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/memkernel/memkernel/kernel"
)

// findWorkspace returns the workspace of an event in dir, "" if there is none: the folder with a
// state directory that [kernel.FindWorkspace] finds.
func findWorkspace(dir string) string {
	if filepath.IsAbs(dir) {
		if found, set := kernel.FindWorkspace(filepath.Clean(dir)); set {
			return found
		}
	}
	return ""
}

// setUp reports whether hooks of a host may work with a state directory. Somebody must have made
// it, and not have taken the host's hooks out since: a host goes on with the hooks that it read
// at its start. The configuration that a person keeps in the directory sets nothing up.
func setUp(stateDir string, h Host) bool {
	entries, err := os.ReadDir(stateDir)
	if err != nil || len(entries) == 1 && entries[0].Name() == "config.yaml" {
		return false
	}
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == OffName(h) })
}

// OffName is the name of a file in a state directory which says that a host's hooks were taken
// out of the workspace's settings.
func OffName(h Host) string { return "hook.off-" + string(h) }

// projectOf returns the folder of the project that a host names in its environment.
func projectOf(h Host, getenv func(string) string) string {
	if name := h.row().project; name != "" {
		return getenv(name)
	}
	return ""
}
