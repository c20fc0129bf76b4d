package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/memkernel/memkernel/internal/suite"
)

// rehearsal is a release whose packages are installed as a person installs them, each into an
// empty home and from files of this machine alone.
type rehearsal struct {
	dir, version, python string
	us                   target
	// tour is how the program's tour begins.
	tour string
	rows []*row
}

// row is a line of the rehearsal's table. Its first failure ends it, and is told in the table.
type row struct {
	testing.TB
	name, from, says string
	lines            int
	took             time.Duration
	why              string
	skipped          bool
	// env is the environment that the package is installed and run in.
	env []string
}

func (r *row) Errorf(format string, args ...any) {
	if r.why == "" {
		r.why = fmt.Sprintf(format, args...)
	}
}
func (r *row) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }
func (r *row) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
func (r *row) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }
func (r *row) Skipf(format string, args ...any) {
	r.skipped = true
	r.Fatalf(format, args...)
}

// install runs f, which installs a package and returns how its program is called, and has the
// program say its version and give the tour.
func (v *rehearsal) install(t testing.TB, name string, f func(r *row) func(args ...string) string) *row {
	r := &row{TB: t, name: name, env: empty(t)}
	began := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		run := f(r)
		said := run("version")
		r.says, _, _ = strings.Cut(strings.TrimSpace(strings.TrimPrefix(said, "memkernel ")), " ")
		if r.says != "v"+v.version {
			r.Fatalf("it says that it is %s, and not v%s", r.says, v.version)
		}
		tour := run("demo")
		if r.lines = strings.Count(tour, "\n"); !strings.HasPrefix(tour, v.tour) {
			r.Fatalf("its tour is not that of README.md:\n%s", tour)
		}
	}()
	<-done
	r.took = time.Since(began)
	v.rows = append(v.rows, r)
	return r
}

// table prints the rows.
func (v *rehearsal) table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "package\tinstalled from\tversion\ttour\tseconds\t")
	for _, r := range v.rows {
		end := strings.Join(strings.Fields(r.why), " ")
		end = end[:min(len(end), 300)]
		switch {
		case r.skipped:
			end = "not tried: " + end
		case r.why == "":
			end = "ok"
		default:
			end = "FAILED: " + end
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d lines\t%.1f\t%s\n", r.name, r.from, r.says, r.lines, r.took.Seconds(), end)
	}
	w.Flush()
	return b.String()
}

// home is the row's home folder.
func (r *row) home() string { return strings.TrimPrefix(r.env[0], "HOME=") }

// caller calls a program in the row's environment, in an empty folder.
func (r *row) caller(name string, before ...string) func(args ...string) string {
	dir := r.TempDir()
	return func(args ...string) string {
		return shell(r, dir, r.env, name, append(slices.Clone(before), args...)...)
	}
}

// file returns the path of a file of the release, and names it in the table.
func (v *rehearsal) file(r *row, format string, args ...any) string {
	r.from = fmt.Sprintf(format, args...)
	return filepath.Join(v.dir, filepath.FromSlash(r.from))
}

// untar unpacks an archive with tar, as people do.
func untar(r *row, file, to string) {
	if err := os.MkdirAll(to, 0o755); err != nil {
		r.Fatal(err)
	}
	shell(r, to, r.env, "tar", "-xpf", file)
	if _, err := os.Stat(filepath.Join(to, "NOTICE")); err == nil {
		return
	}
	if _, err := os.Stat(filepath.Join(to, "usr", "share", "doc", "memkernel", "NOTICE")); err != nil {
		r.Errorf("%s has no NOTICE", filepath.Base(file))
	}
}

func (v *rehearsal) archive(r *row) func(args ...string) string {
	untar(r, v.file(r, "memkernel_%s_%s_%s.tar.gz", v.version, v.us.goos, v.us.goarch), r.home())
	return r.caller(filepath.Join(r.home(), "memkernel"))
}

var (
	formulaArchive = regexp.MustCompile(`on_(\w+) do\n\s+on_(\w+) do\n\s+url "([^"]+)"\n\s+sha256 "([^"]+)"`)
	formulaInstall = regexp.MustCompile(`(?m)^    (\w+)\.install (?:Dir\[)?"([^"]+)"`)
)

