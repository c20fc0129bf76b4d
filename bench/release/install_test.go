package main

import (
	"bufio"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
)

// here is the target that this machine runs.
func here(t testing.TB) target {
	t.Helper()
	for _, target := range targets {
		if target.goos == runtime.GOOS && target.goarch == runtime.GOARCH && target.goos != "windows" {
			return target
		}
	}
	t.Skipf("no package is for %s/%s, or none is tried there", runtime.GOOS, runtime.GOARCH)
	return target{}
}

// empty is the environment of a user who has nothing yet, and no network but this machine.
func empty(t testing.TB) []string {
	home := t.TempDir()
	return []string{"HOME=" + home, "XDG_CACHE_HOME=" + home + "/.cache", "XDG_CONFIG_HOME=" + home + "/.config", "npm_config_cache=" + home + "/.npm",
		"npm_config_userconfig=" + home + "/.npmrc", "npm_config_globalconfig=" + home + "/npmrc", "npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false",
		"PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_CONFIG_FILE=/dev/null",
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost"}
}

// npmInstalls installs the packages of a release as files, and by a registry that has
// them, each into an empty home, and runs what is there. It returns the folder of the
// first.
func npmInstalls(t testing.TB, dir, version string) string {
	needs(t, "npm")
	us := here(t)
	says := func(what, got string) {
		if !strings.HasPrefix(got, "memkernel v"+version+" ") {
			t.Errorf("%s says %q, want version %s", what, got, version)
		}
	}
	tarballs, err := filepath.Abs(filepath.Join(dir, "npm"))
	if err != nil {
		t.Fatal(err)
	}
	project, env := t.TempDir(), empty(t)
	write(t, project, "package.json", `{"private": true}`)
	shell(t, project, env, "npm", "install", "--offline", filepath.Join(tarballs, "memkernel-"+version+".tgz"), filepath.Join(tarballs, "memkernel-"+us.node+"-"+version+".tgz"))
	says("npx of what was installed", shell(t, project, append(env, "npm_config_offline=true"), "npx", "--no", "memkernel", "version"))

	var asked fetched
	r := httptest.NewServer(registry(t, tarballs, &asked))
	defer r.Close()
	online := append(empty(t), "npm_config_registry="+r.URL)
	says("npx", shell(t, t.TempDir(), online, "npx", "--yes", "memkernel", "version"))
	if suite.Long() {
		notes := t.TempDir()
		shell(t, notes, online, "npx", "--yes", "memkernel", "init", "--yes", "--host", "claude")
		text, err := os.ReadFile(filepath.Join(notes, ".mcp.json"))
		if err != nil || !strings.Contains(string(text), "/@memkernel/"+us.node+"/bin/memkernel") {
			t.Errorf("npx memkernel init wrote %s, %v", text, err)
		}
		wraps(t, notes, online)
	}
	for _, target := range targets {
		if name := "memkernel-" + target.node + "-" + version + ".tgz"; asked.has(name) != (target == us) {
			t.Errorf("%s was fetched: %v", name, asked.has(name))
		}
	}
	return project
}

// fetched are the files that were asked for.
type fetched struct{ sync.Map }

func (f *fetched) has(name string) bool {
	_, ok := f.Load(name)
	return ok
}

// registry serves the packages in a folder as npm's does, and notes which were fetched.
func registry(t testing.TB, dir string, asked *fetched) http.Handler {
	paths, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no packages in %s: %v", dir, err)
	}
	documents := map[string]func(host string) map[string]any{}
	for _, path := range paths {
		var m map[string]any
		if err := json.Unmarshal(unpacked(t, path)["package/package.json"].data, &m); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha512.Sum512(data)
		name, version := m["name"].(string), m["version"].(string)
		documents[name] = func(host string) map[string]any {
			m["dist"] = map[string]any{"tarball": "http://" + host + "/-/" + filepath.Base(path), "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
			return map[string]any{"name": name, "dist-tags": map[string]any{"latest": version}, "versions": map[string]any{version: m}}
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := strings.CutPrefix(r.URL.Path, "/-/"); ok {
			asked.Store(name, true)
			http.ServeFile(w, r, filepath.Join(dir, filepath.Base(name)))
			return
		}
		name, err := url.PathUnescape(strings.TrimPrefix(r.URL.Path, "/"))
		if document := documents[name]; err == nil && document != nil {
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(document(r.Host)); err != nil {
				t.Error(err)
			}
			return
		}
		http.NotFound(w, r)
	})
}

// The command that npm installs stands for the program: arguments, exit code and signals.
func TestNPMInstalls(t *testing.T) {
	project := npmInstalls(t, fakeRelease(t, "1.2.3").dir, "1.2.3")
	launcher := filepath.Join(project, "node_modules", ".bin", "memkernel")
	if got := shell(t, project, nil, launcher, "a b", "--c=$d"); got != "memkernel v1.2.3 a b --c=$d\n" {
		t.Errorf("it got %q", got)
	}
	var failed *exec.ExitError
	if err := exec.Command(launcher, "exit", "3").Run(); !errors.As(err, &failed) || failed.ExitCode() != 3 {
		t.Errorf("exit code 3 became %v", err)
	}

	cmd := exec.Command(launcher, "wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "waiting" {
		t.Fatalf("it says %q", lines.Text())
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || lines.Text() != "told" {
		t.Errorf("it says %q", lines.Text())
	}
	if err := cmd.Wait(); !errors.As(err, &failed) || failed.ExitCode() != 7 {
		t.Errorf("exit code 7 became %v", err)
	}

	if err := os.RemoveAll(filepath.Join(project, "node_modules", "@memkernel")); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(launcher, "version").CombinedOutput()
	want := fmt.Sprintf("memkernel: the package @memkernel/%s is missing: install memkernel again, without --omit=optional\n", here(t).node)
	if !errors.As(err, &failed) || failed.ExitCode() != 1 || string(said) != want {
		t.Errorf("without its program: %v\n%s", err, said)
	}
}
