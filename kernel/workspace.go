package kernel

import (
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/pagevm"
)

// source reads a file of the workspace; ok is false if there is none.
func (m *memory) source(private bool, path string) (src plan.File, ok bool, err error) {
	f, ok, err := m.File(private, path)
	return plan.File{Path: f.Path, Type: pagevm.Type(f.Type), Text: f.Text, Hash: f.Hash, Lines: f.Lines}, ok, err
}
