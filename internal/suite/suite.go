// Package suite sets the size of tests. `make test` runs every test in a small version and does not
// sync files to disk. `make test-long` runs every test in full. The package also kills the programs
// of tests in the middle of their writes. It is for tests only.
//
// The environment holds the parameters of the long suite. doc/testing.md lists the parameters.
package suite

import (
	"flag"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// envLong is the variable that selects the long suite if it has any value.
const envLong = "MEMKERNEL_LONG"

// Long reports whether the long suite runs. Processes that a test starts are in the
// same suite.
func Long() bool { return os.Getenv(envLong) != "" }

// Pick returns quick, or long in the long suite.
func Pick[T any](quick, long T) T {
	if Long() {
		return long
	}
	return quick
}

// Some returns n elements of a list, spread evenly. In the long suite it returns the whole list.
func Some[T any](all []T, n int) []T {
	if Long() || n >= len(all) {
		return all
	}
	out := make([]T, n)
	for i := range out {
		out[i] = all[i*len(all)/n]
	}
	return out
}

// Number returns quick. In the long suite, it returns the value of the environment variable env,
// or long if the variable is not set. The test fails if the value is not a number of 0 or more.
func Number(t testing.TB, env string, quick, long int) int {
	t.Helper()
	s := os.Getenv(env)
	if !Long() || s == "" {
		return Pick(quick, long)
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		t.Fatalf("%s=%s: want a number of 0 or more", env, s)
	}
	return n
}

// Quick is called from an init function of a package's tests. Unless the long suite or a
// benchmark runs, Quick does three things. It switches off syncs (see [atomicfile.NoSync]). It makes
// garbage collections rarer, which saves a sixth of the time. It makes properties try checks inputs
// instead of 100, unless checks is 0. GOGC and -rapid.checks override these settings.
func Quick(checks int) {
	bench := slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "-test.bench=") })
	if Long() || bench {
		return
	}
	atomicfile.NoSync()
	inMemory()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if f := flag.Lookup("rapid.checks"); f != nil && checks > 0 {
		if err := f.Value.Set(strconv.Itoa(checks)); err != nil {
			panic(err)
		}
	}
}
