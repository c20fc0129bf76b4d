package main

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/memkernel/memkernel/internal/suite"
)

// version is what the checkout is released as: its tag, or an invented one.
var version = func() string {
	if tag, err := tagged(root); err == nil && tag != "" {
		return tag
	}
	return "v0.99.0"
}()

// tracked is a file of the checkout, for [modzip.Create]: its name in the module, and the file.
type tracked struct{ name, file string }

func (f tracked) Path() string                 { return f.name }
func (f tracked) Lstat() (os.FileInfo, error)  { return os.Lstat(f.file) }
func (f tracked) Open() (io.ReadCloser, error) { return os.Open(f.file) }

// world is where the go command finds the release, and nothing of the checkout.
type world struct {
	dir string
	env []string
}

// published puts the checkout's tracked files, as the modules of the root and of service, into a
// proxy of files.
func published(t testing.TB) world {
	out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("what would be released is what git tracks, and git can't say: %v", err)
	}
	w := world{dir: t.TempDir()}
	// A tagged service/go.mod has no replace: doc/release.md says how it goes.
	mod := filepath.Join(w.folder(t, "tagged", nil), "go.mod")
	if data, err := os.ReadFile(filepath.Join(root, "service", "go.mod")); err != nil || os.WriteFile(mod, data, 0o644) != nil {
		t.Fatal(err)
	}
	w.command(t, ".", "go", "mod", "edit", "-dropreplace="+modulePath, "-require="+modulePath+"@"+version, mod)
	var files, service []modzip.File
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		f := tracked{name, filepath.Join(root, name)}
		if _, err := f.Lstat(); err != nil {
			continue
		}
		files = append(files, f)
		if f.name, _ = strings.CutPrefix(name, "service/"); f.name == "go.mod" {
			f.file = mod
		}
		if f.name != name {
			service = append(service, f)
		}
	}
	service = append(service, tracked{"LICENSE", filepath.Join(root, "LICENSE")})
	w.publish(t, modulePath, filepath.Join(root, "go.mod"), files)
	w.publish(t, modulePath+"/service", mod, service)
	// The modules that the checkout requires are in this machine's cache then. The cache serves as
	// the network.
	for _, dir := range []string{root, filepath.Join(root, "service")} {
		w.command(t, dir, "go", "mod", "download")
	}
	cache := strings.TrimSpace(w.command(t, ".", "go", "env", "GOMODCACHE"))
	proxies := []string{"file://" + filepath.ToSlash(filepath.Join(w.dir, "proxy")), "file://" + filepath.ToSlash(filepath.Join(cache, "cache", "download")), "off"}
	w.env = []string{
		"GOPROXY=" + strings.Join(proxies, ","), "GONOPROXY=none", "GOSUMDB=off", "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-mod=mod -modcacherw -trimpath",
		"GOMODCACHE=" + filepath.Join(w.dir, "mod"), "GOBIN=" + filepath.Join(w.dir, "bin"),
	}
	return w
}

// publish puts a module with these files into the proxy.
func (w world) publish(t testing.TB, path, mod string, files []modzip.File) {
	t.Helper()
	at := filepath.Join(w.dir, "proxy", filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	packed, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	if err := modzip.Create(packed, module.Version{Path: path, Version: version}, files); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(mod)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": fmt.Sprintf(`{"Version":%q}`, version),
		version + ".mod":  string(text),
	} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// folder is a new one beside the proxy, with these files.
func (w world) folder(t testing.TB, name string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(w.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// command runs a program and gives its standard output.
func (w world) command(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), w.env...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, said.String())
	}
	return string(out)
}

// TestInstallByVersion: the root's release holds no file of another module, and both commands can be
// installed by their version.
func TestInstallByVersion(t *testing.T) {
	if !suite.Long() {
		t.Skip("the whole program is built from an empty module cache: part of make test-long")
	}
	w := published(t)
	z, err := zip.OpenReader(filepath.Join(w.dir, "proxy", filepath.FromSlash(modulePath), "@v", version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		name := strings.TrimPrefix(f.Name, modulePath+"@"+version+"/")
		if strings.HasPrefix(name, "bench/") || strings.HasPrefix(name, "service/") {
			t.Errorf("%s is in the release, though it belongs to a module of its own", name)
		}
	}
	dir := w.folder(t, "anywhere", nil)
	// In this order: once the root's version is in the module cache, Go 1.26.8 looks for the server there
	// alone, unless it is asked for latest.
	for _, path := range []string{"/service/cmd/memkernel-server", "/cmd/memkernel"} {
		w.command(t, dir, "go", "install", modulePath+path+"@"+version)
		name := filepath.Base(path)
		if got := w.command(t, dir, filepath.Join(w.dir, "bin", name), "version"); !strings.Contains(got, version) {
			t.Errorf("%s version says %q, want %s", name, got, version)
		}
	}
}

const embedder = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

func main() {
	k, err := kernel.Open(context.Background(), os.Args[1], nil)
	if err != nil {
		panic(err)
	}
	defer k.Close()
	plan, err := k.PlanContext(context.Background(), api.PlanRequest{SessionKey: "s", Model: "claude-sonnet-4-5",
		Messages: []memkernel.Message{{Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "hello"}}}}})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(plan.Messages) > 0)
}
`

// A program that embeds kernel gets nothing that only the command, the servers or another
// database need.
func TestEmbedKernelAlone(t *testing.T) {
	if !suite.Long() {
		t.Skip("the whole program is built from an empty module cache: part of make test-long")
	}
	w := published(t)
	dir := w.folder(t, "embedder", map[string]string{"go.mod": "module example.com/embedder\n\ngo 1.26\n", "main.go": embedder})
	w.command(t, dir, "go", "get", modulePath+"@"+version)
	if got := w.command(t, dir, "go", "run", ".", w.folder(t, "workspace", nil)); got != "true\n" {
		t.Errorf("the embedder says %q", got)
	}
	unwanted := []string{"github.com/jackc/pgx/v5", "github.com/spf13/cobra", "github.com/modelcontextprotocol/go-sdk"}
	why := w.command(t, dir, "go", append([]string{"mod", "why", "-m"}, unwanted...)...)
	if n := strings.Count(why, "(main module does not need module "); n != len(unwanted) {
		t.Errorf("of %d modules %d are not needed:\n%s", len(unwanted), n, why)
	}
	deps := strings.Fields(w.command(t, dir, "go", "list", "-deps", "."))
	if len(deps) < 100 {
		t.Errorf("%d packages in all: that is no kernel", len(deps))
	}
	for _, d := range deps {
		ours, _ := strings.CutPrefix(d, modulePath+"/")
		for _, p := range append([]string{"service", "index/qmd", "serve", "cmd", "replay", "bench", "summary/model", "github.com/sashabaranov/go-openai"}, unwanted...) {
			if strings.HasPrefix(ours+"/", p+"/") {
				t.Errorf("who embeds kernel gets %s", d)
			}
		}
	}
}
