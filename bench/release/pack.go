package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// packer writes the published files into a folder.
type packer struct {
	*checkout
	// extras holds the man pages and completions.
	extras []file
	dir    string
	// made has the SHA-256 of the files that were written, by their names relative to the folder.
	made map[string]string
	// err is the first error. After an error the packer goes on, but writes no more files.
	err error
}

// fail records err if it is the first error. A nil err has no effect.
func (p *packer) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// all makes all files of the release.
func (p *packer) all(programs []program) error {
	p.made = map[string]string{}
	carriers := map[string]string{}
	for _, prog := range programs {
		data, err := os.ReadFile(prog.path)
		p.fail(err)
		p.bom(prog)
		for _, make := range []func(t target, data []byte){p.archive, p.carrier, p.wheel, p.gemini, p.desktop} {
			make(prog.target, data)
		}
		if p.err != nil {
			return fmt.Errorf("pack for %s: %w", prog.target, p.err)
		}
		carriers[carrierName(prog.target)] = p.version
	}
	p.launcher(carriers)
	p.formula(programs)
	p.container(programs)
	p.claude()
	p.codex()
	p.checksums()
	p.keep("notes.md", []byte(p.notes+"\n"), nil)
	return p.err
}

// read reads files of the checkout, and names them as an archive does.
func (p *packer) read(from string, names ...string) []file {
	out := make([]file, len(names))
	for i, name := range names {
		data, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(from), filepath.FromSlash(name)))
		p.fail(err)
		out[i] = file{name, data, 0o644}
	}
	return out
}

// legal returns the files that must accompany the program everywhere.
func (p *packer) legal() []file { return p.read("", "LICENSE", "NOTICE") }

// keep writes a file of the release, unless there was an error. err is the error of making the data.
func (p *packer) keep(name string, data []byte, err error) {
	p.fail(err)
	if p.err != nil {
		return
	}
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	p.fail(os.MkdirAll(filepath.Dir(path), 0o755))
	p.fail(os.WriteFile(path, data, 0o644))
	p.made[name] = fmt.Sprintf("%x", sha256.Sum256(data))
}

// pack writes an archive in the format that its name ends in.
func (p *packer) pack(name string, parts ...[]file) {
	format := zipped
	if strings.HasSuffix(name, "gz") {
		format = func(files []file, at time.Time) ([]byte, error) { return gzipped(tarball(files, at)) }
	}
	data, err := format(slices.Concat(parts...), p.time)
	p.keep(name, data, err)
}

// under moves files into a folder, whose name ends in a slash.
func under(folder string, files []file) []file {
	for i := range files {
		files[i].name = folder + files[i].name
	}
	return files
}

// name returns the name of a file of the release that people choose themselves.
func (p *packer) name(t target, suffix string) string {
	return fmt.Sprintf("memkernel_%s_%s_%s%s", p.version, t.goos, t.goarch, suffix)
}

// archive makes the archive with the program, man pages and completions.
func (p *packer) archive(t target, data []byte) {
	files := p.read("", "LICENSE", "NOTICE", "README.md", "CHANGELOG.md")
	p.pack(p.name(t, t.archive()), []file{{t.program(), data, 0o755}}, files, p.extras)
}

// manifest reads a manifest of the checkout, sets its version, and applies changes. A change
// names a member by its path. The members of the result are sorted by name.
func (p *packer) manifest(path string, changes ...change) file {
	f := p.read("", path)[0]
	var m map[string]any
	err := json.Unmarshal(f.data, &m)
	for _, c := range append(changes, change{"version", p.version}) {
		if err == nil {
			err = c.make(m)
		}
	}
	if err != nil {
		p.fail(fmt.Errorf("%s: %w", path, err))
	}
	f.name = filepath.Base(path)
	f.data = p.json(m)
	return f
}

// change is a new value of a member. The objects around the member must exist. The value nil
// removes the member.
type change struct {
	path  string
	value any
}

func (c change) make(m map[string]any) error {
	names := strings.Split(c.path, ".")
	for _, name := range names[:len(names)-1] {
		inner, ok := m[name].(map[string]any)
		if !ok {
			return fmt.Errorf("there is no object %s, for %s", name, c.path)
		}
		m = inner
	}
	if last := names[len(names)-1]; c.value == nil {
		delete(m, last)
	} else {
		m[last] = c.value
	}
	return nil
}

// json returns v as indented JSON with a final newline.
func (p *packer) json(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	p.fail(e.Encode(v))
	return b.Bytes()
}

// carrierName returns the name of the npm package with the program for a platform.
func carrierName(t target) string { return "@memkernel/" + t.node }

