package databases

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
)

func init() { config.ForServer() }

// TestEverySettingReachesWhatItIsFor: no setting of a database is read from the file and then
// forgotten.
func TestEverySettingReachesWhatItIsFor(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("KEYS_DSN", "said")
	with := func(set func(*config.Config) error) (string, error) {
		c := config.Default()
		c.Store.Postgres.DSNEnv, c.Store.Postgres.Root = "KEYS_DSN", "keys"
		if err := set(c); err != nil {
			return "", err
		}
		s := &cli.Settings{Workspace: dir, StateDir: dir, Config: c}
		p, err1 := postgresOptions(s)
		shared := p.Private != nil && !p.Private("memory/a.md")
		p.Private = nil
		at, err2 := database(s)
		return fmt.Sprintf("%s %s %+v %v | %+v %v %v", c.Store.Backend, c.Store.Workspace, at, err2, p, err1, shared), nil
	}
	before, _ := with(func(*config.Config) error { return nil })
	n := 0
	for _, k := range config.Default().Keys() {
		if !strings.HasPrefix(k.Name, "store.") && !strings.HasPrefix(k.Name, "index.postgres.") {
			continue
		}
		n++
		reached := false
		for _, v := range append([]string{"false", "2s", "70kb", "http://localhost:1/v1", "postgres://h/d", "OTHER"}, k.Of...) {
			after, err := with(func(c *config.Config) error { return c.Set(k.Name, v, "") })
			reached = reached || err == nil && after != before
		}
		if !reached {
			t.Errorf("%s changes nothing", k.Name)
		}
	}
	if n != 10 {
		t.Errorf("%d settings", n)
	}
}

// TestSecretsAreNotRepeated puts a secret where it does not belong.
func TestSecretsAreNotRepeated(t *testing.T) {
	const secret = "sk-live-4711"
	for _, text := range []string{
		"dsn: postgres://me:" + secret + "@localhost/x",
		"dsn: host=localhost password=" + secret,
		"dsn: " + secret,
		"dsn_env: " + secret,
	} {
		_, err := config.Read(strings.NewReader("index:\n  postgres:\n    "+text), "c.yaml")
		var e *config.Error
		if !errors.As(err, &e) || strings.Contains(err.Error()+e.Hint, secret) {
			t.Errorf("%q: error is %v", text, err)
		}
	}
}
