package scriptedhost

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Script is all that a host will do, in order.
type Script []Step

// begun is when every script begins, by its own clock: half an hour before a day
// ends.
var begun = time.Date(2026, 11, 3, 23, 30, 0, 0, time.UTC)

// writer makes a script.
type writer struct {
	Setup
	rng  *rand.Rand
	now  time.Time
	out  Script
	add  []memkernel.Message
	turn int
	// n numbers messages, fact what was made up, pin and goal the host's pages.
	n, fact, pin, goal, step int
	// asked is the open question, "" if none does.
	asked string
}

// NewScript writes a script. Equal setups give equal scripts.
func NewScript(s Setup) Script {
	s.setDefaults()
	w := &writer{Setup: s, rng: rand.New(rand.NewPCG(s.Seed, 1)), now: begun}
	w.newGoal()
	for w.turn = 1; w.turn <= s.Turns; w.turn++ {
		w.oneTurn()
		if w.turn%5 == 0 {
			w.beside()
		}
		w.event()
	}
	return w.out
}

// call ends a step.
func (w *writer) call(k Kind, st Step) {
	st.Kind, st.Turn, st.Add, st.Now = k, w.turn, w.add, w.now
	if st.Key == "" {
		st.Key = fmt.Sprintf("%s-%d", k, len(w.out))
	}
	w.add = nil
	w.out = append(w.out, st)
}

func (w *writer) say(m memkernel.Message) {
	w.n++
	w.now = w.now.Add(time.Duration(5+w.rng.IntN(40)) * time.Second)
	m.Key, m.Time = fmt.Sprintf("m%06d", w.n), w.now
	if m.Role == memkernel.RoleAssistant {
		m.Model = model
	}
	w.add = append(w.add, m)
}

func (w *writer) words(r memkernel.Role, text string) {
	w.say(memkernel.Message{Role: r, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: text, Typed: r == memkernel.RoleUser}}})
}

// name returns a made-up thing that nothing else of the session is called.
func (w *writer) name() string {
	w.fact++
	nouns := [...]string{"amber", "birch", "cobalt", "delta", "ember", "fjord", "garnet", "heron"}
	return fmt.Sprintf("%s-%05d", nouns[w.rng.IntN(len(nouns))], w.fact)
}

// oneTurn is a user's words, some work, and the agent's last word. Every sixth
// question is left without an answer.
func (w *writer) oneTurn() {
	w.call(Plan, Step{Gain: w.opening()})
	for range w.rng.IntN(3) {
		w.work(w.Work[w.rng.IntN(len(w.Work))])
		w.call(Result, Step{})
		w.call(Plan, Step{})
	}
	g := Gain{Memory: w.memoryOf()}
	if w.rng.IntN(4) == 0 {
		g.Items = w.todo()
	}
	if w.rng.IntN(2) == 0 {
		w.asked = fmt.Sprintf("Shall I move %s into a table of its own?", w.name())
		w.words(memkernel.RoleAssistant, "The read path is clear now.\n\n"+w.asked)
		g.Question = w.asked
	} else {
		w.words(memkernel.RoleAssistant, fmt.Sprintf("Done: %s reads what it wrote, and its test passes.", w.name()))
	}
	w.call(Turn, Step{Gain: g})
}

// opening returns the user's first message; it answers what was asked, if anything was.
func (w *writer) opening() Gain {
	g := Gain{Answered: true}
	switch asked := w.asked; {
	case asked != "" && w.rng.IntN(6) > 0:
		reply := fmt.Sprintf("Yes, and call it %s.", w.name())
		w.words(memkernel.RoleUser, reply)
		g.Decision = asked + " → " + reply
	case w.rng.IntN(5) == 0:
		g.Told = fmt.Sprintf("Never write to %s from a handler.", w.name())
		w.words(memkernel.RoleUser, "Please go on with the worker, there is a race in its shutdown that we have seen twice now. "+g.Told)
	case asked == "" && w.rng.IntN(3) == 0:
		w.words(memkernel.RoleUser, w.askToRemember()) // behind a question it would be the answer
	default:
		w.request()
	}
	w.asked = ""
	return g
}

// request is longer than any answer to a question.
func (w *writer) request() {
	w.words(memkernel.RoleUser, fmt.Sprintf("Please look at why %s retries for so long when its queue is empty, and mend it with a test that fails before and holds after, on both drivers.", w.name()))
}

