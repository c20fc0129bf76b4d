package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/config"
)

// elsewhere are the settings that are no option of what setup opens: verbs take them.
var elsewhere = []string{"plan.context_window", "plan.reserve"}

// opened is all that a configuration is read into, or why it is refused.
func opened(s *Settings) string {
	k, err1 := s.KernelOptions(nil, nil)
	sum, err2 := s.summaryOptions()
	q, err4 := s.qmdOptions()
	e := s.embedConfig()
	if k != nil {
		k.Memory.Backend.Open, k.Memory.Backend.Rebuild = nil, nil
	}
	return fmt.Sprintf("%+v %v | %+v %v | %+v %v | %+v | %+v | %+v | %+v | %+v | %v %+v", k, err1, sum, err2, q, err4, e,
		s.Retention(), s.PruneOptions(nil), s.AuditOptions(nil), syncOptions(s.Config), s.Config.Workspace.Private, s.summaryConfig())
}

// TestEverySettingReachesWhatItIsFor: no setting is read from the file and then forgotten.
func TestEverySettingReachesWhatItIsFor(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CODEX_HOME", dir)
	if err := os.Mkdir(filepath.Join(dir, "memories"), 0o700); err != nil {
		t.Fatal(err)
	}
	with := func(set func(*config.Config) error) (string, error) {
		c := config.Default()
		if err := set(c); err != nil {
			return "", err
		}
		return opened(&Settings{Workspace: dir, StateDir: dir, Config: c}), nil
	}
	before, _ := with(func(*config.Config) error { return nil })
	if again, _ := with(func(*config.Config) error { return nil }); again != before {
		t.Fatalf("equal settings open other things:\n%s\n%s", before, again)
	}
	for _, k := range config.Default().Keys() {
		var tried []string
		reached := false
		for _, v := range append([]string{"true", "false", "3", "0.25", "7k", "90s", "2s", "0.9", "5", "300", "3000", "20k", "2mb", "70kb", "1gb", "3d", "keep", "http://localhost:1/v1", "postgres://h/d", "other", "[a/b.md]", "A=b", "Europe/Berlin"}, k.Of...) {
			after, err := with(func(c *config.Config) error { return c.Set(k.Name, v, "") })
			if err == nil {
				tried = append(tried, v)
				if reached = after != before; reached {
					break
				}
			}
		}
		takes := false
		for _, e := range elsewhere {
			takes = takes || k.Name == e || strings.HasPrefix(k.Name, e+".")
		}
		switch {
		case len(tried) == 0 && !takes:
			t.Errorf("%s: no value of this test fits it", k.Name)
		case !reached && !takes:
			t.Errorf("%s: %v changes nothing", k.Name, tried)
		case reached && takes:
			t.Errorf("%s is on the list of what verbs take, and is an option", k.Name)
		}
	}
}
