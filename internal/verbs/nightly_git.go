package verbs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/memkernel/memkernel/internal/cli"
)

// commits makes commits of memory's files in the workspace at dir. made lists the commits.
type commits struct {
	dir  string
	made []string
}

// git runs git in the workspace.
func (g *commits) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", g.dir}, args...)...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

// commit commits only memory's files. It commits no other files of a repository that contains the
// workspace, and no staged changes. It makes no commit if nothing has changed.
func (g *commits) commit(ctx context.Context, message string) error {
	if _, err := g.git(ctx, "rev-parse", "--is-inside-work-tree"); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return cli.Hint(err, "install git, or leave out --git")
		}
		return cli.Hint(err, "make the workspace a repository with 'git init', or leave out --git")
	}
	paths := []string{"--", ":(glob)*.md", ":(glob)memory/**/*.md"}
	changed, err := g.git(ctx, append([]string{"status", "--porcelain", "--untracked-files=all"}, paths...)...)
	if err != nil || changed == "" {
		return err
	}
	if _, err := g.git(ctx, append([]string{"add", "--all"}, presentPaths(changed)...)...); err != nil {
		return err
	}
	if _, err := g.git(ctx, append([]string{"commit", "--quiet", "--only", "--message", "memory: " + message}, presentPaths(changed)...)...); err != nil {
		return cli.Hint(err, "git must be able to commit here: a name and an address, and no hook that refuses")
	}
	id, err := g.git(ctx, "rev-parse", "--short", "HEAD")
	if err == nil {
		g.made = append(g.made, id+" "+message)
	}
	return err
}

// presentPaths returns pathspecs for the files of memory in a status. It leaves out patterns
// without a file, because git refuses them.
func presentPaths(status string) []string {
	out := []string{"--"}
	for _, spec := range [...]struct{ pattern, part string }{{":(glob)*.md", ""}, {":(glob)memory/**/*.md", "memory/"}} {
		for line := range strings.SplitSeq(status, "\n") {
			path := strings.Trim(line[min(len(line), 3):], `"`)
			if strings.Contains(path, "memory/") == (spec.part != "") {
				out = append(out, spec.pattern)
				break
			}
		}
	}
	return out
}
