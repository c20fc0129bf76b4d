package hook

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// below lists everything below a folder.
func below(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		out = append(out, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Hooks work only in folders that were set up, and leave all others as they are: those of an
// extension run in every folder, and those of settings until the session ends that read them.
func TestExtensionLeavesOtherFoldersAlone(t *testing.T) {
	for _, h := range []Host{claude, codex, gemini} {
		for name, c := range map[string]struct {
			extension bool
			setUp     func(p *project)
			works     bool
		}{
			"a folder never set up": {extension: true, setUp: func(p *project) { p.remove(".memkernel") }},
			"a folder with a configuration alone": {setUp: func(p *project) {
				p.remove(".memkernel")
				p.put(".memkernel/config.yaml", "")
			}},
			"a folder after uninstall":  {setUp: func(p *project) { p.put(".memkernel/"+h.OffName(), "") }},
			"settings without a state":  {setUp: func(p *project) { p.remove(".memkernel") }},
			"hooks of its own settings": {setUp: func(*project) {}, works: true},
			"a folder that was set up":  {extension: true, setUp: func(*project) {}, works: true},
			"settings with the same hooks": {extension: true, setUp: func(p *project) {
				own := Settings{Host: h, Dir: p.dir, Program: "memkernel"}
				data, err := own.Add(nil)
				if err != nil {
					t.Fatal(err)
				}
				p.put("."+string(h)+"/"+filepath.Base(own.Path()), string(data))
			}},
			// A host that is started in a subfolder does not read the settings of the folder above.
			"a subfolder of settings with the same hooks": {extension: true, works: h.row().project != "", setUp: func(p *project) {
				p.put("package/notes.txt", "")
				own := Settings{Host: h, Dir: p.dir, Program: "memkernel"}
				data, err := own.Add(nil)
				if err != nil {
					t.Fatal(err)
				}
				p.put("."+string(h)+"/"+filepath.Base(own.Path()), string(data))
				p.env = map[string]string{h.row().project: filepath.Join(p.dir, "package")}
			}},
			"settings with other hooks": {extension: true, works: true, setUp: func(p *project) {
				p.put("."+string(h)+"/"+filepath.Base(Settings{Host: h}.Path()), `{"hooks": {}}`)
			}},
		} {
			t.Run(string(h)+" in "+name, func(t *testing.T) {
				p := newProject(t, nil)
				p.extension = c.extension
				p.put("notes.txt", "We sail on Friday.")
				c.setUp(p)
				before := below(t, p.dir)
				transcript := filepath.Join(t.TempDir(), "s1.jsonl")
				if err := os.WriteFile(transcript, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				for _, event := range slices.Sorted(maps.Keys(h.row().moments)) {
					p.hook(h, map[string]any{"hook_event_name": event, "source": "startup", "prompt": "When do we sail?", "transcript_path": transcript,
						"trigger": "auto", "reason": "other", "tool_name": "Bash", "tool_response": map[string]any{"stdout": "x"}})
				}
				if after := below(t, p.dir); slices.Equal(after, before) == c.works || (p.opened > 0) != c.works {
					t.Errorf("opened %d times, left %v", p.opened, after)
				}
			})
		}
	}
}
