package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// names are the files of a release of all targets.
func names(version, python string) (out []string) {
	for _, t := range []struct{ system, archive, node, wheel string }{
		{"linux_amd64", ".tar.gz", "linux-x64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
		{"linux_arm64", ".tar.gz", "linux-arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
		{"darwin_amd64", ".tar.gz", "darwin-x64", "macosx_12_0_x86_64"},
		{"darwin_arm64", ".tar.gz", "darwin-arm64", "macosx_12_0_arm64"},
		{"windows_amd64", ".zip", "win32-x64", "win_amd64"},
		{"windows_arm64", ".zip", "win32-arm64", "win_arm64"},
	} {
		out = append(out, "memkernel_"+version+"_"+t.system+t.archive, "memkernel_"+version+"_"+t.system+".mcpb",
			strings.Replace(t.node, "-", ".", 1)+".memkernel"+t.archive, "memkernel_"+version+"_"+t.system+".cdx.json", "npm/memkernel-"+t.node+"-"+version+".tgz",
			"wheels/memkernel-"+python+"-py3-none-"+t.wheel+".whl")
	}
	out = append(out, "npm/memkernel-"+version+".tgz", "memkernel_"+version+"_claude-code-plugin.zip", "memkernel_"+version+"_codex.zip", "homebrew/memkernel.rb",
		"container/memkernel_"+version+".tar", "checksums.txt", "notes.md")
	slices.Sort(out)
	return out
}

// everything are the names of all files below a folder.
func everything(t testing.TB, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func TestWhatIsMade(t *testing.T) {
	p, again := fakeRelease(t, "1.2.3-rc.1"), fakeRelease(t, "1.2.3-rc.1")
	if got, want := everything(t, p.dir), names("1.2.3-rc.1", "1.2.3rc1"); !slices.Equal(got, want) {
		t.Errorf("made\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	checkSums(t, p.dir)
	a, errA := os.ReadFile(filepath.Join(p.dir, "checksums.txt"))
	b, errB := os.ReadFile(filepath.Join(again.dir, "checksums.txt"))
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("the same commit makes other files: %v %v\n%s\n%s", errA, errB, a, b)
	}
	if notes, err := os.ReadFile(filepath.Join(p.dir, "notes.md")); err != nil || string(notes) != "### Added\n\n- all of it\n" {
		t.Errorf("notes %q, %v", notes, err)
	}
}

// checkSums holds the checksums of a release to its files.
func checkSums(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, name := range everything(t, dir) {
		if name == "checksums.txt" || name == "notes.md" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want += fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name)
	}
	if string(text) != want {
		t.Errorf("checksums.txt is\n%s\nwant\n%s", text, want)
	}
}

// each calls f with every target, and reads its archive by the name's pattern: VERSION,
// SYSTEM and NODE stand for the target's, EXT for tar.gz or zip.
func each(t *testing.T, dir, version, pattern string, f func(t *testing.T, target target, files map[string]file)) {
	t.Helper()
	for _, target := range targets {
		ext := "tar.gz"
		if target.goos == "windows" {
			ext = "zip"
		}
		name := strings.NewReplacer("VERSION", version, "SYSTEM", target.goos+"_"+target.goarch, "NODE", target.node, "DOTTED", strings.Replace(target.node, "-", ".", 1),
			"EXT", ext, "WHEEL", target.wheel).Replace(pattern)
		t.Run(name, func(t *testing.T) { f(t, target, unpacked(t, filepath.Join(dir, name))) })
	}
}

// carries holds that an archive has the target's program, which may be run.
func carries(t *testing.T, target target, f file) {
	t.Helper()
	if f.mode.Perm() != 0o755 || !isProgram(target, f.data) {
		t.Errorf("%s has mode %v and begins with %.40q: no program for %s", f.name, f.mode, f.data, target)
	}
}

// isProgram tells the programs of systems apart, and the scripts that stand for them.
func isProgram(t target, data []byte) bool {
	if bytes.HasPrefix(data, []byte("#!/bin/sh\n# "+t.String()+"\n")) {
		return true
	}
	head := map[string]string{"linux": "\x7fELF", "darwin": "\xcf\xfa\xed\xfe", "windows": "MZ"}[t.goos]
	return bytes.HasPrefix(data, []byte(head))
}

func TestPackages(t *testing.T) {
	p := fakeRelease(t, "1.2.3")
	checkPackages(t, p.dir, "1.2.3", "1.2.3")
}

// checkLicences holds that every package with a program has the licence and NOTICE of the checkout.
func checkLicences(t *testing.T, dir string) {
	t.Helper()
	p := &packer{checkout: &checkout{root: root}}
	legal := p.legal()
	if p.err != nil {
		t.Fatal(p.err)
	}
	packages := 0
	for _, name := range everything(t, dir) {
		if !slices.Contains([]string{".gz", ".tgz", ".zip", ".mcpb", ".whl"}, filepath.Ext(name)) {
			continue
		}
		files := slices.Collect(maps.Values(unpacked(t, filepath.Join(dir, name))))
		has := func(want func(f file) bool) bool { return slices.ContainsFunc(files, want) }
		if !has(func(f file) bool { return strings.TrimSuffix(path.Base(f.name), ".exe") == "memkernel" }) {
			continue
		}
		packages++
		for _, l := range legal {
			if !has(func(f file) bool { return path.Base(f.name) == l.name && bytes.Equal(f.data, l.data) }) {
				t.Errorf("%s has a program without %s", name, l.name)
			}
		}
	}
	if want := 5 * len(targets); packages != want {
		t.Errorf("%d packages have a program, want %d", packages, want)
	}
}

// checkPackages holds the structure of all that is made for each target.
func checkPackages(t *testing.T, dir, version, python string) {
	checkLicences(t, dir)
	each(t, dir, version, "memkernel_VERSION_SYSTEM.EXT", func(t *testing.T, target target, files map[string]file) {
		carries(t, target, files[target.program()])
		for _, name := range []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "man/memkernel.1", "completions/_memkernel"} {
			if len(files[name].data) == 0 {
				t.Errorf("there is no %s", name)
			}
		}
	})
	each(t, dir, version, "npm/memkernel-NODE-VERSION.tgz", func(t *testing.T, target target, files map[string]file) {
		carries(t, target, files["package/bin/"+target.program()])
		var m struct {
			Name, Version, Description, License, Homepage, Bugs string
			Repository                                          struct{ Type, URL string }
			OS, CPU                                             []string
			PreferUnplugged                                     bool
		}
		parsed(t, files["package/package.json"], &m)
		if got := "@memkernel/" + m.OS[0] + "-" + m.CPU[0]; m.Name != got || m.Name != "@memkernel/"+target.node || m.Version != version || len(files["package/LICENSE"].data) == 0 {
			t.Errorf("%+v, want %s", m, got)
		}
	})
	each(t, dir, python, "wheels/memkernel-VERSION-py3-none-WHEEL.whl", func(t *testing.T, target target, files map[string]file) {
		carries(t, target, files["memkernel-"+python+".data/scripts/"+target.program()])
		checkWheel(t, target, python, files)
	})
	each(t, dir, version, "DOTTED.memkernel.EXT", func(t *testing.T, target target, files map[string]file) {
		carries(t, target, files[target.program()])
		checkGemini(t, target, version, files)
	})
	each(t, dir, version, "memkernel_VERSION_SYSTEM.mcpb", func(t *testing.T, target target, files map[string]file) {
		checkDesktop(t, target, version, files)
	})
	t.Run("homebrew", func(t *testing.T) {
		formula, errFormula := os.ReadFile(filepath.Join(dir, "homebrew", "memkernel.rb"))
		sums, errSums := os.ReadFile(filepath.Join(dir, "checksums.txt"))
		if errFormula != nil || errSums != nil {
			t.Fatal(errFormula, errSums)
		}
		archives := formulaArchive.FindAllSubmatch(formula, -1)
		for i, want := range []string{"linux intel linux_amd64", "linux arm linux_arm64", "macos intel darwin_amd64", "macos arm darwin_arm64"} {
			if len(archives) != 4 {
				t.Fatalf("%d archives in\n%s", len(archives), formula)
			}
			m, system := archives[i], strings.Fields(want)
			name := "memkernel_" + version + "_" + system[2] + ".tar.gz"
			if string(m[1]) != system[0] || string(m[2]) != system[1] || !bytes.HasSuffix(m[3], []byte("/v"+version+"/"+name)) || !bytes.Contains(sums, fmt.Appendf(nil, "%s  %s\n", m[4], name)) {
				t.Errorf("%q is not %s", m[1:], want)
			}
		}
	})
	t.Run("container", func(t *testing.T) {
		layout := unpacked(t, filepath.Join(dir, "container", "memkernel_"+version+".tar"))
		var index v1.Index
		parsed(t, layout[v1.ImageIndexFile], &index)
		blob := func(d v1.Descriptor) file { return layout["blobs/sha256/"+d.Digest.Encoded()] }
		parsed(t, blob(index.Manifests[0]), &index)
		for i, target := range targets[:2] {
			var m v1.Manifest
			var image v1.Image
			parsed(t, blob(index.Manifests[i]), &m)
			parsed(t, blob(m.Config), &image)
			layer := filepath.Join(t.TempDir(), "layer.tar.gz")
			if err := os.WriteFile(layer, blob(m.Layers[0]).data, 0o600); err != nil {
				t.Fatal(err)
			}
			files := unpacked(t, layer)
			carries(t, target, files["usr/bin/memkernel"])
			if p := index.Manifests[i].Platform; p.OS+"/"+p.Architecture != target.String() || image.OS+"/"+image.Architecture != target.String() || image.Config.User == "" || image.Config.User[0] == '0' {
				t.Errorf("the image for %s is %+v", target, image)
			}
			if roots := bytes.Count(files["etc/ssl/certs/ca-certificates.crt"].data, []byte("BEGIN CERTIFICATE")); roots < 100 || len(files["usr/share/doc/memkernel/NOTICE"].data) == 0 || files["tmp/"].mode.Perm() != 0o777 {
				t.Errorf("%d root certificates, licences, and a folder for temporary files with mode %v", roots, files["tmp/"].mode)
			}
		}
		if len(index.Manifests) != 2 {
			t.Errorf("%d images", len(index.Manifests))
		}
	})
	t.Run("npm", func(t *testing.T) {
		files := unpacked(t, filepath.Join(dir, "npm", "memkernel-"+version+".tgz"))
		var m struct {
			Name, Version, Description, License, Homepage, Bugs string
			Repository                                          struct{ Type, URL string }
			Keywords, Files                                     []string
			Bin, Engines, OptionalDependencies                  map[string]string
		}
		parsed(t, files["package/package.json"], &m)
		if len(m.OptionalDependencies) != len(targets) || m.Version != version || m.Name != "memkernel" {
			t.Errorf("%+v", m)
		}
		for _, target := range targets {
			if m.OptionalDependencies["@memkernel/"+target.node] != version {
				t.Errorf("%s is not wanted in version %s: %v", target.node, version, m.OptionalDependencies)
			}
		}
		if f := files["package/"+m.Bin["memkernel"]]; f.mode.Perm() != 0o755 || !bytes.HasPrefix(f.data, []byte("#!/usr/bin/env node\n")) {
			t.Errorf("the launcher has mode %v", f.mode)
		}
	})
	t.Run("claude", func(t *testing.T) {
		files := unpacked(t, filepath.Join(dir, "memkernel_"+version+"_claude-code-plugin.zip"))
		var market struct {
			Name     string
			Owner    struct{ Name string }
			Metadata struct{ Description string }
			Plugins  []struct{ Name, Source, Description string }
		}
		parsed(t, files[".claude-plugin/marketplace.json"], &market)
		for _, plugin := range market.Plugins {
			at := strings.TrimPrefix(plugin.Source, "./") + "/"
			var m struct {
				Name, Version, Description, Homepage, Repository, License string
				Author                                                    struct{ Name string }
				Keywords                                                  []string
			}
			parsed(t, files[at+".claude-plugin/plugin.json"], &m)
			if m.Name != plugin.Name || m.Version != version || files[at+".mcp.json"].data == nil || files[at+"hooks/hooks.json"].data == nil {
				t.Errorf("the plugin %+v: %+v", plugin, m)
			}
		}
		if len(market.Plugins) != 1 {
			t.Errorf("plugins %v", market.Plugins)
		}
	})
	t.Run("codex", func(t *testing.T) {
		if files := unpacked(t, filepath.Join(dir, "memkernel_"+version+"_codex.zip")); len(files) != 3 {
			t.Errorf("%d files", len(files))
		}
	})
}

// checkWheel holds a wheel to PEP 427: every file but the record has its hash in it, and
// the tags are those of the name.
func checkWheel(t *testing.T, target target, python string, files map[string]file) {
	info := "memkernel-" + python + ".dist-info/"
	var tags []string
	for line := range strings.Lines(string(files[info+"WHEEL"].data)) {
		if tag, ok := strings.CutPrefix(strings.TrimSpace(line), "Tag: py3-none-"); ok {
			tags = append(tags, tag)
		}
	}
	if got := strings.Join(tags, "."); got != target.wheel {
		t.Errorf("tags %s, want %s", got, target.wheel)
	}
	if text := string(files[info+"METADATA"].data); !strings.Contains(text, "\nName: memkernel\nVersion: "+python+"\n") {
		t.Errorf("metadata %s", text)
	}
	seen := map[string]bool{info + "RECORD": true}
	for line := range strings.Lines(string(files[info+"RECORD"].data)) {
		parts := strings.Split(strings.TrimSpace(line), ",")
		f, ok := files[parts[0]]
		sum := sha256.Sum256(f.data)
		if !ok || parts[0] != info+"RECORD" && (parts[1] != "sha256="+base64.RawURLEncoding.EncodeToString(sum[:]) || parts[2] != fmt.Sprint(len(f.data))) {
			t.Errorf("the record has %q", line)
		}
		seen[parts[0]] = true
	}
	if len(seen) != len(files) {
		t.Errorf("the record has %d of %d files", len(seen), len(files))
	}
}

// hooks are those of a host's settings.
type hooks struct {
	Hooks map[string][]struct {
		Hooks []struct {
			Name, Type, Command string
			Timeout             int
		}
	}
}

func checkGemini(t *testing.T, target target, version string, files map[string]file) {
	var m struct {
		Name, Version, Description string
		MCPServers                 map[string]struct {
			Command string
			Args    []string
		}
	}
	parsed(t, files["gemini-extension.json"], &m)
	place := "${extensionPath}${/}" + target.program()
	if s := m.MCPServers["memkernel"]; m.Version != version || s.Command != place || len(s.Args) == 0 {
		t.Errorf("%+v", m)
	}
	var h hooks
	parsed(t, files["hooks/hooks.json"], &h)
	want := `"` + place + `" hook --extension --host gemini`
	if target.goos == "windows" {
		want = "& " + want
	}
	for event, groups := range h.Hooks {
		if got := groups[0].Hooks[0].Command; got != want {
			t.Errorf("%s runs %s, want %s", event, got, want)
		}
	}
	if len(h.Hooks) != 5 {
		t.Errorf("hooks at %d events", len(h.Hooks))
	}
}

// manifest is that of a bundle: members beside these are refused.
type manifest struct {
	ManifestVersion                                                       string `json:"manifest_version"`
	Name, Version, Description, Homepage, Documentation, Support, License string
	DisplayName                                                           string `json:"display_name"`
	Author                                                                struct{ Name, URL string }
	Repository                                                            struct{ Type, URL string }
	Keywords                                                              []string
	ToolsGenerated                                                        bool `json:"tools_generated"`
	Compatibility                                                         struct{ Platforms []string }
	Server                                                                struct {
		Type       string
		EntryPoint string `json:"entry_point"`
		MCPConfig  struct {
			Command string
			Args    []string
			Env     map[string]string
		} `json:"mcp_config"`
	}
	UserConfig map[string]struct {
		Type, Title, Description string
		Required                 bool
		Default                  any
	} `json:"user_config"`
}

func checkDesktop(t *testing.T, target target, version string, files map[string]file) {
	var m manifest
	parsed(t, files["manifest.json"], &m)
	carries(t, target, files[m.Server.EntryPoint])
	if m.Version != version || m.Server.MCPConfig.Command != "${__dirname}/"+m.Server.EntryPoint || m.Server.Type != "binary" {
		t.Errorf("%+v", m)
	}
	if system, _, _ := strings.Cut(target.node, "-"); !slices.Equal(m.Compatibility.Platforms, []string{system}) {
		t.Errorf("platforms %v, want %s", m.Compatibility.Platforms, system)
	}
	for _, arg := range m.Server.MCPConfig.Args {
		_, name, asked := strings.Cut(arg, "${user_config.")
		if _, known := m.UserConfig[strings.TrimSuffix(name, "}")]; asked && !known {
			t.Errorf("%s is asked of nobody", arg)
		}
	}
}
