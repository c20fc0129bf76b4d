package plan

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// work holds the files and commands that the calls of a conversation used.
type work struct {
	files, commands map[string]*tried
	newest          int
}

// tried is a file or a command that the session has used.
type tried struct {
	name string
	// at are the messages that used the file or command. last is the atom of the newest of them.
	at   []int
	last int
	// edits are the inputs of the calls that edited a file.
	edits []string
}

// rank returns how likely it is that the file or command is used again. It is higher if the file
// or command was used often, used lately or edited.
func (w *tried) rank(newest int) float64 {
	r := math.Cbrt(float64(len(w.at))) * 50 / float64(50+newest-w.last)
	if w.edits != nil {
		r *= 2
	}
	return r
}

// maxCommand is the longest command that is listed, in bytes. A longer command is a script.
const maxCommand = 120

// used returns the files that the session has read and edited, without those that it removed, and
// the commands that it ran.
func (c *call) used() work {
	w := work{files: map[string]*tried{}, commands: map[string]*tried{}}
	for i := range c.Msgs {
		w.newest = c.Places[i].Atom
		for j := range c.Msgs[i].Parts {
			if c.Msgs[i].Parts[j].Call == nil {
				continue
			}
			call := c.shown(c.Msgs[i].Parts[j].Call)
			for _, p := range call.Paths {
				if call.Kind == toolcall.CallOther || strings.ContainsAny(p, "*?$") {
					continue
				}
				f := use(w.files, p, i, w.newest)
				if call.Kind == toolcall.CallEdit {
					f.edits = append(f.edits, call.Input)
				}
			}
			remove(w.files, removedBy(call.Command, call.Input))
			if cmd := call.Command; cmd != "" && len(cmd) <= maxCommand && textutil.IsVisible(cmd) {
				use(w.commands, cmd, i, w.newest)
			}
		}
	}
	return w
}

func use(all map[string]*tried, name string, at, atom int) *tried {
	w := all[name]
	if w == nil {
		w = &tried{name: name}
		all[name] = w
	}
	w.at, w.last = append(w.at, at), atom
	return w
}

// Names are read from the readEdits newest edits of a file. Edits of more than maxEdit bytes are
// skipped.
const readEdits, maxEdit = 6, 32 << 10

// The lengths of the names that are listed, in bytes.
const minName, maxName = 6, 48

// names counts the names in the newest edits of a file. It ignores the names of the calls' own
// fields. A whole edit is masked before it is cut into words.
func (c *call) names(w *tried) map[string]int {
	out := map[string]int{}
	for _, input := range w.edits[max(0, len(w.edits)-readEdits):] {
		if len(input) > maxEdit {
			continue
		}
		text := c.Maker.Mask.Text(input)
		if args := toolcall.ArgsOf(text); args != nil {
			text = strings.Join(args.Texts(), "\n")
		}
		for _, name := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
			if len(name) >= minName && len(name) <= maxName && named(name) {
				out[name]++
			}
		}
	}
	return out
}

// named reports whether a word is a name of code: it has a capital or an underscore inside.
func named(word string) bool {
	small := false
	for i, r := range word {
		if small && unicode.IsUpper(r) || r == '_' && i > 0 && i < len(word)-1 {
			return true
		}
		small = unicode.IsLower(r)
	}
	return false
}

// workedText lists the files that the session has read and edited, and the commands that it ran
// more than once, the likeliest to be needed again first. It leaves out the files and commands that
// a remaining message names. A path or a command costs few tokens to show, and many to find again.
// The text takes at most room tokens.
func (c *call) workedText(left absent, room int) string {
	w := c.worked()
	commands := room / 7
	var b strings.Builder
	for _, cmd := range w.ranked(w.commands, left) {
		if len(cmd.at) < 2 {
			continue
		}
		line := "  - " + c.Maker.Mask.Text(cmd.name) + "\n"
		n := c.Maker.Count.Text(line)
		if n > commands {
			break
		}
		commands, room = commands-n, room-n
		if b.Len() == 0 {
			b.WriteString("commands run more than once:\n")
		}
		b.WriteString(line)
	}
	return b.String() + c.byFolder(w.ranked(w.files, left), room)
}

