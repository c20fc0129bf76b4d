package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// target is a system for which there is a program.
type target struct {
	goos, goarch string
	// node and wheel are the names of the system in npm's packages and in wheels.
	node, wheel string
}

// targets are all systems with a program. A static Go program runs on every Linux, with any C
// library. For macOS the entry names the oldest version that Go supports.
var targets = []target{
	{"linux", "amd64", "linux-x64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "linux-arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "darwin-x64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "darwin-arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win32-x64", "win_amd64"},
	{"windows", "arm64", "win32-arm64", "win_arm64"},
}

func (t target) String() string { return t.goos + "/" + t.goarch }

// program returns the name of the program on the system.
func (t target) program() string {
	if t.goos == "windows" {
		return "memkernel.exe"
	}
	return "memkernel"
}

// archive returns the ending of the name of the system's archives.
func (t target) archive() string {
	if t.goos == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// program is a program that was built.
type program struct {
	target
	path string
	info *buildinfo.BuildInfo
}

// build builds the command for each target into a folder, which must be an absolute path. It
// returns an error if a program does not carry the tag's version. The version of a snapshot is
// the version that its programs carry.
func (c *checkout) build(dir string, targets []target, say io.Writer) ([]program, error) {
	var out []program
	for _, t := range targets {
		fmt.Fprintf(say, "build for %s\n", t)
		path := filepath.Join(dir, t.goos+"-"+t.goarch, t.program())
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", path, "./cmd/memkernel")
		cmd.Dir = c.root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+t.goos, "GOARCH="+t.goarch, "GOAMD64=v1", "GOARM64=v8.0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build for %s: %w\n%s", t, err, text)
		}
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read what was built for %s: %w", t, err)
		}
		version, _, _ := strings.Cut(strings.TrimPrefix(info.Main.Version, "v"), "+")
		if version == "(devel)" {
			return nil, fmt.Errorf("Go finds no version in %s: commit the changes, or take a clone where this is a linked worktree", c.root)
		}
		if c.version == "" {
			c.version = version
		}
		if version != c.version {
			return nil, fmt.Errorf("the program for %s says that it is %s, and not %s", t, info.Main.Version, c.version)
		}
		out = append(out, program{t, path, info})
	}
	return out, nil
}

// shells lists the shells with completions, and the names of the completion files.
var shells = [][2]string{{"bash", "memkernel.bash"}, {"zsh", "_memkernel"}, {"fish", "memkernel.fish"}, {"powershell", "memkernel.ps1"}}

// documents runs the program for this machine to write its man pages and completions.
func documents(programs []program, dir string) ([]file, error) {
	var self string
	for _, p := range programs {
		if p.goos == runtime.GOOS && p.goarch == runtime.GOARCH {
			self = p.path
		}
	}
	if self == "" {
		return nil, fmt.Errorf("man pages and completions are written by the program itself, and none of those built runs on %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	// The program runs in an empty home and folder, so that no configuration has an effect.
	ask := func(args ...string) ([]byte, error) {
		cmd := exec.Command(self, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "USERPROFILE="+dir)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("memkernel %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
		}
		return out, nil
	}
	names, err := ask("__complete", "help", "")
	if err != nil {
		return nil, err
	}
	var out []file
	for line := range strings.SplitSeq("\tplan what a model gets to see\n"+string(names), "\n") {
		verb, short, ok := strings.Cut(line, "\t")
		if !ok {
			break
		}
		help, err := ask(strings.Fields("help " + verb)...)
		if err != nil {
			return nil, err
		}
		out = append(out, manPage(strings.TrimSuffix("memkernel-"+verb, "-"), short, string(help)))
	}
	for _, shell := range shells {
		text, err := ask("completion", shell[0])
		if err != nil {
			return nil, err
		}
		out = append(out, file{"completions/" + shell[1], text, 0o644})
	}
	return out, nil
}

// manPage is the help on a verb as a page for man.
func manPage(name, short, help string) file {
	text := strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace(help)
	return file{"man/" + name + ".1", fmt.Appendf(nil, ".TH %[1]s 1\n.SH NAME\n%[1]s \\- %[2]s\n.SH DESCRIPTION\n.nf\n%[3]s.fi\n", name, short, text), 0o644}
}
