package transcript

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestTable: every dialect has a sample that is detected as its own and holds what a
// dialect has to tell apart, and what it can do beyond files is tried, too.
func TestTable(t *testing.T) {
	for i := range table {
		row := &table[i]
		d := row.Name
		if rowOf(d) != row {
			t.Errorf("%s stands twice", d)
		}
		if row.Assemble != nil && (row.Lines == nil) != row.Document() {
			t.Errorf("%s has both Lines and Signs, or neither", d)
		}
		if _, tried := intakes[d]; tried != (row.Items != nil) {
			t.Errorf("%s: Items are tried by intakes: %v, and are there: %v", d, tried, !tried)
		}
		if row.Assemble == nil {
			continue
		}
		files, err := filepath.Glob("testdata/" + string(d) + "*.json*")
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no sample testdata/%s.jsonl, or .json: %v", d, d, err)
		}
		typed, asked, answered, billed := false, false, false, false
		for _, path := range files {
			s, err := LoadFile(path, nil)
			if err != nil || s.Dialect != d {
				t.Fatalf("%s is read as %v, want %s: %v", path, s, d, err)
			}
			typed = typed || slices.ContainsFunc(s.Messages, MarkedTyped)
			asked = asked || slices.ContainsFunc(s.Messages, HasCalls)
			answered = answered || slices.ContainsFunc(s.Messages, HasResults)
			for _, m := range s.Messages {
				billed = billed || m.Usage != nil
			}
		}
		if !typed || !asked || !answered || !billed && !row.Document() {
			t.Errorf("%s: its samples have a typed prompt %v, a call %v, a result %v, usage %v", d, typed, asked, answered, billed)
		}
	}
}