// carrier makes the npm package with the program for a platform, and nothing else. npm installs
// it only on that platform.
func (p *packer) carrier(t target, data []byte) {
	system, arch, _ := strings.Cut(t.node, "-")
	manifest := p.manifest("integrations/npm/package.json", change{"name", carrierName(t)}, change{"os", []string{system}}, change{"cpu", []string{arch}},
		change{"preferUnplugged", true}, change{"description", fmt.Sprintf("The program of memkernel for %s", t)},
		change{"bin", nil}, change{"files", nil}, change{"engines", nil}, change{"keywords", nil})
	about := fmt.Sprintf("# memkernel for %s\n\nThe program that the package `memkernel` runs there.\n", t)
	files := append(p.legal(), manifest, file{"README.md", []byte(about), 0o644}, file{"bin/" + t.program(), data, 0o755})
	p.pack(fmt.Sprintf("npm/memkernel-%s-%s.tgz", t.node, p.version), under("package/", files))
}

// launcher makes the npm package that people install. carriers holds the versions of the packages
// with the programs.
func (p *packer) launcher(carriers map[string]string) {
	own := p.read("integrations/npm", "README.md", "memkernel.js")
	own[1].mode = 0o755
	files := append(p.legal(), p.manifest("integrations/npm/package.json", change{"optionalDependencies", carriers}))
	p.pack(fmt.Sprintf("npm/memkernel-%s.tgz", p.version), under("package/", append(files, own...)))
}

// wheel makes a Python package that has the program among its scripts, and man pages.
func (p *packer) wheel(t target, data []byte) {
	version, err := pythonVersion(p.version)
	p.fail(err)
	name := "memkernel-" + version
	info := name + ".dist-info/"
	about := p.read("integrations/pypi", "README.md")
	metadata := fmt.Sprintf(`Metadata-Version: 2.4
Name: memkernel
Version: %s
Summary: Memory for coding agents: plain Markdown notes and past sessions, searched before each answer
Requires-Python: >=3.8
License-Expression: MIT
License-File: LICENSE
License-File: NOTICE
Project-URL: Repository, https://%s
Description-Content-Type: text/markdown

%s`, version, modulePath, about[0].data)
	wheel := "Wheel-Version: 1.0\nGenerator: memkernel\nRoot-Is-Purelib: false\n"
	for platform := range strings.SplitSeq(t.wheel, ".") {
		wheel += "Tag: py3-none-" + platform + "\n"
	}
	files := []file{{name + ".data/scripts/" + t.program(), data, 0o755}}
	for _, f := range p.extras {
		if page, ok := strings.CutPrefix(f.name, "man/"); ok {
			files = append(files, file{name + ".data/data/share/man/man1/" + page, f.data, 0o644})
		}
	}
	files = append(files, file{info + "METADATA", []byte(metadata), 0o644}, file{info + "WHEEL", []byte(wheel), 0o644})
	for _, f := range p.legal() {
		files = append(files, file{info + "licenses/" + f.name, f.data, 0o644})
	}
	record := ""
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		record += fmt.Sprintf("%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	files = append(files, file{info + "RECORD", []byte(record + info + "RECORD,,\n"), 0o644})
	p.pack(fmt.Sprintf("wheels/%s-py3-none-%s.whl", name, t.wheel), files)
}

var preRelease = regexp.MustCompile(`^(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.?(\d+))?$`)

// pythonVersion returns a version in the form that Python's packages use.
func pythonVersion(version string) (string, error) {
	if at, err := module.PseudoVersionTime("v" + version); err == nil {
		release, _, _ := strings.Cut(version, "-")
		return release + ".dev" + at.UTC().Format("20060102150405"), nil
	}
	m := preRelease.FindStringSubmatch(version)
	if m == nil {
		return "", fmt.Errorf("Python's packages have no version like %s: name the tag like v1.2.3, or v1.2.3-alpha.1, -beta.1 or -rc.1", version)
	}
	short := map[string]string{"": "", "alpha": "a", "beta": "b", "rc": "rc"}
	return m[1] + short[m[2]] + m[3], nil
}

// gemini makes the extension of Gemini CLI, with the program in it. Gemini CLI looks for the file
// by its name among the files of a release.
func (p *packer) gemini(t target, data []byte) {
	place := "${extensionPath}${/}" + t.program()
	manifest := p.manifest("integrations/gemini/gemini-extension.json", change{"mcpServers.memkernel.command", place})
	hooks := p.read("integrations/gemini", "hooks/hooks.json")
	// On Windows, Gemini CLI runs hooks with PowerShell, where a name in quotes is not a call.
	call := `\"` + place + `\"`
	if t.goos == "windows" {
		call = "& " + call
	}
	const before = `"command": "memkernel `
	if !bytes.Contains(hooks[0].data, []byte(before)) {
		p.fail(errors.New("integrations/gemini/hooks/hooks.json has no hook that calls memkernel"))
	}
	hooks[0].data = bytes.ReplaceAll(hooks[0].data, []byte(before), []byte(`"command": "`+call+" "))
	name := strings.Replace(t.node, "-", ".", 1) + ".memkernel" + t.archive()
	p.pack(name, []file{manifest}, hooks, p.legal(), []file{{t.program(), data, 0o755}})
}

// desktop makes the bundle for Claude Desktop, with the program in it.
func (p *packer) desktop(t target, data []byte) {
	place := "server/" + t.program()
	system, _, _ := strings.Cut(t.node, "-")
	manifest := p.manifest("integrations/claude-desktop/manifest.json", change{"server.entry_point", place},
		change{"server.mcp_config.command", "${__dirname}/" + place}, change{"compatibility.platforms", []string{system}})
	p.pack(p.name(t, ".mcpb"), []file{manifest}, p.legal(), []file{{place, data, 0o755}})
}

// claude packs the plugin of Claude Code with the marketplace file that offers it, for users
// without access to the repository.
func (p *packer) claude() {
	const plugin = "integrations/claude-code/"
	manifest := p.manifest(plugin + ".claude-plugin/plugin.json")
	manifest.name = plugin + ".claude-plugin/" + manifest.name
	files := p.read("", ".claude-plugin/marketplace.json", plugin+".mcp.json", plugin+"hooks/hooks.json", plugin+"README.md", "LICENSE")
	p.pack(fmt.Sprintf("memkernel_%s_claude-code-plugin.zip", p.version), files, []file{manifest})
}

// codex packs the settings of Codex, for users who add them by hand.
func (p *packer) codex() {
	p.pack(fmt.Sprintf("memkernel_%s_codex.zip", p.version), p.read("integrations/codex", "config.toml", "hooks.json", "README.md"))
}

// checksums writes the file that sha256sum -c reads.
func (p *packer) checksums() {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.made)) {
		fmt.Fprintf(&b, "%s  %s\n", p.made[name], name)
	}
	p.keep("checksums.txt", []byte(b.String()), nil)
}

