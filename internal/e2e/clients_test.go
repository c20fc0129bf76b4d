package e2e

import (
	"github.com/memkernel/memkernel/internal/suite"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestPlugin runs the OpenClaw plugin's own tests against the program, where there is
// a node that can.
func TestPlugin(t *testing.T) {
	if !suite.Long() && os.Getenv("MEMKERNEL_E2E") == "" {
		t.Skip("the long suite and make e2e run the plugin's tests")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if v, err := exec.Command(node, "--version").Output(); err != nil || strings.TrimSpace(string(v)) < "v20" || len(strings.SplitN(string(v), ".", 2)[0]) < len("v20") {
		t.Skipf("node is %s, want v20 or later", v)
	}
	cmd := exec.Command(node, "--test", "test/plugin.test.js")
	cmd.Dir, cmd.Env = pluginDir(t), append(os.Environ(), "MEMKERNEL="+built(t))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
