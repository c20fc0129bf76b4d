package kernel

import (
	"path"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// appraisal gathers what is known of the worth of everything that stands, for the
// selector. It looks from the newest message back, so that what came after is known.
type appraisal struct {
	w      *work
	newest int // the newest atom
	traits [][]pagevm.Traits
	ids    map[pagevm.Name]int32
	uses   []pagevm.NameUse
	// worked are the tools and paths of newer results that were no errors.
	worked map[string]bool
	// edited is the path that was edited last, asked the names in the user's newest
	// words and in the step that the work is at.
	edited string
	asked  map[pagevm.Name]bool
}

// appraised is the appraisal of this plan; a cut may be chosen several times.
func (w *work) appraised() *appraisal {
	if w.worth == nil {
		w.worth = w.appraise()
	}
	return w.worth
}

// appraise looks at all messages. Of those that have left only what they said
// counts: a name that was said once is likelier to be said again.
func (w *work) appraise() *appraisal {
	a := &appraisal{w: w, traits: make([][]pagevm.Traits, len(w.hosts)), ids: map[pagevm.Name]int32{},
		worked: map[string]bool{}, asked: map[pagevm.Name]bool{}, newest: w.places[len(w.places)-1].Atom}
	_, words, _ := w.userTurn()
	for _, n := range pagevm.Names(words + "\n" + pagevm.PlanStep(w.state().text)) {
		a.asked[n] = true
	}
	for i := len(w.hosts) - 1; i >= 0; i-- {
		a.traits[i] = make([]pagevm.Traits, len(w.hosts[i].Segments))
		for j := range w.hosts[i].Segments {
			if s := &w.hosts[i].Segments[j]; s.Kind == pagevm.ItemResult {
				a.result(i, j)
			} else {
				a.dialogue(i, j)
			}
		}
	}
	return a
}

func (a *appraisal) age(i int) int { return a.newest - a.w.places[i].Atom }

// dialogue appraises words and tool inputs.
func (a *appraisal) dialogue(i, j int) {
	m, s, t := &a.w.msgs[i], &a.w.hosts[i].Segments[j], &a.traits[i][j]
	t.Act, t.Age = pagevm.ActUser, a.age(i)
	if m.Role == memkernel.RoleAssistant {
		t.Act = pagevm.ActSay
	}
	var text strings.Builder
	for _, p := range m.Parts[s.Part : s.Part+s.Parts] {
		switch {
		case p.Call != nil:
			text.WriteString(unescape.Replace(p.Call.Input))
			if pagevm.IsEdit(p.Call.Name, p.Call.Input) {
				t.Act = pagevm.ActEdit
			}
		case p.Kind == memkernel.PartText:
			text.WriteString(p.Text)
		}
		text.WriteByte('\n')
	}
	t.Names[pagevm.Full] = a.names(text.String(), t.Age)
	for _, id := range t.Names[pagevm.Full] {
		a.uses[id].Said++
	}
}

// unescape undoes what JSON does to the text in a call's input, as far as names are
// concerned.
var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\/`, "/")

// result appraises a tool result.
func (a *appraisal) result(i, j int) {
	s, t := &a.w.hosts[i].Segments[j], &a.traits[i][j]
	r := a.w.msgs[i].Parts[s.Part].Result
	page, call := a.w.page(s.Page), a.w.next.calls[r.CallID]
	t.Age = a.age(i)
	if page == nil || call == nil {
		return
	}
	t.Act = pagevm.ResultAct(call.Name, call.Input)
	what := page.Tool + "\x00" + page.Path
	t.Resolved = r.IsError && a.worked[what]
	a.worked[what] = a.worked[what] || !r.IsError
	if t.Act == pagevm.ActEdited && a.edited == "" && !r.IsError {
		a.edited = page.Path
	}
	t.InHand = page.Path != "" && (page.Path == a.edited || a.askedFor(page.Path))
	if a.w.seen[i].Gone {
		return
	}
	t.Names[pagevm.Full] = a.names(resultText(r), t.Age)
	for _, rep := range page.Reps {
		if rep.Level < pagevm.Full && s.At[rep.Level].Hash != "" {
			t.Names[rep.Level] = a.names(rep.Text, t.Age)
		}
	}
}

// askedFor tells whether a path is named, whole or by its last element. The last of
// a text's names is the longest.
func (a *appraisal) askedFor(p string) bool {
	for _, s := range []string{p, path.Base(p)} {
		if names := pagevm.Names(s); len(names) > 0 && a.asked[names[len(names)-1]] {
			return true
		}
	}
	return false
}

// names numbers the names of a text. Messages are looked at from the newest back, so
// that the first to show a name gives it its age.
func (a *appraisal) names(text string, age int) []int32 {
	names := pagevm.Names(text)
	out := make([]int32, len(names))
	for i, n := range names {
		id, known := a.ids[n]
		if !known {
			id = int32(len(a.uses))
			a.ids[n] = id
			a.uses = append(a.uses, pagevm.NameUse{Age: age})
		}
		out[i] = id
	}
	return out
}