// download returns the address from which people download a file of the release.
func (p *packer) download(name string) string {
	return fmt.Sprintf("https://%s/releases/download/v%s/%s", modulePath, p.version, name)
}

// formula makes Homebrew's formula, which installs from the archives.
func (p *packer) formula(programs []program) {
	var archives strings.Builder
	for _, t := range programs {
		if t.goos == "windows" {
			continue
		}
		system := map[string]string{"linux": "linux", "darwin": "macos"}[t.goos]
		arch := map[string]string{"amd64": "intel", "arm64": "arm"}[t.goarch]
		name := p.name(t.target, t.archive())
		fmt.Fprintf(&archives, "  on_%s do\n    on_%s do\n      url %q\n      sha256 %q\n    end\n  end\n", system, arch, p.download(name), p.made[name])
	}
	text := strings.NewReplacer("0.0.0", p.version, "  # The archives of a release go here.\n", archives.String()).
		Replace(string(p.read("integrations/homebrew", "memkernel.rb")[0].data))
	p.keep("homebrew/memkernel.rb", []byte(text), nil)
}

// bom writes the modules of a program, as a bill of materials in the form of CycloneDX. A module
// whose licence NOTICE lacks is an error.
func (p *packer) bom(prog program) {
	notice := p.legal()[1].data
	component := func(kind, path, version string) map[string]any {
		purl := "pkg:golang/" + path + "@" + version
		return map[string]any{"type": kind, "bom-ref": purl, "purl": purl, "name": path, "version": version}
	}
	parts := []any{component("library", "std", strings.TrimPrefix(prog.info.GoVersion, "go"))}
	for _, m := range prog.info.Deps {
		if !bytes.Contains(notice, []byte("\n    "+m.Path+" "+m.Version+"\n")) {
			p.fail(fmt.Errorf("NOTICE has no licence of %s %s, which is in the program for %s: run 'make notice'", m.Path, m.Version, prog.target))
		}
		parts = append(parts, component("library", m.Path, m.Version))
	}
	data := p.json(map[string]any{"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": parts,
		"metadata": map[string]any{"timestamp": p.time, "component": component("application", modulePath, "v"+p.version)}})
	p.keep(p.name(prog.target, ".cdx.json"), data, nil)
}
