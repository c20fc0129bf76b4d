package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// packer writes the published files into a folder.
type packer struct {
	*checkout
	// extras holds the man pages and completions.
	extras []file
	dir    string
	// made lists the files that were written, by their names relative to the folder.
	made []string
}

// all makes all files of the release.
func (p *packer) all(programs []program) error {
	var carriers []string
	for _, prog := range programs {
		data, err := os.ReadFile(prog.path)
		if err != nil {
			return err
		}
		for _, make := range []func(t target, data []byte) error{p.archive, p.carrier, p.wheel, p.gemini, p.desktop} {
			if err := make(prog.target, data); err != nil {
				return fmt.Errorf("pack for %s: %w", prog.target, err)
			}
		}
		carriers = append(carriers, carrierName(prog.target))
	}
	for _, make := range []func() error{func() error { return p.launcher(carriers) }, p.claude, p.codex, p.checksums, p.writeNotes} {
		if err := make(); err != nil {
			return err
		}
	}
	return nil
}

// read reads files of the checkout, and names them as an archive does.
func (p *packer) read(from string, names ...string) (out []file, err error) {
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(from), filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		out = append(out, file{name, data, 0o644})
	}
	return out, nil
}

// legal returns the files that must accompany the program everywhere.
func (p *packer) legal() ([]file, error) { return p.read("", "LICENSE", "NOTICE") }

// keep writes a file of the release.
func (p *packer) keep(name string, data []byte, err error) error {
	if err != nil {
		return err
	}
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	p.made = append(p.made, name)
	return nil
}

// name returns the name of a file of the release that people choose themselves.
func (p *packer) name(t target, suffix string) string {
	return fmt.Sprintf("memkernel_%s_%s_%s%s", p.version, t.goos, t.goarch, suffix)
}

// archive makes the archive with the program, man pages and completions.
func (p *packer) archive(t target, data []byte) error {
	files, err := p.read("", "LICENSE", "NOTICE", "README.md", "CHANGELOG.md")
	if err != nil {
		return err
	}
	files = slices.Concat([]file{{t.program(), data, 0o755}}, files, p.extras)
	if t.goos == "windows" {
		packed, err := zipped(files, p.time)
		return p.keep(p.name(t, ".zip"), packed, err)
	}
	packed, err := tarball("", files, p.time)
	return p.keep(p.name(t, ".tar.gz"), packed, err)
}