// homebrew does by hand what brew does with the formula: it takes the archive for this machine by
// its address, compares the checksum, and installs what the formula names.
func (v *rehearsal) homebrew(r *row) func(args ...string) string {
	formula, err := os.ReadFile(v.file(r, "homebrew/memkernel.rb"))
	if err != nil {
		r.Fatal(err)
	}
	if _, err := exec.LookPath("ruby"); err == nil {
		shell(r, r.home(), r.env, "ruby", "-c", filepath.Join(v.dir, r.from))
	} else {
		r.from += ", by hand without ruby"
	}
	if !bytes.Contains(formula, []byte("\n  version \""+v.version+"\"\n")) {
		r.Fatalf("the formula is of another version:\n%s", formula)
	}
	us := map[string]string{"linux": "linux", "darwin": "macos"}[v.us.goos] + " " + map[string]string{"amd64": "intel", "arm64": "arm"}[v.us.goarch]
	cellar := filepath.Join(r.home(), "cellar")
	for _, m := range formulaArchive.FindAllStringSubmatch(string(formula), -1) {
		if m[1]+" "+m[2] != us {
			continue
		}
		if want := fmt.Sprintf("https://github.com/memkernel/memkernel/releases/download/v%s/", v.version); !strings.HasPrefix(m[3], want) {
			r.Fatalf("the formula takes %s, which is not below %s", m[3], want)
		}
		archive := filepath.Join(v.dir, path.Base(m[3]))
		data, err := os.ReadFile(archive)
		if sum := fmt.Sprintf("%x", sha256.Sum256(data)); err != nil || sum != m[4] {
			r.Fatalf("the formula wants %s with checksum %s, it has %s: %v", path.Base(m[3]), m[4], sum, err)
		}
		untar(r, archive, cellar)
	}
	steps := formulaInstall.FindAllStringSubmatch(string(formula), -1)
	for _, m := range steps {
		found, err := filepath.Glob(filepath.Join(cellar, m[2]))
		if err != nil || len(found) == 0 {
			r.Fatalf("the formula installs %s, which the archive does not have: %v", m[2], err)
		}
		shell(r, r.home(), r.env, "mkdir", "-p", m[1])
		shell(r, r.home(), r.env, "cp", append(found, m[1])...)
	}
	if len(steps) < 5 {
		r.Fatalf("the formula installs only %v", steps)
	}
	return r.caller(filepath.Join(r.home(), "bin", "memkernel"))
}

func (v *rehearsal) npm(r *row) func(args ...string) string {
	needs(r, "npm")
	var asked fetched
	server := httptest.NewServer(registry(r, filepath.Dir(v.file(r, "npm/memkernel-%s.tgz", v.version)), &asked))
	defer server.Close()
	r.from += ", by a registry"
	r.env = append(r.env, "npm_config_registry="+server.URL)
	shell(r, r.home(), r.env, "npm", "install", "-g", "--prefix", r.home(), "memkernel")
	return r.caller(filepath.Join(r.home(), "bin", "memkernel"))
}

func (v *rehearsal) wheel(r *row) func(args ...string) string {
	needs(r, "python3")
	if exec.Command("python3", "-m", "pip", "--version").Run() != nil {
		r.Skipf("python3 has no pip")
	}
	wheels := filepath.Dir(v.file(r, "wheels/memkernel-%s-py3-none-….whl", v.python))
	shell(r, r.home(), r.env, "python3", "-m", "pip", "install", "--no-index", "--find-links", wheels, "--prefix", r.home(), "--ignore-installed", "memkernel=="+v.python)
	if !fileExists(filepath.Join(r.home(), "share", "man", "man1", "memkernel.1")) {
		r.Errorf("pip put no man page there")
	}
	return r.caller(filepath.Join(r.home(), "bin", "memkernel"))
}

func (v *rehearsal) goInstall(r *row) func(args ...string) string {
	w := published(r)
	r.from = "a module proxy of files"
	w.command(r, r.home(), "go", "install", modulePath+"/cmd/memkernel@v"+v.version)
	return r.caller(filepath.Join(w.dir, "bin", "memkernel"))
}

