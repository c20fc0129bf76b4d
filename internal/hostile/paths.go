package hostile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unicode/utf8"
)

// Outside is the content of the files that [Plant] makes. No hostile path may reach these files.
const Outside = "outside-7c1f4e"

// Paths returns hostile paths that need no files on disk: absolute paths, paths that climb, paths
// in the spellings of other systems, and files in the workspace that a model must not reach.
func Paths() []string {
	out := []string{
		"", ".", "..", "/", "/etc/passwd", "//etc/passwd", "../outside.md", "../../etc/passwd", "memory/../../outside.md",
		"memory/../AGENTS.md", "./../outside.md", "memory/./../../outside.md", "memory//../../outside.md", "memory/sub/../../../outside.md",
		`..\outside.md`, `memory\..\..\outside.md`, `C:\outside.md`, `C:outside.md`, `\\server\share\outside.md`, "C:/outside.md",
		"memory/outside.md\x00.md", "\x00", "MEMORY.md\x00", "~/outside.md", "$HOME/outside.md", "file:///etc/passwd", "%2e%2e/outside.md", "..%2foutside.md",
		"．．/outside.md", "memory/..／outside.md", "memory/.hidden.md", ".memkernel/config.yaml", ".memkernel/index.sqlite", ".git/config",
		"memory/notes.txt", "node_modules/x.md", "memory/node_modules/x.md", "AGENTS.md/../../outside.md", "con", "nul.md", "memory",
		"sessions/../../outside.md", "sessions/main/../../../outside.md", "sessions/main/x/0001.md/../../../../outside.md", "sessions//0001.md",
		"sessions/main/x/log.json", "sessions/forgotten.json", "sessions/main/x/../../forgotten.json", "sessions/main/x/0001.md\x00",
	}
	for _, name := range Names() {
		if !utf8.ValidString(name) {
			continue // no JSON holds it
		}
		out = append(out, name, "memory/"+name, "memory/"+name+"/x.md", "memory/sub/"+name, "sessions/main/"+name)
	}
	return out
}

// Names returns names of Markdown files with harmful characters. Printed as they are, these would
// control a terminal, reverse the order of a line's letters, or be invisible.
func Names() []string {
	return []string{
		"a\x1b]0;title\x07.md", "a\x1b[2J.md", "line\nbreak.md", "tab\t.md", "back\rto.md", "del\x7f.md", "c1\u009b2J.md", "nel\u0085.md", "raw\x9b2J.md",
		"right\u202edm.exe.md", "isolate\u2066x\u2069.md", "mark\u200f.md", "alm\u061c.md", "zero\u200bwidth.md", "joined\u200d.md", "bom\ufeff.md",
		"tags\U000e0041\U000e0042.md", "para\u2029.md",
	}
}

// Plausible returns unusual but valid names of Markdown files.
func Plausible() []string {
	return []string{"یادداشت\u200cها.md", "מזכר.md", "हिन्दी.md", "क्\u200dष.md", "メモ 📝.md", "👩\u200d💻.md", "with space.md", "per%cent#1.md", "quote'\".md", "Straße.md", "e\u0301.md"}
}

// Plant makes files outside of a workspace, files in the workspace that are not memory, and links
// to all these files. It returns the paths of the links and of files with hostile names. It skips
// files that the system can't make.
func Plant(t testing.TB, workspace string) []string {
	t.Helper()
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, filepath.Join(outside, "outside.md"), Outside)
	write(t, filepath.Join(filepath.Dir(workspace), "outside.md"), Outside)
	write(t, filepath.Join(workspace, ".hidden", "inside.md"), Outside)
	write(t, filepath.Join(workspace, "src", "source.md"), Outside)
	if err := os.MkdirAll(filepath.Join(workspace, "memory"), 0o700); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{
		"memory/link.md":   filepath.Join(outside, "outside.md"),
		"memory/up.md":     "../../outside.md",
		"memory/folder":    outside,
		"memory/hidden.md": "../.hidden/inside.md",
		"memory/source.md": "../src/source.md",
		"memory/chain.md":  "source.md",
		"memory/src":       "../src",
		"memory/loop.md":   "loop.md",
		"memory/dead.md":   filepath.Join(outside, "gone.md"),
		"memory/device.md": os.DevNull,
		"USER.md":          filepath.Join(outside, "outside.md"),
	}
	var out []string
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(workspace, filepath.FromSlash(name))); err != nil {
			if runtime.GOOS == "windows" {
				continue // needs a right that few have
			}
			t.Fatal(err)
		}
		out = append(out, name)
	}
	for _, name := range Names() {
		for _, p := range []string{"memory/" + name, "memory/sub" + name + "/x.md"} {
			if full := filepath.Join(workspace, filepath.FromSlash(p)); tryWrite(full, Outside) == nil {
				out = append(out, p)
			}
		}
	}
	return append(out, "memory/folder/outside.md", "memory/src/source.md")
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := tryWrite(path, text); err != nil {
		t.Fatal(err)
	}
}

// tryWrite writes a file. It returns an error if the file system does not allow the name.
func tryWrite(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text+"\n"), 0o600)
}
