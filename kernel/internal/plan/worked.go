package plan

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// workedTokens limits the list of files and commands in the carry block, uncalibrated. The value
// was chosen on replays. Twice as much helps no further actions to find the names that they need.
const workedTokens = 300

// tried is a file or a command that the session has used.
type tried struct {
	name   string
	edited bool
	// times is how often the file or command was used. last is the newest atom that used it.
	times, last int
}

// rank returns how likely it is that the file or command is used again. It is higher if the file
// or command was used often, used lately or edited.
func (w *tried) rank(newest int) float64 {
	r := math.Cbrt(float64(w.times)) * 50 / float64(50+newest-w.last)
	if w.edited {
		r *= 2
	}
	return r
}

// maxCommand is the longest command that is listed, in bytes. A longer command is a script.
const maxCommand = 120

// workedText lists the files that the session has read and edited and the commands that it ran
// more than once, the likeliest to be needed again first. It leaves out the files and commands
// that a remaining message names. A path or a command takes few tokens to show and many to find
// again.
func (c *Call) workedText(gone func(i int) bool) string {
	files, commands := map[string]*tried{}, map[string]*tried{}
	stays := map[string]bool{}
	newest := 0
	for i := range c.Msgs {
		newest = c.Places[i].Atom
		for j := range c.Msgs[i].Parts {
			if c.Msgs[i].Parts[j].Call == nil {
				continue
			}
			call := c.shown(c.Msgs[i].Parts[j].Call)
			for _, p := range call.Paths {
				use(files, p, newest, call.Kind == toolcall.CallEdit)
				stays[p] = stays[p] || !gone(i)
			}
			if cmd := call.Command; cmd != "" && len(cmd) <= maxCommand && textutil.IsVisible(cmd) {
				use(commands, cmd, newest, false)
				stays[cmd] = stays[cmd] || !gone(i)
			}
		}
	}
	for name, used := range commands {
		if used.times < 2 {
			delete(commands, name)
		}
	}
	room := workedTokens
	var b strings.Builder
	list := func(title string, all map[string]*tried, room int) int {
		first := true
		for _, w := range ranked(all, stays, newest) {
			line := "\n- " + c.Maker.Mask.Text(w.name)
			if w.edited {
				line += " (edited)"
			}
			n := c.Maker.Count.Text(line)
			if n > room {
				break
			}
			if first {
				b.WriteString("\n" + title)
				first = false
			}
			b.WriteString(line)
			room -= n
		}
		return room
	}
	room = list("Commands run more than once:", commands, room/4) + room - room/4
	list("Files read or edited that nothing below names:", files, room)
	return b.String()
}

func use(all map[string]*tried, name string, atom int, edited bool) {
	w := all[name]
	if w == nil {
		w = &tried{name: name}
		all[name] = w
	}
	w.times++
	w.last, w.edited = atom, w.edited || edited
}

// ranked returns the files or commands that no remaining message names, best first.
func ranked(all map[string]*tried, stays map[string]bool, newest int) []*tried {
	var out []*tried
	for name, w := range all {
		if !stays[name] {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b *tried) int {
		return cmp.Or(cmp.Compare(b.rank(newest), a.rank(newest)), cmp.Compare(a.name, b.name))
	})
	return out
}