// asks are the words by which a memory is asked for.
var asks = [...]string{"Remember this: %s listens on 8443.", "Bitte merk dir, dass %s freitags fehlt.", "Recuerda que %s usa el puerto 8080.",
	"记住，%s 要等 Kim 批准。", "Go on. Don't forget that %s closes at six.", "Souviens-toi que %s tourne en local.", "Запомни: %s живёт на стенде."}

func (w *writer) askToRemember() string {
	return fmt.Sprintf(asks[w.rng.IntN(len(asks))], w.name())
}

// memoryOf returns what the user of this turn asked to be remembered, "" if nothing.
func (w *writer) memoryOf() string {
	for i := len(w.out) - 1; i >= 0 && w.out[i].Turn == w.turn; i-- {
		for _, m := range w.out[i].Add {
			if text := m.Parts[0].Text; m.Role == memkernel.RoleUser && slices.ContainsFunc(asks[:], func(a string) bool {
				head, _, _ := strings.Cut(a, "%s")
				return strings.HasPrefix(text, head)
			}) {
				return strings.TrimPrefix(text, "Go on. ") // the order is not remembered
			}
		}
	}
	return ""
}

func (w *writer) work(work Work) {
	call, results := work.again(fmt.Sprintf("c%06d", w.n))
	w.say(call)
	for _, r := range results {
		w.say(r)
	}
}

// todo has the agent write its plan, and returns its open items.
func (w *writer) todo() []string {
	done, now, next := w.name(), w.name(), w.name()
	input, _ := json.Marshal(map[string]any{"todos": []map[string]string{
		{"content": "Read " + done, "status": "completed"},
		{"content": "Mend " + now, "status": "in_progress"},
		{"content": "Test " + next, "status": "pending"}}})
	id := fmt.Sprintf("t%06d", w.n)
	w.say(memkernel.Message{Role: memkernel.RoleAssistant, Parts: []memkernel.Part{{Kind: memkernel.PartToolUse,
		Call: &memkernel.ToolCall{ID: id, Name: "TodoWrite", Input: string(input)}}}})
	w.say(answer(id, "Todos have been modified successfully."))
	return []string{"Mend " + now, "Test " + next}
}

func answer(id, text string) memkernel.Message {
	return memkernel.Message{Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartToolResult,
		Result: &memkernel.ToolResult{CallID: id, Text: true, Content: []memkernel.Part{{Kind: memkernel.PartText, Text: text}}}}}}
}

// beside is what a host does beside the turns.
func (w *writer) beside() {
	switch n := w.turn / 5; {
	case n%8 == 1 && w.pin < 8:
		w.pin++
		text := fmt.Sprintf("Pinned rule %02d: never deploy %s by hand.", w.pin, w.name())
		w.call(Write, Step{Updates: []journal.Update{w.update(fmt.Sprintf("rule-%02d", w.pin), pagevm.Constraint, "text", text, 0)}, Gain: Gain{Pinned: text}})
	case n%8 == 5:
		w.newGoal()
	case n%4 == 3:
		text := fmt.Sprintf("The backup of %s takes an hour.", w.name())
		w.call(Remember, Step{Text: text, Gain: Gain{Memory: text}})
	case n%8 == 6:
		text := fmt.Sprintf("The owner of %s is Kim.", w.name())
		w.call(Answer, Step{Text: "- " + text + "\n", Gain: Gain{Memory: text}})
	case n%8 == 0:
		w.call(Flush, Step{})
	default:
		w.newStep()
	}
}

func (w *writer) newGoal() {
	w.goal++
	g := Gain{Goal: fmt.Sprintf("Goal %02d: bring %s to production.", w.goal, w.name())}
	w.call(Write, Step{Updates: []journal.Update{w.update("work", pagevm.Plan, "goal", g.Goal, w.goal-1)}, Gain: g})
	w.newStep()
}

func (w *writer) newStep() {
	w.step++
	g := Gain{Step: fmt.Sprintf("Step %03d: measure %s first.", w.step, w.name())}
	w.call(Write, Step{Updates: []journal.Update{w.update("work", pagevm.Plan, "step", g.Step, w.step-1)}, Gain: g})
}

// update sets a field that was set so often before.
func (w *writer) update(key string, typ pagevm.Type, field, text string, version int) journal.Update {
	raw, _ := json.Marshal(text)
	return journal.Update{Key: key, Type: typ, Field: field, Op: journal.OpSetWithVersion, Value: raw, Version: version,
		Scope: memkernel.ScopeSession, EvidenceRef: "session:" + session}
}
