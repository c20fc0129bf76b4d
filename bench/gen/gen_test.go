package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestTablesAreCurrent makes all tables anew and compares them with those that
// are embedded.
func TestTablesAreCurrent(t *testing.T) {
	dir := t.TempDir()
	if err := run(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"o200k.bin", "cl100k.bin", "classes.bin"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", "..", "budget", "tables", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate ./budget", name)
		}
	}
}
