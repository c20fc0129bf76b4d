package consolidation

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/ledger"
	"github.com/memkernel/memkernel/markdownstore"
)

// claim is a claim that an entry makes, with its place. The state of a task, open or done, is a
// claim, too.
type claim struct {
	ledger.Claim
	file  *file
	entry *Entry
	line  int
	// text is the line of the claim.
	text string
	// bare reports whether the claim has its subject from the heading above.
	bare bool
}

// unitTask is the unit of the state of a task.
const unitTask = "task"

// claims lists the claims of a file. Only entries that still hold claim anything, and of an entry
// that mentions a change only the claim on the new value.
func claims(f *file) []claim {
	if f.Shadowed || f.Err != nil || f.Kind == markdownstore.KindBuffer || f.Kind == markdownstore.KindRoutine || bygone(f.Path) {
		return nil
	}
	var out []claim
	for _, e := range f.Entries {
		switch {
		case e.State == stateSuperseded || len(e.Supersedes) > 0 || e.Kind == markdownstore.UnitQuote:
		case e.State != stateNone:
			if ws := words(e.Plain); len(ws) >= 3 { // the claim that a task is open or done
				c := ledger.Claim{Subject: ws, Value: ledger.Value{Kind: "state", Text: "progress:" + string(e.State), Unit: unitTask}, Said: string(e.State)}
				out = append(out, claim{Claim: c, file: f, entry: e, line: e.StartLine, text: e.Plain})
			}
		case slices.ContainsFunc(e.Trail, bygone):
		case e.Kind == markdownstore.UnitTable:
			out = append(out, tableClaims(f, e)...)
		default:
			out = append(out, entryClaims(f, e)...)
		}
	}
	return unfilled(out)
}

// unfilled leaves out the labels that a file has more than once with different values, as forms do:
// under different headings, or under one heading that the labels need.
func unfilled(cs []claim) []claim {
	first := map[string]*claim{}
	form := map[string]bool{}
	for i := range cs {
		if c := &cs[i]; c.Label {
			k := c.Key()
			if first[k] == nil {
				first[k] = c
			}
			form[k] = form[k] || first[k].Value.Disagrees(c.Value) && (c.bare || !slices.Equal(first[k].entry.Trail, c.entry.Trail)) && first[k].entry.Date == c.entry.Date
		}
	}
	return slices.DeleteFunc(cs, func(c claim) bool { return c.Label && form[c.Key()] })
}

// changed reports whether the entry of a claim mentions a change of which the claim may be the old
// value.
func (c *claim) changed() bool {
	return !c.Changes && ledger.Changed(c.entry.Plain+"\n"+strings.Join(c.entry.Trail, " "))
}

func bygone(heading string) bool {
	past, _ := ledger.Heading(heading)
	return past
}

// scope returns the environments that a claim is about. The claim's line, its headings and its file
// name them.
func (c *claim) scope() string {
	return ledger.Environments(append([]string{c.text, c.file.Path, strings.Join(c.Subject, " ")}, c.entry.Trail...)...)
}

// entryClaims reads an entry as one text, except that each item is a text of its own.
func entryClaims(f *file, e *Entry) []claim {
	_, opposed := ledger.Heading(strings.Join(e.Trail, " "))
	var out []claim
	body := strings.Split(uncommented(e.Text), "\n")
	for i := 0; i < len(body); {
		n := e.StartLine + i
		from := i
		for i++; i < len(body) && bullet.FindString(body[i]) == ""; i++ {
		}
		text, _ := content(strings.Join(body[from:i], "\n"))
		if strings.Contains(text, "![") || strings.Contains(text, "</") || strings.HasPrefix(text, "<") || strings.HasPrefix(text, "//") {
			continue // an image, HTML or code
		}
		for _, c := range ledger.Claims(text) {
			bare := c.Bare
			if c.Whole && (e.Dated || opposed) || !under(&c, e) {
				continue
			}
			out = append(out, claim{c, f, e, n, text, bare})
		}
	}
	return out
}

// under adds to a label that names nothing the heading that it belongs to. Labels at the top of
// USER.md belong to the user.
func under(c *ledger.Claim, e *Entry) bool {
	switch {
	case !c.Bare:
		return true
	case e.Path == "USER.md" && len(e.Trail) <= 1:
		return c.Under("user")
	}
	return len(e.Trail) > 0 && c.Under(e.Trail[len(e.Trail)-1])
}

var (
	ruleOfTable = textutil.LazyRegexp(`^[\s|:-]+$`)
	// plainRow matches labels of rows that name nothing.
	plainRow = textutil.LazyRegexp(`^[\d\s.#:/年月日-]*$`)
)

// plainColumns are heads of columns that only announce a value.
var plainColumns = strings.Fields("value values setting wert valor valeur valore waarde значение 值 取值 current now detail details info")

// tableClaims reads a table. The heads of the columns name the properties that each row claims of
// its first cell. Tables of ongoing work, such as tasks or runs, claim nothing. The rows of such
// tables are labelled with dates or numbers, or occur twice.
func tableClaims(f *file, e *Entry) []claim {
	rows := strings.Split(uncommented(e.Text), "\n")
	if len(rows) < 3 || !ruleOfTable.MatchString(rows[1]) || !f.Evergreen() || e.Dated {
		return nil
	}
	heads := cells(rows[0])
	labels := map[string]int{}
	for _, r := range rows[2:] {
		if cs := cells(r); len(cs) > 0 {
			labels[Key(cs[0])]++
		}
	}
	var out []claim
	for i, r := range rows[2:] {
		cs := cells(r)
		if len(cs) == 0 || len(cs) > len(heads) || plainRow.MatchString(cs[0]) || labels[Key(cs[0])] > 1 || ledger.Changed(r) {
			continue
		}
		for j := 1; j < len(cs); j++ {
			head := heads[j]
			if slices.Contains(plainColumns, strings.ToLower(head)) {
				head = ""
			}
			c, ok := ledger.Labelled(cs[0]+" "+head, cs[j])
			if !ok || c.Value.Kind == "name" && !c.One || c.Value.Kind == "word" || strings.HasPrefix(c.Value.Text, "progress:") || head == "" && len(heads) > 2 {
				continue
			}
			out = append(out, claim{Claim: c, file: f, entry: e, line: e.StartLine + 2 + i, text: r})
		}
	}
	return out
}

// cells returns the cells of a row, without the pipes.
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
