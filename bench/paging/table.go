package paging

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Kind is the reason why a cell has its value.
type Kind string

// The kinds of cells.
const (
	// Structural cells follow from the rules of our workloads, which were chosen to give the
	// paper's figures. The sizes of pages and the order of upgrades do not change them.
	Structural Kind = "structural"
	// Shaped cells have the paper's figures because the sizes of pages were chosen to give them.
	Shaped Kind = "shaped"
	// Ours marks figures that were measured on workloads of our own.
	Ours Kind = "ours"
)

// Cell is our figure and the paper's.
type Cell struct {
	Ours float64 `json:"ours"`
	// Paper is nil if the paper has no figure.
	Paper *float64 `json:"paper"`
	Kind  Kind     `json:"kind"`
}

// Row is a line of a table.
type Row struct {
	Label string `json:"label"`
	Cells []Cell `json:"cells"`
}

// Table is one of the paper's tables with our figures.
type Table struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
	// Note is a remark that readers of the table need, "" for none.
	Note string `json:"note"`
	// digits is the number of decimals, by column.
	digits []int
}

// cell returns a cell with our figure and the paper's.
func cell(kind Kind, ours, paper float64) Cell { return Cell{Ours: ours, Paper: &paper, Kind: kind} }

// alone returns a cell with a figure that the paper does not have.
func alone(ours float64) Cell { return Cell{Ours: ours, Kind: Ours} }

func (t *Table) row(label string, cells ...Cell) {
	t.Rows = append(t.Rows, Row{Label: label, Cells: cells})
}

// columnWidth leaves room for labels of up to 18 columns next to four columns of figures.
const columnWidth = 15

// Text formats the table for a terminal of 80 columns. Each of our figures is followed by the
// paper's figure in brackets. An equals sign marks a structural cell, and a tilde marks a shaped
// cell.
func (t *Table) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", t.Name, t.Title)
	width := 0
	for _, r := range t.Rows {
		width = max(width, utf8.RuneCountInString(r.Label))
	}
	b.WriteString(strings.Repeat(" ", width+2))
	for _, c := range t.Columns {
		b.WriteString(pad(c, columnWidth))
	}
	b.WriteString("\n")
	for _, r := range t.Rows {
		line := "  " + left(r.Label, width)
		for i, c := range r.Cells {
			line += pad(t.figure(i, c), columnWidth)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if t.Note != "" {
		b.WriteString("  " + strings.ReplaceAll(t.Note, "\n", "\n  ") + "\n")
	}
	return b.String()
}

func (t *Table) figure(column int, c Cell) string {
	d := 0
	if column < len(t.digits) {
		d = t.digits[column]
	}
	mark := map[Kind]string{Structural: "=", Shaped: "~", Ours: " "}[c.Kind]
	if c.Paper == nil {
		return fmt.Sprintf("%.*f%s", d, c.Ours, strings.Repeat(" ", 8))
	}
	return fmt.Sprintf("%.*f %s%s", d, c.Ours, mark, left(fmt.Sprintf("(%.*f)", d, *c.Paper), 7))
}

func pad(s string, n int) string {
	return strings.Repeat(" ", max(n-utf8.RuneCountInString(s), 0)) + s
}

func left(s string, n int) string {
	return s + strings.Repeat(" ", max(n-utf8.RuneCountInString(s), 0))
}
