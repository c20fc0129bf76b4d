package markdownstore

// factsDir holds a file for each log of memory/ in which earlier versions wrote what a model said about
// the log. No search reads these files.
const factsDir = memoryDir + "/.facts"

// FactFiles returns the paths of the files in memory/.facts, each with the path of its log.
func (s *Store) FactFiles() map[string]string {
	entries, _ := readDir(s.files, factsDir)
	out := map[string]string{}
	for _, e := range entries {
		if p := factsDir + "/" + e.Name(); e.Type().IsRegular() {
			if _, ok := Classify(p); ok {
				out[p] = memoryDir + "/" + e.Name()
			}
		}
	}
	return out
}
