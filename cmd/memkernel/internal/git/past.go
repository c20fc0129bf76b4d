package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel/maintenance"
)

// Bounds of what git is asked for: revisions of a file, bytes of these in all, and how long
// it may take for all files.
const (
	mostRevisions     = 200
	mostRevisionBytes = 32 << 20
	patience          = 20 * time.Second
)

// past are the revisions that git has of a workspace's files. It is only read: no hook, no
// pager, no program that the repository names is run, and nothing is fetched.
type past struct {
	dir string
	end time.Time
}

// Past are the revisions of a workspace's files, for one look at them.
func Past(workspace string) maintenance.Versions { return &past{dir: workspace} }

// read runs git so that nothing is written.
func (g *past) read(ctx context.Context, stdin string, args ...string) (string, error) {
	if g.end.IsZero() {
		g.end = time.Now().Add(patience)
	}
	ctx, cancel := context.WithDeadline(ctx, g.end)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager", "--literal-pathspecs", "--no-optional-locks", "-C", g.dir, "-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "core.quotePath=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.Stdin = strings.NewReader(stdin)
	cmd.WaitDelay = time.Second
	out, err := outputOf(cmd, args[0])
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "", errors.New("git took too long")
	}
	return out, err
}

// Of is [maintenance.Versions].
func (g *past) Of(ctx context.Context, path string) ([]maintenance.Revision, error) {
	log, err := g.read(ctx, "", "log", "--follow", "--max-count="+strconv.Itoa(mostRevisions), "--format=%x01%H%x00%ct%x00%an%x00%s", "--name-status", "--no-relative", "--no-ext-diff", "--no-textconv", "--", path)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, nil
	case err != nil && (strings.Contains(err.Error(), "not a git repository") || strings.Contains(err.Error(), "does not have any commits")):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var out []maintenance.Revision
	var ask strings.Builder
	var asked []int
	for entry := range strings.SplitSeq(log, "\x01") {
		head, names, _ := strings.Cut(entry, "\n")
		f := strings.SplitN(head, "\x00", 4)
		if len(f) < 4 {
			continue
		}
		at, _ := strconv.ParseInt(f[1], 10, 64)
		v := maintenance.Revision{ID: f[0], Time: time.Unix(at, 0).UTC(), Author: f[2], Subject: f[3]}
		cols := strings.Split(strings.TrimSpace(names), "\t")
		if len(cols) < 2 {
			continue // a merge, which changed nothing by itself
		}
		if v.Absent = cols[0] == "D"; !v.Absent {
			asked = append(asked, len(out))
			ask.WriteString(v.ID + ":" + cols[len(cols)-1] + "\n")
		}
		out = append(out, v)
	}
	if len(asked) == 0 {
		return out, nil
	}
	sizes, err := g.read(ctx, ask.String(), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return nil, err
	}
	total := 0
	for i, s := range strings.Split(strings.TrimSpace(sizes), "\n") {
		n, _ := strconv.Atoi(s)
		if total += n; total > mostRevisionBytes || i >= len(asked) {
			asked = asked[:min(i, len(asked))]
			break
		}
	}
	kept := strings.Join(strings.SplitAfter(ask.String(), "\n")[:len(asked)], "")
	if len(asked) == 0 {
		return nil, errors.New("git has revisions that are too large to be read")
	}
	texts, err := g.read(ctx, kept, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	last := asked[len(asked)-1]
	for _, i := range asked {
		head, rest, _ := strings.Cut(texts, "\n")
		f := strings.Fields(head)
		if len(f) != 3 || f[1] != "blob" {
			texts = rest // it is not there: a clone that is not whole
			out[i].ID = ""
			continue
		}
		n, err := strconv.Atoi(f[2])
		if err != nil || n > len(rest) {
			return nil, errors.New("git cat-file ended early")
		}
		out[i].Text, texts = rest[:n], strings.TrimPrefix(rest[n:], "\n")
	}
	out = out[:last+1]
	whole := out[:0]
	for _, v := range out {
		if v.ID != "" {
			whole = append(whole, v)
		}
	}
	return whole, nil
}

// Together is [maintenance.Versions].
func (g *past) Together(ctx context.Context, id string) ([]string, error) {
	names, err := g.read(ctx, "", "diff-tree", "--root", "--no-commit-id", "--name-only", "-r", "--relative", id)
	if err != nil {
		return nil, err
	}
	var out []string
	for name := range strings.SplitSeq(names, "\n") {
		if strings.HasSuffix(name, ".md") {
			out = append(out, name)
		}
	}
	return out, nil
}
