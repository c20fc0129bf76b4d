package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/fakemodel"
)

const frameworks = "../../integrations/frameworks"

// TestFrameworks runs the packages for agent frameworks against the real frameworks, of
// which npm installs what their manifests name. Ours are installed as npm packs them.
func TestFrameworks(t *testing.T) {
	if os.Getenv("MEMKERNEL_FRAMEWORKS") == "" {
		t.Skip("real frameworks run by make test-frameworks (MEMKERNEL_FRAMEWORKS=1)")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s: the frameworks' packages can't be tested here", program)
		}
	}
	binary := filepath.Join(t.TempDir(), "memkernel")
	run(t, ".", nil, "go", "build", "-o", binary, "../../cmd/memkernel")
	client := pack(t, "../../integrations/typescript")
	for _, name := range packages(t) {
		t.Run(name, func(t *testing.T) {
			had(t, frameworkTitles[name])
			dir := app(t, name)
			talked := filepath.Join(t.TempDir(), "talked.jsonl")
			npmInstalls(t, dir, registered(t, name)...)
			run(t, dir, nil, "npm", append(quietInstall, "--offline", client, pack(t, filepath.Join(frameworks, name)), pack(t, filepath.Join(frameworks, "testing")))...)
			tests, err := filepath.Glob(filepath.Join(frameworks, name, "*.test.js"))
			if err != nil || len(tests) == 0 {
				t.Fatalf("%s has no tests: %v", name, err)
			}
			args := []string{"--test"}
			for _, test := range tests {
				data, err := os.ReadFile(test)
				if err != nil {
					t.Fatal(err)
				}
				args = append(args, filepath.Base(test))
				put(t, filepath.Join(dir, filepath.Base(test)), string(data))
			}
			out := run(t, dir, []string{"MEMKERNEL=" + binary, "MEMKERNEL_TALKED=" + talked}, nodeFor(t, name), args...)
			if !regexp.MustCompile(`(?m)^(# |ℹ )pass [1-9]`).MatchString(out) || regexp.MustCompile(`(?m)^(# |ℹ )skipped [1-9]`).MatchString(out) {
				t.Errorf("not every test ran:\n%s", tail(out, 12))
			}
			t.Log(name, "on", strings.Join(registered(t, name), ", "))
			r := rowOf(t, talked)
			r.Title, r.Version, r.Through = frameworkTitles[name], frameworkVersion(t, name), "package"
			record(t, r)
		})
	}
}

// nodeFor is the node that runs a package's tests: the machine's, or where that is older than
// the package says, the one that versions.json names.
func nodeFor(t *testing.T, name string) string {
	t.Helper()
	var m manifest
	read(t, filepath.Join(frameworks, name, "package.json"), &m)
	least, ok := strings.CutPrefix(m.Engines.Node, ">=")
	if !ok {
		t.Fatalf("%s: engines.node is %q, want >=VERSION", name, m.Engines.Node)
	}
	own, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(run(t, ".", nil, "node", "--version")), "v"), "-")
	if slices.Compare(numbers(t, own), numbers(t, least)) >= 0 {
		return "node"
	}
	_, node := pinnedNode(t)
	return node
}

// numbers are those of a version.
func numbers(t *testing.T, version string) (out []int) {
	t.Helper()
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			t.Fatalf("%q is no version: %v", version, err)
		}
		out = append(out, n)
	}
	return out
}

// frameworkVersion is that of the framework among what a package's tests need: of what the
// package asks its users for, the one with the shortest name.
func frameworkVersion(t *testing.T, name string) string {
	t.Helper()
	var m manifest
	read(t, filepath.Join(frameworks, name, "package.json"), &m)
	best := ""
	for pkg := range m.PeerDependencies {
		if best == "" || len(pkg) < len(best) {
			best = pkg
		}
	}
	return m.DevDependencies[best]
}

// rowOf has the conversations that a package's tests judged, whose requests they wrote down,
// billed by the fake model as those of hosts are.
func rowOf(t *testing.T, path string) (r row) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type asked struct{ Path, Body string }
	billed := func(list []asked) float64 {
		m := fakemodel.New(fakemodel.Options{})
		for _, a := range list {
			m.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, a.Path, strings.NewReader(a.Body)))
		}
		for _, v := range m.Violations() {
			r.Violations++
			t.Error(v.Rule)
		}
		r.Requests += len(list)
		return bill(m.Requests())
	}
	for line := range bytes.Lines(data) {
		var talk struct {
			Turns         int
			With, Without []asked
		}
		if err := json.Unmarshal(line, &talk); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		r.Turns += talk.Turns
		r.With += billed(talk.With)
		r.Without += billed(talk.Without)
	}
	r.Framework, r.Recall = true, yes // the tests fail where memory is not recalled
	return r
}

