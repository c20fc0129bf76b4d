package cachelayout

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRecordRestores(t *testing.T) {
	m, id := mustModel(t, "claude-opus-5-5"), Identity{Model: "claude-opus-5-5", Thinking: "adaptive"}
	blocks := grow(fixedPart(), 4, 1000)
	_, l := send(Ledger{}, m, id, blocks, noon)
	if l.Version != ledgerVersion {
		t.Errorf("version %d", l.Version)
	}
	raw, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	var r Ledger
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	back, ok := r.Restore(grow(blocks, 2, 500))
	if !ok {
		t.Fatal("not restored")
	}
	if diff := cmp.Diff(l, back); diff != "" {
		t.Error(diff)
	}
	edited := append([]Block(nil), blocks...)
	edited[2].Hash = "other"
	newer := r
	newer.Version++
	for name, f := range map[string]func() bool{
		"edited":       func() bool { _, ok := r.Restore(edited); return ok },
		"shorter":      func() bool { _, ok := r.Restore(blocks[:3]); return ok },
		"newer format": func() bool { _, ok := newer.Restore(blocks); return ok },
		"empty":        func() bool { _, ok := Ledger{}.Restore(blocks); return ok },
	} {
		if f() {
			t.Errorf("%s: restored", name)
		}
	}
}
