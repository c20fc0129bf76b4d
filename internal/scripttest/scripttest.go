// Package scripttest has the commands that the test scripts of both programs share. It is
// for tests only.
package scripttest

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/memkernel/memkernel/internal/cli"
)

// process guards the folder and the environment of this process. A verb must hold it while it
// changes them.
var process sync.Mutex

var variable = regexp.MustCompile(`\b[A-Z][A-Z0-9_]+\b`)

// Verb returns the command that runs a verb in this process, because starting a program takes
// longer than most verbs. The verb has the folder of the script, and those variables of its
// environment that the script names. A script must use exec for a process that is killed, runs in
// the background, reads an input, or names its own file. Each verb should have a script with
// exec. The parameter scripts is the folder of the scripts. It must be absolute, also in
// [testscript.Params], because verbs change the process's folder. The parameter run is the
// program.
func Verb(scripts string, run func(context.Context, *cli.UI, []string) int) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		script, err := os.ReadFile(filepath.Join(scripts, ts.Name()+".txtar"))
		ts.Check(err)
		verb(ts, neg, args, string(script), run)
	}
}

func verb(ts *testscript.TestScript, neg bool, args []string, script string, run func(context.Context, *cli.UI, []string) int) {
	process.Lock()
	defer process.Unlock()
	folder, err := os.Getwd()
	ts.Check(err)
	defer func(env []string) {
		ts.Check(os.Chdir(folder))
		setEnvironment(ts, env)
	}(os.Environ())
	var env []string
	for _, name := range append(variable.FindAllString(script, -1), "HOME", "PATH", "TMPDIR", "SOCKETS") {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	ts.Check(os.Chdir(ts.MkAbs(".")))
	setEnvironment(ts, env)
	u := &cli.UI{In: strings.NewReader(""), Out: ts.Stdout(), Err: ts.Stderr()}
	if code := run(context.Background(), u, args); (code != 0) != neg {
		ts.Fatalf("exit code %d", code)
	}
}

// setEnvironment makes env the environment of this process. PATH is set at every moment, since
// parallel scripts look for programs in it.
func setEnvironment(ts *testscript.TestScript, env []string) {
	stays := map[string]bool{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		ts.Check(os.Setenv(name, value))
		stays[name] = true
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !stays[name] {
			ts.Check(os.Unsetenv(name))
		}
	}
}

// Citation puts the first word that the last program printed into a variable.
func Citation(ts *testscript.TestScript, neg bool, args []string) {
	place, _, _ := strings.Cut(ts.ReadFile("stdout"), " ")
	ts.Setenv(args[0], place)
}

// Envsubst puts variables of the script's environment into a file, as JSON strings
// have them.
func Envsubst(ts *testscript.TestScript, neg bool, args []string) {
	text := os.Expand(ts.ReadFile(args[0]), func(name string) string {
		return strings.ReplaceAll(ts.Getenv(name), `\`, `\\`)
	})
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