// container runs the image for this machine with nothing but its layers, as its user.
func (v *rehearsal) container(r *row) func(args ...string) string {
	layout := unpacked(r, v.file(r, "container/memkernel_%s.tar", v.version))
	blob := func(d v1.Descriptor, into any) []byte {
		data := layout["blobs/sha256/"+d.Digest.Encoded()].data
		if err := d.Digest.Validate(); err != nil || fmt.Sprintf("%x", sha256.Sum256(data)) != d.Digest.Encoded() || d.Size != int64(len(data)) {
			r.Fatalf("blob %s is damaged or missing: %v", d.Digest, err)
		}
		if into != nil {
			parsed(r, file{name: d.MediaType, data: data}, into)
		}
		return data
	}
	var index v1.Index
	parsed(r, layout[v1.ImageIndexFile], &index)
	if len(index.Manifests) != 1 || index.Manifests[0].Annotations[v1.AnnotationRefName] != v.version {
		r.Fatalf("the layout has %+v, want one index of version %s", index.Manifests, v.version)
	}
	blob(index.Manifests[0], &index)
	place := filepath.Join(r.home(), "root")
	var image v1.Image
	for _, d := range index.Manifests {
		if d.Platform.OS != v.us.goos || d.Platform.Architecture != v.us.goarch {
			continue
		}
		var m v1.Manifest
		blob(d, &m)
		blob(m.Config, &image)
		for i, layer := range m.Layers {
			packed := filepath.Join(r.home(), fmt.Sprintf("%d.tar.gz", i))
			if err := os.WriteFile(packed, blob(layer, nil), 0o600); err != nil {
				r.Fatal(err)
			}
			untar(r, packed, place)
		}
	}
	if image.Config.User != imageUser || image.Config.Labels[v1.AnnotationVersion] != v.version || len(image.RootFS.DiffIDs) != 1 {
		r.Fatalf("the image for this machine is %+v", image)
	}
	// The folders above are of root, which the image's user is not.
	for at := place; strings.HasPrefix(at, filepath.Dir(r.home())); at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			r.Fatal(err)
		}
	}
	return func(args ...string) string {
		cmd := exec.Command(image.Config.Entrypoint[0], append(image.Config.Entrypoint[1:], args...)...)
		cmd.Path, cmd.Dir, cmd.Env = image.Config.Entrypoint[0], image.Config.WorkingDir, image.Config.Env
		confine(r, cmd, place, image.Config.User)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			r.Fatalf("in the image: %v: %s", err, said.String())
		}
		return string(out)
	}
}

func (v *rehearsal) desktop(r *row) func(args ...string) string {
	at := unpack(r, v.file(r, "memkernel_%s_%s_%s.mcpb", v.version, v.us.goos, v.us.goarch))
	server := desktopServer(r, at, r.TempDir())
	answers(r, at, r.env, v.version, server[0], server[1:]...)
	return r.caller(server[0])
}