// listedNames is the number of names that are listed for an edited file.
const listedNames = 16

// byFolder lists files in at most room tokens, a line for each folder. An edited file has a star,
// and the names that its edits hold most often.
func (c *call) byFolder(files []*tried, room int) string {
	var folders []string
	in, told := map[string]string{}, map[string]bool{}
	for _, w := range files {
		dir, name := path.Split(c.Maker.Mask.Text(w.name))
		if w.edits != nil {
			name += "*" + mostNamed(c.names(w), told)
		}
		cost := c.Maker.Count.Text(", " + name)
		if in[dir] == "" {
			cost += c.Maker.Count.Text("  - " + dir + ": ")
		}
		if cost > room {
			break
		}
		room -= cost
		if in[dir] == "" {
			folders, in[dir] = append(folders, dir), name
			continue
		}
		in[dir] += ", " + name
	}
	if folders == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("files (* edited, with names in the edits):\n")
	for _, dir := range folders {
		b.WriteString("  - " + strings.TrimSpace(dir+" "+in[dir]) + "\n")
	}
	return b.String()
}

// mostNamed returns the most frequent names that are not listed yet.
func mostNamed(count map[string]int, told map[string]bool) string {
	var names []string
	for name := range count {
		if !told[name] {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	})
	names = names[:min(len(names), listedNames)]
	for _, name := range names {
		told[name] = true
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, " ") + ")"
}

// removedBy returns the files and folders that a command or a patch removes or moves away.
func removedBy(command, patch string) (out []string) {
	const deleted = "*** Delete File: "
	for _, rest, found := strings.Cut(patch, deleted); found; _, rest, found = strings.Cut(rest, deleted) {
		p, _, _ := strings.Cut(strings.ReplaceAll(rest, `\n`, "\n"), "\n")
		out = append(out, strings.TrimSpace(p))
	}
	if !strings.Contains(command, "rm") && !strings.Contains(command, "mv") && !strings.Contains(command, "unlink") {
		return out
	}
	dir := ""
	for _, simple := range strings.FieldsFunc(strings.ReplaceAll(command, "&&", ";"), func(r rune) bool { return r == ';' || r == '\n' || r == '|' }) {
		f := strings.Fields(simple)
		if len(f) > 0 && f[0] == "git" {
			f = f[1:]
		}
		if len(f) < 2 {
			continue
		}
		last := len(f)
		switch f[0] {
		case "cd":
			dir = f[1]
			continue
		case "mv":
			last--
		case "rm", "unlink":
		default:
			continue
		}
		for _, p := range f[1:last] {
			if p = strings.Trim(p, `"'`); !strings.HasPrefix(p, "-") && p != "." && !strings.HasSuffix(p, "*") {
				if !path.IsAbs(p) {
					p = path.Join(dir, p)
				}
				out = append(out, path.Clean(p))
			}
		}
	}
	return out
}

// remove drops removed files, and the files of removed folders. A relative path names the only
// file that ends with it.
func remove(files map[string]*tried, gone []string) {
	for _, p := range gone {
		ends := ""
		n := 0
		for name := range files {
			if name == p || strings.HasPrefix(name, p+"/") {
				delete(files, name)
			} else if strings.HasSuffix(name, "/"+p) {
				ends, n = name, n+1
			}
		}
		if n == 1 {
			delete(files, ends)
		}
	}
}

// ranked returns the files or commands that no remaining message names, best first.
func (w *work) ranked(all map[string]*tried, left absent) []*tried {
	var out []*tried
	for _, t := range all {
		if !slices.ContainsFunc(t.at, func(i int) bool { return !left[i] }) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *tried) int {
		return cmp.Or(cmp.Compare(b.rank(w.newest), a.rank(w.newest)), cmp.Compare(a.name, b.name))
	})
	return out
}
