package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/fakemodel"
)

// editor is a host that has tools and rules, and no more.
type editor struct {
	// name is init's, pkg npm's, program what it installs.
	name, pkg, program string
	// before are the arguments of a first run, nil if it needs none, args those of the
	// question, and after those that end what it left running; env is the environment. {url} is
	// the model's server.
	before, args, after, env []string
}

const question = "who deploys the harbour?"

var editors = []editor{
	{name: "cline", pkg: "cline@3.0.65", program: "cline",
		before: []string{"auth", "openai-compatible", "-k", "none", "-m", "fake-1", "-b", "{url}"},
		args:   []string{"-P", "openai-compatible", "-m", "fake-1", "--json", "-t", "120", question},
		after:  []string{"hub", "stop"}},
	{name: "copilot", pkg: "@github/copilot@1.0.102", program: "copilot",
		args: []string{"-p", question},
		env:  []string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL={url}", "COPILOT_PROVIDER_API_KEY=none", "COPILOT_MODEL=fake-1", "COPILOT_ALLOW_ALL=true"}},
}

// TestEditors has init set up hosts that have tools and rules: the rules stand in each
// prompt, once, the model's search is answered, and uninstall leaves the project as it was.
func TestEditors(t *testing.T) {
	dir, node := installNode(t)
	binary := built(t)
	for _, e := range editors {
		t.Run(e.name, func(t *testing.T) {
			at := filepath.Join(dir, e.name)
			program := filepath.Join(at, "node_modules", ".bin", e.program)
			install(t, program, at, e.pkg, pathWith(node))
			m := fakemodel.New(fakemodel.Options{Script: searches})
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			srv := &http.Server{Handler: m}
			go srv.Serve(l)
			t.Cleanup(func() { srv.Close() })

			home, project := t.TempDir(), t.TempDir()
			if err := os.MkdirAll(filepath.Join(project, "memory"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(project, "memory", "deploys.md"), []byte("# Deploys\n\nKim deploys the harbour on Tuesdays.\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			before := files(t, project)
			run := func(program string, args []string) string {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, program)
				for _, a := range args {
					cmd.Args = append(cmd.Args, strings.ReplaceAll(a, "{url}", "http://"+l.Addr().String()+"/v1"))
				}
				cmd.Dir, cmd.WaitDelay = project, time.Second
				cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+pathWith(node))
				for _, v := range e.env {
					cmd.Env = append(cmd.Env, strings.ReplaceAll(v, "{url}", "http://"+l.Addr().String()+"/v1"))
				}
				var out, errs bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &errs
				if err := cmd.Run(); err != nil {
					t.Fatalf("%s %v: %v\n%s\n%s", program, args, err, tail(out.String(), 20), tail(errs.String(), 20))
				}
				return out.String()
			}
			if e.before != nil {
				run(program, e.before)
			}
			byHand(t, home, run(binary, []string{"init", "--yes", "--json", "--host", e.name}))
			if e.after != nil {
				defer run(program, e.after)
			}
			run(program, e.args)
			asked := m.Requests()
			if len(asked) < 2 {
				t.Fatalf("%d requests", len(asked))
			}
			for i, r := range asked {
				if n := bytes.Count(r.Body, []byte("Memory of this project")); n != 1 {
					t.Errorf("request %d has the rules %d times", i, n)
				}
				if err := r.Pairs(); err != nil {
					t.Errorf("request %d: %v", i, err)
				}
			}
			if last := asked[len(asked)-1]; !bytes.Contains(last.Body, []byte("Kim deploys the harbour on Tuesdays")) {
				t.Errorf("the search was not answered:\n%s", last.Body)
			}
			run(binary, []string{"uninstall", "--yes", "--state"})
			if d := cmp.Diff(before, files(t, project)); d != "" {
				t.Errorf("uninstall left something: %s", d)
			}
		})
	}
}

// searches has the model search memory, and then answer.
func searches(t fakemodel.Turn) fakemodel.Reply {
	if len(t.Results) == 0 {
		for _, name := range t.Tools {
			if strings.HasSuffix(name, "memory_search") {
				return fakemodel.Reply{Calls: []fakemodel.Call{{ID: "call_1", Name: name, Input: json.RawMessage(`{"query":"` + question + `"}`)}}}
			}
		}
	}
	return fakemodel.Reply{Text: "Kim does."}
}

// byHand does what init leaves to a person: it puts the line into the file that is named.
func byHand(t *testing.T, home, doc string) {
	t.Helper()
	var d struct {
		Hosts []struct {
			ByHand []string `json:"by_hand"`
		} `json:"hosts"`
	}
	if err := json.Unmarshal([]byte(doc), &d); err != nil || len(d.Hosts) != 1 {
		t.Fatalf("%v in\n%s", err, doc)
	}
	lines := d.Hosts[0].ByHand
	if len(lines) == 0 {
		return
	}
	path, ok := strings.CutPrefix(lines[0], "# add this to ~")
	if !ok || len(lines) != 2 {
		t.Fatalf("by hand: %q", lines)
	}
	path = filepath.Join(home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(lines[1]), 0o644); err != nil {
		t.Fatal(err)
	}
}

// files are the contents of a folder, by path.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		text := ""
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		out[path] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
