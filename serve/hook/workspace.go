package hook

import (
	"os"
	"path/filepath"
)

// stateName is the name of the state directory. A workspace is recognised by it.
const stateName = ".memkernel"

// findWorkspace returns the workspace of an event, "" if there is none. It is the nearest folder
// that has a state directory, starting at dir and going up. Without such a folder it is project,
// which the host names, or else dir itself. The home directory and the root count only if they
// have a state directory. If known is set, no other folder counts either.
func findWorkspace(dir, project, home string, known bool) string {
	if dir == "" || !filepath.IsAbs(dir) {
		return ""
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if st, err := os.Stat(filepath.Join(at, stateName)); err == nil && st.IsDir() {
			return at
		}
		if at == filepath.Dir(at) {
			break
		}
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
