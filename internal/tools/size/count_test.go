package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const source = "// Package p is counted.\npackage p\n\n/* not\nthis */ var a, B = 1, `two\n\nlines`\n\n" +
	"type T[K any] struct {\n\tX int // a field\n}\n\nfunc (t *T[K]) M() {}\nfunc (t T[K]) m()  {}\n\nfunc F() { f() }\nfunc f() {}\n\ntype u int\n\nfunc (u) M() {}\n"

func TestCounts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": source, "a_other.go": "package p\n\nfunc F() {}\n", "a_test.go": "package p\n\nfunc G() {}\n",
		"sub/go.mod": "module sub\n", "sub/s.go": "package s\n", "testdata/t.go": "package t\n", "in/in.go": "package in\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// The raw string's empty line is code: it is part of a value.
	if n, err := codeLines(dir); n != 13+2 || err != nil {
		t.Errorf("%d lines of code, %v", n, err)
	}
	// B, T, F; T.M.
	if names, methods, err := exported(dir); names != 3 || methods != 1 || err != nil {
		t.Errorf("%d names, %d methods, %v", names, methods, err)
	}
	if dirs, err := packages(dir); !slices.Equal(dirs, []string{".", "in"}) || err != nil {
		t.Errorf("packages %v, %v", dirs, err)
	}
}
