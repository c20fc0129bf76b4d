package markdownstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/markdownstore/storetest"
)

func TestFolderKeepsTheContract(t *testing.T) {
	storetest.Contract(t, func(t *testing.T) *storetest.Place {
		dir := t.TempDir()
		p := &storetest.Place{}
		open := func() {
			files, err := markdownstore.OpenFolder(dir)
			if err != nil {
				t.Fatal(err)
			}
			p.Files = files
		}
		open()
		unhook := func() {}
		t.Cleanup(func() { unhook(); p.Files.Close() })
		p.Restart = func() {
			unhook()
			unhook = func() {}
			p.Files.Close()
			open()
		}
		p.Put = func(name, text string) {
			name = filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		p.Text = func(name string) (string, bool) {
			b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			return string(b), err == nil
		}
		p.Next = func(f storetest.Fault) {
			done := false
			unhook()
			unhook = atomicfile.SetHook(func(op, path string) error {
				switch {
				case strings.Contains(path, ".memkernel"):
				case op == "truncate" && f.Lose:
					return storetest.ErrKilled
				case (op == "write" || op == "remove") && !done:
					done = true
					if f.Meanwhile != nil {
						f.Meanwhile()
					}
					if f.Lose {
						return &atomicfile.PartialWrite{N: f.Torn, Err: storetest.ErrKilled}
					}
					return f.Refuse
				}
				return nil
			})
		}
		return p
	})
}
