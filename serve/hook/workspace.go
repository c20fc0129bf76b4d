package hook

import (
	"os"
	"path/filepath"

	"github.com/memkernel/memkernel/kernel"
)

// findWorkspace returns the workspace of an event, "" if there is none. It is the folder that
// [kernel.FindWorkspace] finds. Without one it is project, which the host names, or else dir
// itself, but never the home directory or the root. If known is set, only a found one counts.
func findWorkspace(dir, project, home string, known bool) string {
	if dir == "" || !filepath.IsAbs(dir) {
		return ""
	}
	if found, set := kernel.FindWorkspace(filepath.Clean(dir)); set {
		return found
	}
	if project == "" || !filepath.IsAbs(project) {
		project = dir
	}
	project = filepath.Clean(project)
	if known || project == filepath.Dir(project) || home != "" && project == filepath.Clean(home) {
		return ""
	}
	if st, err := os.Stat(project); err != nil || !st.IsDir() {
		return ""
	}
	return project
}

// projectOf returns the folder of the project that a host names in its environment.
func projectOf(h Host, getenv func(string) string) string {
	if name := h.row().project; name != "" {
		return getenv(name)
	}
	return ""
}
