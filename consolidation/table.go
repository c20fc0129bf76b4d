package consolidation

import (
	"strings"

	"github.com/memkernel/memkernel/internal/lazyregexp"
)

var (
	ruleOfTable = lazyregexp.New(`^[\s|:-]+$`)
	// plainColumn are heads of columns that say no more than that a value stands there,
	// plainRow labels of rows that name nothing.
	plainColumn = lazyregexp.New(`(?i)^(?:value|values|setting|wert|valor|valeur|valore|waarde|значение|值|取值|current|now|details?|info)$`)
	plainRow    = lazyregexp.New(`^[\d\s.#:/年月日-]*$`)
)

// tableClaims reads a table: each row claims of its first cell what the heads of the
// columns say. Tables of what goes on, such as tasks or runs, claim nothing: their rows
// are dates or numbers, or stand there twice.
func tableClaims(f *File, e *Entry) []claim {
	rows := strings.Split(uncommented(e.Text), "\n")
	if len(rows) < 3 || !ruleOfTable.MatchString(rows[1]) || !f.Evergreen() || e.Dated {
		return nil
	}
	heads := cells(rows[0])
	labels := map[string]int{}
	for _, r := range rows[2:] {
		if cs := cells(r); len(cs) > 0 {
			labels[keyOf(cs[0])]++
		}
	}
	var out []claim
	for i, r := range rows[2:] {
		cs := cells(r)
		if len(cs) == 0 || len(cs) > len(heads) || plainRow.MatchString(cs[0]) || labels[keyOf(cs[0])] > 1 || replaced.MatchString(r) {
			continue
		}
		for j := 1; j < len(cs); j++ {
			head := heads[j]
			if plainColumn.MatchString(head) {
				head = ""
			}
			c, ok := makeClaim(cs[0]+" "+head, cs[j], nil)
			if !ok || c.value.kind == kindName && !hasOne.MatchString(heads[j]) || strings.HasPrefix(c.value.text, "progress:") || head == "" && len(heads) > 2 {
				continue
			}
			c.file, c.entry, c.line, c.label = f, e, e.StartLine+2+i, true
			c.text = r
			out = append(out, c)
		}
	}
	return out
}

// cells are those of a row, without the pipes.
func cells(row string) []string {
	row = strings.Trim(strings.TrimSpace(row), "|")
	if row == "" {
		return nil
	}
	out := strings.Split(row, "|")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}
