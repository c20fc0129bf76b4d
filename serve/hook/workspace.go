package hook

import (
	"os"
	"path/filepath"
)

// stateName is the state directory's name by which a workspace is known.
const stateName = ".memkernel"

// findWorkspace returns the folder whose memory an event is about, "" if there is none:
// the nearest one from dir upwards that has a state directory, else project, which
// the host names, else dir itself. home and the root are taken only if they have one.
func findWorkspace(dir, project, home string) string {
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
	if project == filepath.Dir(project) || home != "" && project == filepath.Clean(home) {
		return ""
	}
	if st, err := os.Stat(project); err != nil || !st.IsDir() {
		return ""
	}
	return project
}

// projectOf returns the folder that a host names as the project's by its environment.
func projectOf(h Host, getenv func(string) string) string {
	if name := h.row().project; name != "" {
		return getenv(name)
	}
	return ""
}
