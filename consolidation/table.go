package consolidation

import (
	"slices"
	"strings"
)

// tableClaims reads what the rows of a table claim: the value of a cell, of what the
// other cells of its row and the heads of all columns say. Tables of the same columns can
// disagree, in a cell of rows that are the same but for it; the first column names
// what the row is about. Counts and measures go on changing, and claim nothing.
func tableClaims(f *File, e *Entry) []claim {
	var out []claim
	var head []string
	rows := map[string]int{} // how many rows there are of each subject
	n := e.StartLine - 1
	for l := range lines(uncommented(e.Text)) {
		n++
		cells := cellsOf(l)
		switch {
		case len(cells) < 2:
			return nil
		case head == nil:
			head = cells
			continue
		case strings.Trim(l, "|:- \t") == "":
			continue
		case len(cells) != len(head):
			continue
		}
		for i := 1; i < len(cells); i++ {
			v, ok := cellValue(head[i], cells[i])
			others := slices.Delete(slices.Clone(cells), i, i+1)
			if !ok || Key(others[0]) == "" || replaced.MatchString(l) {
				continue
			}
			subject := Key(strings.Join(others, " ")) + " (" + Key(strings.Join(head, " ")) + ")"
			rows[subject+"\x00"+head[i]]++
			out = append(out, claim{subject: subject, frame: true, value: v, said: cells[i], file: f, entry: e, line: n})
			out[len(out)-1].column = head[i]
		}
	}
	return slices.DeleteFunc(out, func(c claim) bool { return rows[c.subject+"\x00"+c.column] > 1 })
}

// cellsOf cuts a row into its cells.
func cellsOf(l string) []string {
	l = strings.TrimSpace(l)
	if !strings.Contains(l, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(l, "|"), "|")
	for i := range cells {
		cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "*_`")
	}
	return cells
}

// cellValue reads a cell under the head of its column.
func cellValue(head, cell string) (value, bool) {
	v, ok := valueOf(cell)
	switch {
	case ok && v.kind == kindName && hasOne.MatchString(head):
		return v, true
	case !ok || v.kind == kindName || v.kind == kindDate || v.kind == kindState && v.unit == "progress":
		return value{}, false
	case v.kind == kindNumber:
		found := valuesIn(head + " " + cell)
		return v, len(found) == 1 && (found[0].kind == kindNumber || found[0].kind == kindVersion)
	}
	return v, true
}
