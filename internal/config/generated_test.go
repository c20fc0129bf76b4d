package config_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/config"
)

// TestSample takes the # away from every setting of the sample: they are all
// there, and are the defaults.
func TestSample(t *testing.T) {
	sample := config.Sample()
	for i, l := range strings.Split(sample, "\n") {
		if len(l) > 80 {
			t.Errorf("line %d is over 80 columns: %s", i+1, l)
		}
	}
	c := read(t, regexp.MustCompile(`(?m)^( *)#(\w)`).ReplaceAllString(sample, "$1$2"))
	if diff := cmp.Diff(values(config.Default()), values(c)); diff != "" {
		t.Errorf("the sample is not the defaults: %s", diff)
	}
	for _, k := range c.Keys() {
		if c.Origin(k.Name) == (config.Origin{}) {
			t.Errorf("the sample does not hold %s", k.Name)
		}
	}
}

// TestYAML: what is printed names where every value came from.
func TestYAML(t *testing.T) {
	c := read(t, "plan:\n  reserve: 9k\n")
	if err := c.Set("audit.host", "codex", "--host"); err != nil {
		t.Fatal(err)
	}
	text := c.YAML()
	for _, want := range []string{`(?m)^  reserve: 9k +# dir.config.yaml:2$`, `(?m)^  host: codex +# --host$`, `(?m)^  half_life: 30d +# default$`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}
