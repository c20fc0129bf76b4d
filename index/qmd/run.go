package qmd

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds the part of an answer that is read. maxReason bounds the reported part of an
// error text.
const (
	maxAnswer = 8 << 20
	maxReason = 200
)

// ask runs QMD once and returns what it printed.
func (ix *fronted) ask(ctx context.Context, text string, n int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, ix.opts.Timeout)
	defer cancel()
	c := ix.opts.Command
	args := append(slices.Clone(c[1:]), "--json", "-n", strconv.Itoa(n), "-c", ix.opts.Collection, "--", text)
	cmd := exec.CommandContext(ctx, c[0], args...)
	cmd.Dir = ix.opts.Dir
	cmd.WaitDelay = time.Second
	alone(cmd)
	out, complaint := &bounded{most: maxAnswer}, &bounded{most: 64 << 10}
	cmd.Stdout, cmd.Stderr = out, complaint
	err := cmd.Run()
	switch {
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("it took more than %v", ix.opts.Timeout)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%s failed: %w%s", c[0], err, reason(string(complaint.kept)))
	case out.over:
		return nil, fmt.Errorf("%s answered more than %d MB", c[0], maxAnswer>>20)
	}
	return out.kept, nil
}

// reason returns the first line of a program's error output.
func reason(complaint string) string {
	for line := range strings.Lines(complaint) {
		if line = strings.TrimSpace(line); line != "" {
			if len(line) > maxReason {
				line = strings.ToValidUTF8(line[:maxReason], "") + "…"
			}
			return ": " + line
		}
	}
	return ""
}

// bounded keeps the beginning of the bytes written to it.
type bounded struct {
	kept []byte
	most int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - len(b.kept)
	b.over = b.over || len(p) > room
	b.kept = append(b.kept, p[:min(len(p), room)]...)
	return len(p), nil
}