// manifest reads a manifest of the checkout, sets its version, and applies changes. A change
// names a member by its path. The members of the result are sorted by name.
func (p *packer) manifest(path string, changes ...change) (file, error) {
	data, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(path)))
	if err != nil {
		return file{}, err
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return file{}, fmt.Errorf("%s: %w", path, err)
	}
	for _, c := range append(changes, change{"version", p.version}) {
		if err := c.make(m); err != nil {
			return file{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	data, err = document(m)
	return file{filepath.Base(path), data, 0o644}, err
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

// document returns v as indented JSON.
func document(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// carrierName returns the name of the npm package with the program for a platform.
func carrierName(t target) string { return "@memkernel/" + t.node }

// carrier makes the npm package with the program for a platform, and nothing else. npm installs
// it only on that platform.
func (p *packer) carrier(t target, data []byte) error {
	system, arch, _ := strings.Cut(t.node, "-")
	manifest, err := p.manifest("integrations/npm/package.json", change{"name", carrierName(t)}, change{"os", []string{system}}, change{"cpu", []string{arch}},
		change{"preferUnplugged", true}, change{"description", fmt.Sprintf("The program of memkernel for %s", t)},
		change{"bin", nil}, change{"files", nil}, change{"engines", nil}, change{"keywords", nil})
	if err != nil {
		return err
	}
	files, err := p.legal()
	if err != nil {
		return err
	}
	about := fmt.Sprintf("# memkernel for %s\n\nThe program that the package `memkernel` runs there.\n", t)
	files = append(files, manifest, file{"README.md", []byte(about), 0o644}, file{"bin/" + t.program(), data, 0o755})
	packed, err := tarball("package/", files, p.time)
	return p.keep(fmt.Sprintf("npm/memkernel-%s-%s.tgz", t.node, p.version), packed, err)
}

// launcher makes the npm package that people install.
func (p *packer) launcher(carriers []string) error {
	exact := map[string]string{}
	for _, name := range carriers {
		exact[name] = p.version
	}
	manifest, err := p.manifest("integrations/npm/package.json", change{"optionalDependencies", exact})
	if err != nil {
		return err
	}
	files, err := p.legal()
	if err != nil {
		return err
	}
	own, err := p.read("integrations/npm", "README.md", "memkernel.js")
	if err != nil {
		return err
	}
	own[1].mode = 0o755
	packed, err := tarball("package/", slices.Concat(files, []file{manifest}, own), p.time)
	return p.keep(fmt.Sprintf("npm/memkernel-%s.tgz", p.version), packed, err)
}

// wheel makes a Python package that has the program among its scripts, and man pages.
func (p *packer) wheel(t target, data []byte) error {
	version, err := pythonVersion(p.version)
	if err != nil {
		return err
	}
	name := "memkernel-" + version
	info := name + ".dist-info/"
	about, err := p.read("integrations/pypi", "README.md")
	if err != nil {
		return err
	}
	legal, err := p.legal()
	if err != nil {
		return err
	}
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
	for _, f := range legal {
		files = append(files, file{info + "licenses/" + f.name, f.data, 0o644})
	}
	record := ""
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		record += fmt.Sprintf("%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	files = append(files, file{info + "RECORD", []byte(record + info + "RECORD,,\n"), 0o644})
	packed, err := zipped(files, p.time)
	return p.keep(fmt.Sprintf("wheels/%s-py3-none-%s.whl", name, t.wheel), packed, err)
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
func (p *packer) gemini(t target, data []byte) error {
	place := "${extensionPath}${/}" + t.program()
	manifest, err := p.manifest("integrations/gemini/gemini-extension.json", change{"mcpServers.memkernel.command", place})
	if err != nil {
		return err
	}
	files, err := p.read("integrations/gemini", "hooks/hooks.json")
	if err != nil {
		return err
	}
	// On Windows, Gemini CLI runs hooks with PowerShell, where a name in quotes is not a call.
	call := `\"` + place + `\"`
	if t.goos == "windows" {
		call = "& " + call
	}
	const before = `"command": "memkernel `
	if !bytes.Contains(files[0].data, []byte(before)) {
		return errors.New("integrations/gemini/hooks/hooks.json has no hook that calls memkernel")
	}
	files[0].data = bytes.ReplaceAll(files[0].data, []byte(before), []byte(`"command": "`+call+" "))
	legal, err := p.legal()
	if err != nil {
		return err
	}
	files = slices.Concat([]file{manifest}, files, legal, []file{{t.program(), data, 0o755}})
	name := strings.Replace(t.node, "-", ".", 1) + ".memkernel"
	if t.goos == "windows" {
		packed, err := zipped(files, p.time)
		return p.keep(name+".zip", packed, err)
	}
	packed, err := tarball("", files, p.time)
	return p.keep(name+".tar.gz", packed, err)
}

// desktop makes the bundle for Claude Desktop, with the program in it.
func (p *packer) desktop(t target, data []byte) error {
	place := "server/" + t.program()
	system, _, _ := strings.Cut(t.node, "-")
	manifest, err := p.manifest("integrations/claude-desktop/manifest.json", change{"server.entry_point", place},
		change{"server.mcp_config.command", "${__dirname}/" + place}, change{"compatibility.platforms", []string{system}})
	if err != nil {
		return err
	}
	legal, err := p.legal()
	if err != nil {
		return err
	}
	packed, err := zipped(slices.Concat([]file{manifest}, legal, []file{{place, data, 0o755}}), p.time)
	return p.keep(p.name(t, ".mcpb"), packed, err)
}

// claude packs the plugin of Claude Code with the marketplace file that offers it, for users
// without access to the repository.
func (p *packer) claude() error {
	const plugin = "integrations/claude-code/"
	manifest, err := p.manifest(plugin + ".claude-plugin/plugin.json")
	if err != nil {
		return err
	}
	manifest.name = plugin + ".claude-plugin/" + manifest.name
	files, err := p.read("", ".claude-plugin/marketplace.json", plugin+".mcp.json", plugin+"hooks/hooks.json", plugin+"README.md", "LICENSE")
	if err != nil {
		return err
	}
	packed, err := zipped(append(files, manifest), p.time)
	return p.keep(fmt.Sprintf("memkernel_%s_claude-code-plugin.zip", p.version), packed, err)
}

// codex packs the settings of Codex, for users who add them by hand.
func (p *packer) codex() error {
	files, err := p.read("integrations/codex", "config.toml", "hooks.json", "README.md")
	if err != nil {
		return err
	}
	packed, err := zipped(files, p.time)
	return p.keep(fmt.Sprintf("memkernel_%s_codex.zip", p.version), packed, err)
}

// checksums writes the file that sha256sum -c reads.
func (p *packer) checksums() error {
	names := slices.Sorted(slices.Values(p.made))
	var b strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), name)
	}
	return p.keep("checksums.txt", []byte(b.String()), nil)
}

// writeNotes writes the changelog's text to notes.md.
func (p *packer) writeNotes() error { return p.keep("notes.md", []byte(p.notes+"\n"), nil) }
