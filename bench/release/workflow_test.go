package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// The workflow publishes every file of a release once, by targets that the Makefile has.
func TestWorkflow(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".github", "workflows", "release.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var flow struct {
		Jobs map[string]struct {
			Needs string
			Steps []struct {
				Uses, Run string
				With      map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &flow); err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var patterns []string
	for name, job := range flow.Jobs {
		if name != "make" && job.Needs != "make" {
			t.Errorf("%s does not wait for what is published", name)
		}
		for _, step := range job.Steps {
			if target, ok := strings.CutPrefix(step.Run, "make "); ok && !strings.Contains(string(makefile), "\n"+target+":") {
				t.Errorf("the Makefile has no target %s", target)
			}
			script := strings.ReplaceAll(step.Run, `"${TAG#v}"`, "1.2.3")
			for _, m := range regexp.MustCompile(`(?:^|\s)release/([^\s;]+)`).FindAllStringSubmatch(script, -1) {
				patterns = append(patterns, m[1])
			}
			if dir, ok := strings.CutPrefix(step.With["packages-dir"], "release/"); ok {
				patterns = append(patterns, dir+"/*")
			}
		}
	}
	for _, file := range names("1.2.3", "1.2.3") {
		by := slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { ok, err := path.Match(p, file); return err != nil || !ok })
		if len(by) != 1 {
			t.Errorf("%s is published by %v", file, by)
		}
	}
}
