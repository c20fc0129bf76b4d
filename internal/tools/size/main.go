// Command size prints what a checkout of the root module weighs: its command, stripped;
// how long a process of it takes that does nothing, beside a hello world's in the same
// run; its dependencies, its code, its settings, its exported names.
//
//	go run -C internal/tools ./size [FOLDER]
//
// FOLDER is the checkout, this one without it: an older one is measured by the same
// rules. What is built goes to a temporary folder; nothing is judged, and nothing is
// written to the checkout.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/mod/modfile"
)

// starts is how often each of the two programs is started.
const starts = 20

func main() {
	root := "../.."
	if len(os.Args) == 2 {
		root = os.Args[1]
	}
	if err := run(root); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	if len(os.Args) > 2 {
		return errors.New("name one folder, or none")
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range []func(root string, print func(name, format string, args ...any)) error{binary, dependencies, code, settings, names} {
		if err := f(root, func(name, format string, args ...any) {
			fmt.Fprintf(out, "%s\t%s\n", name, fmt.Sprintf(format, args...))
		}); err != nil {
			return err
		}
	}
	return out.Flush()
}

const hello = `package main

import "fmt"

func main() { fmt.Println("hello") }
`

func binary(root string, print func(name, format string, args ...any)) error {
	dir, err := os.MkdirTemp("", "size")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ours, theirs := filepath.Join(dir, "memkernel.exe"), filepath.Join(dir, "hello.exe")
	if err := os.WriteFile(filepath.Join(dir, "hello.go"), []byte(hello), 0o644); err != nil {
		return err
	}
	if _, err := goCommand(root, "build", "-trimpath", "-ldflags", "-s -w", "-o", ours, "./cmd/memkernel"); err != nil {
		return err
	}
	if _, err := goCommand(dir, "build", "-trimpath", "-ldflags", "-s -w", "-o", theirs, "hello.go"); err != nil {
		return err
	}
	info, err := os.Stat(ours)
	if err != nil {
		return err
	}
	// In turns, so that a machine that gets busy slows both.
	var a, b []time.Duration
	for range starts {
		for _, p := range []struct {
			to   *[]time.Duration
			args []string
		}{{&a, []string{ours, "version"}}, {&b, []string{theirs}}} {
			start := time.Now()
			if err := exec.Command(p.args[0], p.args[1:]...).Run(); err != nil {
				return fmt.Errorf("%s: %w", p.args, err)
			}
			*p.to = append(*p.to, time.Since(start))
		}
	}
	print("binary, stripped", "%.1f MB", float64(info.Size())/1e6)
	print("cold start", "%.1f times a hello world (%.1f ms, %.1f ms)", float64(median(a))/float64(median(b)), ms(median(a)), ms(median(b)))
	return nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func dependencies(root string, print func(name, format string, args ...any)) error {
	raw, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	m, err := modfile.Parse("go.mod", raw, nil)
	if err != nil {
		return err
	}
	linked := map[string]map[string]bool{}
	for _, p := range []string{"./cmd/memkernel", "./kernel"} {
		out, err := goCommand(root, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", p)
		if err != nil {
			return err
		}
		linked[p] = map[string]bool{}
		for _, path := range strings.Fields(out) {
			linked[p][path] = true
		}
	}
	direct, command, kernel := 0, 0, 0
	for _, r := range m.Require {
		if r.Indirect {
			continue
		}
		direct++
		if linked["./cmd/memkernel"][r.Mod.Path] {
			command++
		}
		if linked["./kernel"][r.Mod.Path] {
			kernel++
		}
	}
	print("direct dependencies", "%d: %d in the command, %d in kernel, the others in tests or with cgo", direct, command, kernel)
	return nil
}

func code(root string, print func(name, format string, args ...any)) error {
	dirs, err := packages(root)
	if err != nil {
		return err
	}
	lines, all := map[string]int{}, 0
	for _, dir := range dirs {
		n, err := codeLines(filepath.Join(root, dir))
		if err != nil {
			return err
		}
		lines[dir] = n
		all += n
	}
	part := map[string]int{}
	for _, p := range []string{"./cmd/memkernel", "./kernel"} {
		out, err := goCommand(root, "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}", p)
		if err != nil {
			return err
		}
		abs, err := filepath.Abs(root)
		if err != nil {
			return err
		}
		for _, dir := range strings.Fields(out) {
			rel, err := filepath.Rel(abs, dir)
			if err != nil {
				return err
			}
			part[p] += lines[filepath.ToSlash(rel)]
		}
	}
	print("code lines", "%d in %d packages: %d in the command, %d in kernel", all, len(dirs), part["./cmd/memkernel"], part["./kernel"])
	return nil
}

// settings counts the rows of doc/config.md, which is made from the configuration.
func settings(root string, print func(name, format string, args ...any)) error {
	b, err := os.ReadFile(filepath.Join(root, "doc", "config.md"))
	if err != nil {
		return err
	}
	print("configuration keys", "%d", strings.Count(string(b), "\n| `"))
	return nil
}

func names(root string, print func(name, format string, args ...any)) error {
	for _, p := range []string{"kernel", "pagevm"} {
		top, methods, err := exported(filepath.Join(root, p))
		if err != nil {
			return err
		}
		print("exported by "+p, "%d names, %d methods", top, methods)
	}
	return nil
}

// goCommand runs the go command in a folder and returns what it prints.
func goCommand(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	return string(out), nil
}