// TestFrameworksManifests: what is installed is named exactly, and the client is the one of
// this tree.
func TestFrameworksManifests(t *testing.T) {
	var client manifest
	read(t, "../../integrations/typescript/package.json", &client)
	for _, name := range packages(t) {
		var m manifest
		read(t, filepath.Join(frameworks, name, "package.json"), &m)
		if m.Dependencies["memkernel-client"] != client.Version {
			t.Errorf("%s wants the client %q, which is %s", name, m.Dependencies["memkernel-client"], client.Version)
		}
		for pkg := range m.PeerDependencies {
			if m.DevDependencies[pkg] == "" {
				t.Errorf("%s: the version of %s that its tests run against is not named", name, pkg)
			}
		}
		for pkg, version := range m.DevDependencies {
			if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(version) {
				t.Errorf("%s: %s is not pinned: %q", name, pkg, version)
			}
		}
		for _, file := range append([]string{"README.md"}, m.Files...) {
			if _, err := os.Stat(filepath.Join(frameworks, name, file)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		locks, err := filepath.Glob(filepath.Join(frameworks, name, "*lock*"))
		if err != nil || len(locks) > 0 {
			t.Errorf("%s: a lockfile holds a registry's address: %v (%v)", name, locks, err)
		}
	}
}

type manifest struct {
	Name, Version    string
	Files            []string
	Dependencies     map[string]string
	PeerDependencies map[string]string
	DevDependencies  map[string]string
	Engines          struct{ Node string }
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// frameworkTitles are what the frameworks call themselves, by the folders of our packages.
var frameworkTitles = map[string]string{"adk": "Google ADK (JS)", "ai-sdk": "Vercel AI SDK", "anthropic": "Anthropic SDK", "langchain": "LangChain, LangGraph (JS)",
	"llamaindex": "LlamaIndex.TS", "mastra": "Mastra", "openai-agents": "OpenAI Agents SDK (JS)"}

// frameworkNames are the folders of frameworks, in order.
func frameworkNames() []string { return slices.Sorted(maps.Keys(frameworkTitles)) }

// packages are the folders of frameworks.
func packages(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(frameworks, "*", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range paths {
		if name := filepath.Base(filepath.Dir(p)); name != "testing" {
			out = append(out, name)
		}
	}
	if d := cmp.Diff(frameworkNames(), out); d != "" {
		t.Fatalf("not every package has a title (-titles +folders): %s", d)
	}
	return out
}

// registered is what npm's registry has of what a package's tests need.
func registered(t *testing.T, name string) (out []string) {
	var m manifest
	read(t, filepath.Join(frameworks, name, "package.json"), &m)
	for pkg, version := range m.DevDependencies {
		out = append(out, pkg+"@"+version)
	}
	slices.Sort(out)
	return out
}

// app is an application's folder, which MEMKERNEL_E2E_DIR keeps.
func app(t *testing.T, name string) string {
	dir := t.TempDir()
	if keep := os.Getenv("MEMKERNEL_E2E_DIR"); keep != "" {
		dir = filepath.Join(keep, "frameworks", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "package.json")); err != nil {
		put(t, filepath.Join(dir, "package.json"), `{"private":true,"type":"module"}`)
	}
	return dir
}

var quietInstall = []string{"install", "--no-audit", "--no-fund", "--package-lock=false"}

// npmInstalls has npm install packages from its registry, or skips the test.
func npmInstalls(t *testing.T, dir string, pkgs ...string) {
	t.Helper()
	cmd := exec.Command("npm", append(append(quietInstall, "--save-exact"), pkgs...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("npm can't install %s, so that its package is not tested: %v\n%s", strings.Join(pkgs, ", "), err, tail(string(out), 5))
	}
}

// pack is a package as npm would publish it.
func pack(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	run(t, to, nil, "npm", "pack", "--silent", abs)
	made, err := filepath.Glob(filepath.Join(to, "*.tgz"))
	if err != nil || len(made) != 1 {
		t.Fatalf("npm packed %v of %s: %v", made, dir, err)
	}
	return made[0]
}

func run(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
