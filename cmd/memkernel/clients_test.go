package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
)

// TestClients runs the clients' own tests against the program, where their languages
// are installed. What they call a server for is tested in module service.
func TestClients(t *testing.T) {
	node, python := version("node", "--version", "v20"), version("python3", "-c", "3.09", "import sys; print('%d.%02d' % sys.version_info[:2])")
	if node == "" && python == "" {
		t.Skip("neither node 20 nor python 3.9 is installed")
	}
	bin, err := exec.LookPath("memkernel") // the one of TestMain
	if err != nil {
		t.Fatal(err)
	}
	type client struct {
		name, program, dir string
		args               []string
	}
	clients := []client{
		{"opencode", node, "../../integrations/opencode", []string{"--test"}}, // which uses the client in TypeScript
		{"typescript", node, "../../integrations/typescript", []string{"--test"}},
		{"python", python, "../../integrations/python", []string{"-B", "-m", "unittest"}},
		{"pi", node, "../../integrations/pi", []string{"--test"}},
	}
	for _, c := range suite.Some(clients, 1) {
		t.Run(c.name, func(t *testing.T) {
			if c.program == "" {
				t.Skip("the language is not installed, or too old")
			}
			cmd := exec.Command(c.program, c.args...)
			cmd.Dir, cmd.Env = c.dir, append(os.Environ(), "MEMKERNEL="+bin)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// version finds a program whose version is at least one, "" if there is none.
func version(name, flag, least string, args ...string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	out, err := exec.Command(path, append([]string{flag}, args...)...).Output()
	if err != nil || len(strings.TrimSpace(string(out))) < len(least) || string(out) < least {
		return ""
	}
	return path
}