// onPath unpacks the archive into a folder that is on the row's PATH.
func (v *rehearsal) onPath(r *row) {
	from, bin := r.from, r.TempDir()
	untar(r, v.file(r, "memkernel_%s_%s_%s.tar.gz", v.version, v.us.goos, v.us.goarch), bin)
	r.from = from + ", with the archive"
	r.env = append(r.env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

func (v *rehearsal) claude(r *row) func(args ...string) string {
	at := filepath.Join(unpack(r, v.file(r, "memkernel_%s_claude-code-plugin.zip", v.version)), "integrations", "claude-code")
	v.onPath(r)
	v.hooks(r, at, "hooks/hooks.json")
	v.servers(r, at, ".mcp.json")
	return r.caller("sh", "-c", `memkernel "$@"`, "sh")
}

func (v *rehearsal) codex(r *row) func(args ...string) string {
	at := unpack(r, v.file(r, "memkernel_%s_codex.zip", v.version))
	v.onPath(r)
	v.hooks(r, at, "hooks.json")
	answers(r, r.TempDir(), r.env, v.version, "sh", "-c", "memkernel mcp --private --host codex")
	return r.caller("sh", "-c", `memkernel "$@"`, "sh")
}

func (v *rehearsal) gemini(r *row) func(args ...string) string {
	at := filepath.Join(r.home(), ".gemini", "extensions", "memkernel")
	untar(r, v.file(r, "%s.memkernel.tar.gz", strings.Replace(v.us.node, "-", ".", 1)), at)
	v.hooks(r, at, "hooks/hooks.json")
	v.servers(r, at, "gemini-extension.json")
	return r.caller(filepath.Join(at, "memkernel"))
}

// hostFile reads a file of an extension, with the host's variables filled in.
func hostFile(r *row, at, name string, into any) {
	data, err := os.ReadFile(filepath.Join(at, filepath.FromSlash(name)))
	if err == nil {
		err = json.Unmarshal([]byte(strings.NewReplacer("${extensionPath}", at, "${/}", "/").Replace(string(data))), into)
	}
	if err != nil {
		r.Fatalf("%s: %v", name, err)
	}
}

// servers asks the extension's server of the Model Context Protocol, in a folder that was never
// set up.
func (v *rehearsal) servers(r *row, at, name string) {
	var m struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	hostFile(r, at, name, &m)
	s := m.MCPServers["memkernel"]
	dir := r.TempDir()
	answers(r, dir, r.env, v.version, "sh", append([]string{"-c", `"$0" "$@"`, s.Command}, s.Args...)...)
	if left := everything(r, dir); len(left) > 0 {
		r.Fatalf("the server wrote %v into a folder that was never set up", left)
	}
}

// moments are what hosts tell at the events of a session.
var moments = map[string]string{
	"SessionStart": `"source":"startup"`, "UserPromptSubmit": `"prompt":"What is our staging host called?"`, "BeforeAgent": `"prompt":"What is our staging host called?"`,
	"PostToolUse": `"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls"},"tool_response":{"stdout":"` + strings.Repeat("x", 9000) + `","stderr":""}`,
	"PreCompact":  `"trigger":"auto"`, "PreCompress": `"trigger":"auto"`, "PostCompact": `"trigger":"auto","compact_summary":"The staging host is blue-otter."`,
	"Stop": `"stop_hook_active":false`, "AfterAgent": `"prompt":"x","prompt_response":"y"`, "SessionEnd": `"reason":"other"`,
}

// hooks runs an extension's hooks as its host does. In a folder that was never set up they write
// nothing, and in one with memory they find it.
func (v *rehearsal) hooks(r *row, at, name string) {
	var h hooks
	hostFile(r, at, name, &h)
	project, notes := r.TempDir(), r.TempDir()
	run := func(dir, event string) string {
		command := h.Hooks[event][0].Hooks[0].Command
		transcript := filepath.Join(r.home(), "transcript.jsonl")
		input := fmt.Sprintf(`{"session_id":"s1","transcript_path":%q,"cwd":%q,"hook_event_name":%q,%s}`+"\n", transcript, dir, event, moments[event])
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, append(os.Environ(), r.env...), strings.NewReader(input)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil || said.Len() > 0 {
			r.Fatalf("%s: %v: %s", event, err, said.String())
		}
		return string(out)
	}
	write(r, r.home(), "transcript.jsonl", `{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"2026-11-30T10:00:00Z","message":{"role":"user","content":"We decided to call the staging host blue-otter."}}`+"\n")
	before := everything(r, r.home())
	prompt := ""
	for _, event := range slices.Sorted(maps.Keys(h.Hooks)) {
		if moments[event] == "" {
			r.Fatalf("what does a host tell at %s?", event)
		}
		if strings.Contains(moments[event], `"prompt":"What`) {
			prompt = event
		}
		if said := strings.TrimSpace(run(project, event)); said != "" && said != "{}" {
			r.Fatalf("%s says %s in a folder that was never set up", event, said)
		}
	}
	if left := everything(r, project); len(left) > 0 {
		r.Fatalf("the hooks wrote %v into a folder that was never set up", left)
	}
	if after := everything(r, r.home()); !slices.Equal(after, before) {
		r.Fatalf("the hooks wrote into the home: %v, before %v", after, before)
	}
	program := "memkernel"
	if own := filepath.Join(at, "memkernel"); fileExists(own) {
		program = own
	}
	shell(r, notes, r.env, "sh", "-c", `"$0" "$@"`, program, "remember", "Our staging host is called blue-otter.")
	if said := run(notes, prompt); !strings.Contains(said, "blue-otter") {
		r.Fatalf("%s does not find the note: %s", prompt, said)
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// A release is made, and each of its packages that this machine can run is installed and run.
// Programs for other systems are only built: they are told apart by what is written in them.
func TestReleaseRehearsed(t *testing.T) {
	built := targets
	switch us := here(t); {
	case suite.Long():
	case os.Getenv("MEMKERNEL_REHEARSE") != "":
		built = []target{us}
	default:
		t.Skip("programs are built: part of make rehearse, make test-release and make test-long")
	}
	number := strings.TrimPrefix(version, "v")
	v := &rehearsal{dir: filepath.Join(t.TempDir(), "release"), version: number, us: here(t)}
	var err error
	if v.python, err = pythonVersion(number); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(readme), "<!-- demo")
	_, shown, _ = strings.Cut(shown, "```\n")
	if v.tour, _, _ = strings.Cut(shown, "```\n"); v.tour == "" {
		t.Fatal("README.md shows no tour")
	}
	var said strings.Builder
	if err := run(tree(t, version), v.dir, false, built, &said); err != nil {
		t.Fatal(err)
	}
	t.Log(said.String())
	if notes, err := os.ReadFile(filepath.Join(v.dir, "notes.md")); err != nil || len(bytes.TrimSpace(notes)) == 0 {
		t.Errorf("notes %.80q, %v", notes, err)
	}
	checkSums(t, v.dir)
	for _, p := range []struct {
		name    string
		install func(r *row) func(args ...string) string
	}{
		{"archive", v.archive}, {"Homebrew", v.homebrew}, {"npm", v.npm}, {"wheel", v.wheel}, {"container", v.container}, {"Claude Desktop", v.desktop},
		{"Claude Code", v.claude}, {"Codex", v.codex}, {"Gemini CLI", v.gemini}, {"Go", v.goInstall},
	} {
		t.Run(p.name, func(t *testing.T) {
			if r := v.install(t, p.name, p.install); r.why != "" && !r.skipped {
				t.Error(r.why)
			}
		})
	}
	table := v.table()
	for _, target := range targets {
		if target != v.us {
			how := "only built: nobody has run it here"
			if len(built) == 1 {
				how = "not built: make test-release builds it"
			}
			table += fmt.Sprintf("%s: %s\n", target, how)
		}
	}
	fmt.Print(table)
	if len(built) < len(targets) {
		return
	}
	checkPackages(t, v.dir, number, v.python)
	each(t, v.dir, number, "memkernel_VERSION_SYSTEM.EXT", func(t *testing.T, target target, files map[string]file) {
		checkProgram(t, target, files[target.program()].data, number)
	})
	t.Run("npm installs", func(t *testing.T) { npmInstalls(t, v.dir, number) })
}

func TestPipInstalls(t *testing.T) {
	v := &rehearsal{dir: fakeRelease(t, "1.2.3-rc.1").dir, version: "1.2.3-rc.1", python: "1.2.3rc1", us: here(t), tour: "memkernel v1.2.3-rc.1 demo\n"}
	switch r := v.install(t, "wheel", v.wheel); {
	case r.skipped:
		t.Skip(r.why)
	case r.why != "":
		t.Error(r.why)
	}
}

// The rehearsal finds a package that is not of its version, that is damaged, or that lacks the
// licences, and passes one that is right.
func TestRehearsalFindsFaults(t *testing.T) {
	us := here(t)
	of := func(p *packer) *rehearsal {
		return &rehearsal{dir: p.dir, version: "1.2.3", python: "1.2.3", us: us, tour: "memkernel v1.2.3 demo\n"}
	}
	archive := fmt.Sprintf("memkernel_1.2.3_%s_%s.tar.gz", us.goos, us.goarch)
	for name, c := range map[string]struct {
		says  string
		spoil func(p *packer)
		why   string
	}{
		"right":         {says: "1.2.3"},
		"wrong version": {says: "1.2.2", why: "it says that it is v1.2.2, and not v1.2.3"},
		"no licences": {says: "1.2.3", why: archive + " has no NOTICE", spoil: func(p *packer) {
			p.pack(archive, []file{{"memkernel", []byte("#!/bin/sh\necho memkernel v1.2.3 \"$@\"\n"), 0o755}})
		}},
		"another tour": {says: "1.2.3", why: "its tour is not that of README.md", spoil: func(p *packer) {
			p.pack(archive, []file{{"NOTICE", nil, 0o644}, {"memkernel", []byte("#!/bin/sh\necho memkernel v1.2.3\n"), 0o755}})
		}},
		"damaged": {says: "1.2.3", why: "tar -xpf", spoil: func(p *packer) { p.keep(archive, []byte("x"), nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			p := fakeReleaseOf(t, "1.2.3", c.says)
			if c.spoil != nil {
				if c.spoil(p); p.err != nil {
					t.Fatal(p.err)
				}
			}
			v := of(p)
			r := v.install(t, "archive", v.archive)
			if !strings.HasPrefix(r.why, c.why) || (r.why == "") != (c.why == "") || strings.Contains(v.table(), "FAILED") != (c.why != "") {
				t.Errorf("it finds %q, want %q\n%s", r.why, c.why, v.table())
			}
			if brew := v.install(t, "Homebrew", v.homebrew); (brew.why == "") != (c.why == "") {
				t.Errorf("Homebrew finds %q", brew.why)
			}
		})
	}
}
