package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// The workflow publishes every file of a release once, in the job of its channel, by targets that
// the Makefile has. Actions are named by a version.
func TestWorkflow(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".github", "workflows", "release.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var flow struct {
		Jobs map[string]struct {
			Needs any
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
	type publication struct{ job, pattern string }
	var published []publication
	for name, job := range flow.Jobs {
		if name != "make" && !strings.Contains(fmt.Sprint(job.Needs), "make") {
			t.Errorf("%s does not wait for what is published", name)
		}
		for _, step := range job.Steps {
			if target, ok := strings.CutPrefix(step.Run, "make "); ok && !strings.Contains(string(makefile), "\n"+target+":") {
				t.Errorf("the Makefile has no target %s", target)
			}
			if ok, err := regexp.MatchString(`^(|[\w-]+/[\w-]+@(release/)?v\d+)$`, step.Uses); err != nil || !ok {
				t.Errorf("%s is of no version", step.Uses)
			}
			script := strings.ReplaceAll(step.Run, `"${TAG#v}"`, "1.2.3")
			for _, m := range regexp.MustCompile(`(?:^|[\s:])release/([^\s;]+)`).FindAllStringSubmatch(script, -1) {
				if m[1] != "notes.md" {
					published = append(published, publication{name, m[1]})
				}
			}
			if dir, ok := strings.CutPrefix(step.With["packages-dir"], "release/"); ok {
				published = append(published, publication{name, dir + "/*"})
			}
		}
	}
	for _, file := range names("1.2.3", "1.2.3") {
		if file == "notes.md" {
			continue // it becomes the text of the release
		}
		by := slices.DeleteFunc(slices.Clone(published), func(p publication) bool { ok, err := path.Match(p.pattern, file); return err != nil || !ok })
		if len(by) != 1 || by[0].job != channelOf(file) {
			t.Errorf("%s is published by %v, want by %s alone", file, by, channelOf(file))
		}
	}
	for _, c := range channels {
		if _, ok := flow.Jobs[c.name]; !ok && c.name != "gemini" {
			t.Errorf("no job publishes on %s", c.name)
		}
	}
}
